"""The indexes that a command searches: one here, several as one, or one on a server; and its answers, printed."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, TypeAlias, Union

from semsearch.cli import options
from semsearch.cli.answer_formats import FORMATS, Answer
from semsearch.cli.configuration import configuration_of
from semsearch.cli.find_index import local_indexes, locate_index, name_or_path, other_indexes, path_argument
from semsearch.cli.printing import print_stderr, warn
from semsearch.errors import IndexLocked, IndexNotFound, UsageError, quoted
from semsearch.index import Index
from semsearch.results.hits import Citation, Context, Hit, nothing_answers

if TYPE_CHECKING:
    from semsearch.multi_index import MultiIndex
    from semsearch.remote_index import RemoteIndex

Searched: TypeAlias = Union[Index, "MultiIndex", "RemoteIndex"]

# -- Indexes -----------------------------------------------------------------------------------------------------------


def open_searched(search: options.SearchArguments) -> Searched:
    """Open the named index, or the only one; several are searched as one. They are brought up to date if wanted."""
    searched = _opened(search)
    if search.refresh:
        try:
            refresh(searched)
        except BaseException:
            searched.close()
            raise
    return searched


def _opened(search: options.SearchArguments) -> Searched:
    if search.server:
        is_configured = configuration_of().of("").get("rerank") == search.rerank  # for indexes of this machine
        if options.is_wanted(search.rerank) and not is_configured:
            raise UsageError(
                "--rerank works with local indexes only; a server has its own model: semsearch serve --rerank MODEL"
            )
        if search.vectors is not None:
            raise UsageError("--vectors works with local indexes only, not with --server")
        return Index.connect(search.server, index=search.index or None, token=os.environ.get("SEMSEARCH_TOKEN"))
    named = [locate_index(name, search.indexes) for name in search.index or ()]
    folders = [*dict.fromkeys(named or _default_indexes(search))]
    reranker = options.chosen_reranker(search.rerank, search.rerank_seconds)
    if len(folders) == 1:
        return Index.open(folders[0], vectors=search.vectors, reranker=reranker)
    from semsearch.multi_index import MultiIndex  # a single index, which is usual, needs none of it

    return MultiIndex.open(*folders, vectors=search.vectors, reranker=reranker)


def _default_indexes(search: options.SearchArguments) -> list[Path]:
    """The indexes that are searched if none is named; where there is none, one is made if the user agrees."""
    if folders := local_indexes(search.indexes):
        return folders
    elsewhere = other_indexes(search.indexes)
    if len(elsewhere) == 1 and not search.refresh:
        return elsewhere
    from semsearch.cli.index_files import index_for_question  # loads the readers

    try:
        return [index_for_question(search.indexes, search.vectors, confirm=not search.refresh)]
    except IndexNotFound as error:
        if not elsewhere:
            raise
        names = ", ".join(index.name for index in elsewhere)
        command = f"--index {name_or_path(elsewhere[0])}"
        raise IndexNotFound(f"{error}; or choose one of {names} (semsearch list): {command}") from None


def indexes_of(searched: Searched) -> Mapping[str, Index]:
    """The searched local indexes, by the names in their hits: "" if it is one. Empty for a server."""
    if isinstance(searched, Index):
        return {"": searched}
    from semsearch.multi_index import MultiIndex  # loaded already, if it is one

    return searched.indexes if isinstance(searched, MultiIndex) else {}


def refresh(searched: Searched) -> None:
    """Sync the searched indexes; one that another process is writing is searched without an update, with a warning.

    Raises UsageError for an index on a server.
    """
    indexes = indexes_of(searched)
    if not indexes:
        raise UsageError("--refresh works with local indexes only, not with --server")
    for index in indexes.values():
        if not index.roots:  # texts that a program added have no files
            continue
        try:
            report = index.sync(progress=True)
        except IndexLocked as error:
            warn(f"searching the index without an update: {error}")
        else:
            for warning in report.warnings:
                warn(warning)


# -- Answers -----------------------------------------------------------------------------------------------------------


def warn_if_stale(results: Iterable[Hit | Citation], searched: Searched) -> None:
    """Warn of files that have changed since they were indexed, with the command to run."""
    stale = {(result.index or "", result.path) for result in results if result.stale}
    if stale:
        changed = f"{len(stale):,} files of this answer have" if len(stale) > 1 else "a file of this answer has"
        names = {index for index, _ in stale}
        folders = [index.path for name, index in indexes_of(searched).items() if name in names]
        command = " && ".join(f"semsearch index --name {path_argument(folder)}" for folder in folders)
        cure = f"{command} (or query with --refresh)" if folders else "semsearch index there"
        warn(f"{changed} changed since indexing; run: {cure}")


def warn_if_empty(searched: Searched) -> None:
    """Warn of an empty index here, a likely reason for no hits."""
    for index in indexes_of(searched).values():
        if not len(index):
            command = f"semsearch index {'' if index.roots else 'PATH '}--name {path_argument(index.path)}"
            interrupted = "has no files yet, its first indexing was interrupted; to continue, run"
            warn(f"the index {index.path} {interrupted if index.roots else 'is empty; run'}: {command}")


def no_passages_message(query: str, passages: Context) -> str:
    """Why a context has no passages."""
    return nothing_answers(passages.missing or (), query) if passages.weak else f"no hits for {quoted(query)}"


def show(answer: Answer, format: options.Format, searched: Searched) -> int:
    """Print an answer in a format, and warn of changed files unless it shows them; returns the number of hits."""
    if answer.hits and not answer.usable and format not in ("table", "plain"):
        print_stderr(answer.no_hits_message)
    if format == "table":
        from semsearch.cli.terminal import print_answer  # rich: a pipe needs none of it

        print_answer(answer)
    else:
        for line in FORMATS[format](answer):
            print(line, end="" if format == "null" else "\n")
    if not format.startswith("json"):
        warn_if_stale(answer.hits, searched)
    return len(answer.usable)
