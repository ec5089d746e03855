"""Open what a command searches (a local index, several as one, a server's), and print the answers in a format."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence, Set
from pathlib import Path
from typing import TYPE_CHECKING, TypeGuard, cast

from semsearch.cli.answer_formats import BATCH_FORMATS, FORMATS, Answer
from semsearch.cli.command_options import Format, Show, chosen_reranker, refuse_for_server
from semsearch.cli.find_index import all_asked, find_asked, shown
from semsearch.cli.messages import complain, warn
from semsearch.errors import IndexLocked, UsageError

if TYPE_CHECKING:
    from typing import TypeAlias

    from semsearch.index import Index
    from semsearch.multi_index import MultiIndex
    from semsearch.remote_index import RemoteIndex

    Asked: TypeAlias = Index | RemoteIndex | MultiIndex

# -- Indexes to search -------------------------------------------------------------------------------------------------


def open_asked(
    named: Sequence[str] | None,
    indexes: Path | None,
    *,
    server: str | None = None,
    vectors: str | None = None,
    rerank: str | None = None,
    rerank_seconds: float | None = None,
) -> Asked:
    """Open the named index, or the only one; several are searched as one. `rerank` names a reranking model."""
    if server:
        refuse_for_server(rerank)
        return _on_server(server, named, vectors)
    found = [find_asked(name, indexes) for name in named] if named else [*all_asked(indexes)]
    folders = list({_spelled(folder): folder for folder in reversed(found)}.values())[::-1]
    if len(folders) == 1:
        from semsearch.index import Index  # start-up time: an index that is missing is reported before

        return Index.open(folders[0], vectors=vectors, reranker=chosen_reranker(rerank, rerank_seconds))
    from semsearch.multi_index import MultiIndex  # start-up time: most ask one

    return MultiIndex.open(*folders, vectors=vectors, reranker=chosen_reranker(rerank, rerank_seconds))


def _spelled(found: Path | str) -> str:
    """A folder or URI, always spelled alike."""
    return os.path.realpath(found) if isinstance(found, Path) else found


def is_remote(opened: Asked) -> TypeGuard[RemoteIndex]:
    """Whether an index on a server is searched."""
    return hasattr(opened, "url")  # the class would have to be imported, and takes long


def is_several(opened: Asked) -> TypeGuard[MultiIndex]:
    """Whether several local indexes are searched as one."""
    return hasattr(opened, "indexes")  # likewise


def indexes_of(opened: Asked) -> Mapping[str, Index]:
    """The searched local indexes, by the names in their hits: "" if it is one. Empty for a server."""
    if is_several(opened):
        return opened.indexes
    return {} if is_remote(opened) else {"": cast("Index", opened)}


def names_of(opened: Asked) -> Sequence[str]:
    """The names of the indexes that are searched as one; none if it is one."""
    if is_remote(opened):
        return opened.name if isinstance(opened.name, tuple) else ()
    return [name for name in indexes_of(opened) if name]


def _on_server(server: str, named: Sequence[str] | None, vectors: str | None) -> RemoteIndex:
    if vectors is not None:
        raise UsageError("--vectors works with local indexes only, not with --server")
    from semsearch.remote_index import RemoteIndex  # start-up time: an index here needs no HTTP

    return RemoteIndex(server, index=named or None, token=os.environ.get("SEMSEARCH_TOKEN"))


# -- Answers -----------------------------------------------------------------------------------------------------------


def choose_format(named: Format | None, *, json: bool, jsonl: bool) -> Format:
    """The requested format; by default a table on a terminal, plain lines in a pipe."""
    asked: list[Format] = [named] if named else []
    asked += ["json"] if json else []
    asked += ["jsonl"] if jsonl else []
    if len(set(asked)) > 1:
        raise UsageError(f"choose one output format, not {' and '.join(asked)}")
    return asked[0] if asked else "table" if sys.stdout.isatty() else "plain"


def wants_whole(shown: Show, wanted: Format, *, context: int) -> bool:
    """Whether to show whole passages. Raises UsageError if the format or --context conflicts with that."""
    if shown == "passage" and wanted not in ("table", "plain"):
        raise UsageError(
            f"--show passage works with the formats table and plain, not {wanted}; JSON always has the passages"
        )
    if shown == "passage" and context:
        raise UsageError("--show passage includes the surrounding sentences; leave out --context")
    return shown == "passage"


def show(answers: Iterable[Answer], wanted: Format, opened: Asked, *, batch: bool = False) -> int:
    """Print answers as they come, and warn of changed files unless the format shows them; the number of hits."""
    found = 0
    stale: set[tuple[str, str]] = set()

    def counted() -> Iterator[Answer]:
        nonlocal found
        for answer in answers:
            found += len(answer.hits)
            stale.update((hit.index or "", hit.path) for hit in answer.shown if hit.stale)
            if answer.weak and not answer.hits and not batch and wanted not in ("table", "plain"):
                complain(answer.without_hits)
            yield answer

    if wanted == "table":
        from semsearch.cli.terminal import print_answers  # start-up time: it imports rich

        print_answers(counted(), batch=batch)
    else:
        for line in (BATCH_FORMATS if batch else FORMATS)[wanted](counted()):
            print(line, end="" if wanted == "null" else "\n")
    if not wanted.startswith("json"):
        tell_if_stale(stale, opened)
    return found


def tell_if_stale(stale: Set[tuple[str, str]], opened: Asked) -> None:
    """Warn of files that have changed since they were indexed, with the command to run. `stale`: index and path."""
    if stale:
        changed = f"{len(stale):,} files of this answer have" if len(stale) > 1 else "a file of this answer has"
        of = {index for index, _ in stale}
        folders = [index.path for name, index in indexes_of(opened).items() if name in of]  # copies have no stale hits
        command = " && ".join(f"semsearch index --name {shown(folder)}" for folder in folders)
        instead = f"{command} (or query with --refresh)" if folders else "semsearch index there"
        warn(f"{changed} changed since indexing; run: {instead}")


def bring_up_to_date(opened: Asked) -> None:
    """Bring the opened indexes up to date. Raises UsageError for an index on a server."""
    indexes = indexes_of(opened)
    if not indexes:
        raise UsageError("--refresh works with local indexes only, not with --server")
    for index in indexes.values():
        _sync(index)


def _sync(opened: Index) -> None:
    """Bring an index up to date; while another process writes to it, warn and search it as it is."""
    if not opened.roots:  # texts that a program added have no files
        return
    from semsearch.cli.progress import sync_progress  # start-up time: few ask for it

    try:
        with sync_progress(quiet=False) as report:
            done = opened.sync(progress=report)
    except IndexLocked as error:
        warn(f"searching the index without an update: {error}")
    else:
        for warning in done.warnings:
            warn(warning)


def tell_if_empty(opened: Asked) -> None:
    """Warn of an empty index, a likely reason for no hits. Of several on a server nothing is known."""
    for index in indexes_of(opened).values():
        if not index.status(drift=False, stale=False).documents:
            warn(f"the index {index.path} is empty; run: semsearch index PATH --name {shown(index.path)}")
    if is_remote(opened) and not names_of(opened) and not opened.status(drift=False, stale=False).documents:
        warn("the index on the server is empty")
