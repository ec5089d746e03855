"""Show the answers of `query` and `similar`, in the format that is asked for."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Iterator, Set
from typing import TYPE_CHECKING

from semsearch.cli.asked_indexes import indexes_of, is_remote, names_of
from semsearch.cli.messages import complain, warn
from semsearch.cli.naming import shown
from semsearch.cli.options import Format, Show
from semsearch.cli.output.formats import BATCH_FORMATS, FORMATS, Answer
from semsearch.errors import IndexLocked, UsageError

if TYPE_CHECKING:
    from semsearch.cli.asked_indexes import Asked
    from semsearch.index import Index


def choose_format(named: Format | None, *, json: bool, jsonl: bool) -> Format:
    """Choose the format that is asked for; if none is, a table on a terminal, and plain lines in a pipe."""
    asked: list[Format] = [named] if named else []
    asked += ["json"] if json else []
    asked += ["jsonl"] if jsonl else []
    if len(set(asked)) > 1:
        raise UsageError(f"an answer has one format, not {' and '.join(asked)}; choose one")
    return asked[0] if asked else "table" if sys.stdout.isatty() else "plain"


def wants_whole(shown: Show, wanted: Format, *, context: int) -> bool:
    """Return whether whole passages are to be shown. Raises UsageError where there is no room for them, or no need."""
    if shown == "passage" and wanted not in ("table", "plain"):
        raise UsageError(f"--show passage is for the formats table and plain, not {wanted}; JSON has passages anyway")
    if shown == "passage" and context:
        raise UsageError("--show passage shows the sentences around the best one; leave out --context")
    return shown == "passage"


def show(answers: Iterable[Answer], wanted: Format, opened: Asked, *, batch: bool = False) -> int:
    """Write answers as they come, and say if files of theirs have changed, unless the format does; returns the number
    of hits in all."""
    found = 0
    stale: set[tuple[str, str]] = set()

    def counted() -> Iterator[Answer]:
        nonlocal found
        for answer in answers:
            found += len(answer.hits)
            stale.update((hit.index or "", hit.path) for hit in answer.hits if hit.stale)
            if answer.weak and not answer.hits and not batch and wanted != "table":
                complain(answer.without_hits)
            yield answer

    if wanted == "table":
        from semsearch.cli.output.terminal import print_answers  # start-up time: it imports rich

        print_answers(counted(), batch=batch)
    else:
        for line in (BATCH_FORMATS if batch else FORMATS)[wanted](counted()):
            print(line, end="" if wanted == "null" else "\n")
    if not wanted.startswith("json"):
        tell_if_stale(stale, opened)
    return found


def tell_if_stale(stale: Set[tuple[str, str]], opened: Asked) -> None:
    """Say how to bring the index up to date, where some files of an answer have changed; by index and path."""
    if stale:
        changed = f"{len(stale):,} files of this answer have" if len(stale) > 1 else "a file of this answer has"
        of = {index for index, _ in stale}
        folders = [index.path for name, index in indexes_of(opened).items() if name in of]  # copies have no stale hits
        command = " && ".join(f"semsearch index --name {shown(folder)}" for folder in folders)
        instead = f"{command} (or query with --refresh)" if folders else "semsearch index there"
        warn(f"{changed} changed since indexed; run: {instead}")


def bring_up_to_date(opened: Asked) -> None:
    """Bring what is asked up to date before. Raises UsageError for an index on a server."""
    indexes = indexes_of(opened)
    if not indexes:
        raise UsageError("--refresh is for an index here, not for one on a server")
    for index in indexes.values():
        _sync(index)


def _sync(opened: Index) -> None:
    """Bring an index up to date. While another process does that, it is asked as it is."""
    if not opened.roots:  # texts that a program added have no files
        return
    from semsearch.cli.output.progress import sync_progress  # start-up time: few ask for it

    try:
        with sync_progress(quiet=False) as report:
            done = opened.sync(progress=report)
    except IndexLocked as error:
        warn(f"the index is asked as it is: {error}")
    else:
        for warning in done.warnings:
            warn(warning)


def tell_if_empty(opened: Asked) -> None:
    """Warn of an index that is empty, which may be why there are no hits. Of several on a server nothing is known."""
    for index in indexes_of(opened).values():
        if not index.status(drift=False, stale=False).documents:
            warn(f"the index {index.path} is empty; run: semsearch index PATH --name {shown(index.path)}")
    if is_remote(opened) and not names_of(opened) and not opened.status(drift=False, stale=False).documents:
        warn("the index on the server is empty")
