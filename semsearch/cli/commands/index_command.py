"""`semsearch index`: make an index, or bring it up to date."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from semsearch.cli.answer_formats import to_json
from semsearch.cli.command_options import (
    ClusterOption,
    IndexesOption,
    MaxFileSizeOption,
    ProcessesOption,
    QuietOption,
    VectorsOption,
    bytes_of,
)
from semsearch.cli.configured_defaults import configuration_of
from semsearch.cli.declared import COLUMNS, EMBEDDING, VECTOR_SEARCH
from semsearch.cli.find_index import FOLDER, HERE, INDEXES, folder_for_new, name_from_anywhere, only_one, users_own
from semsearch.cli.index_choices import IndexChoices
from semsearch.cli.index_target import IndexTarget, target_of
from semsearch.cli.messages import complain, keep_warnings, stopping_as_interrupted, use_one_thread
from semsearch.cli.progress import not_read, nothing_to_index, report_sync, summary, sync_progress
from semsearch.embedding.methods import MethodName, Unknown
from semsearch.errors import SemsearchError, SourceError, index_command
from semsearch.results.reports import SyncReport
from semsearch.system.locations import local_path

if TYPE_CHECKING:
    from semsearch.index import Index
    from semsearch.indexing.progress_reports import Report

NOTHING_INDEXED = 2


def index(
    paths: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="[PATH]...",
            help="Files, folders, s3://bucket/folder and the like; default: all that the index already covers.",
        ),
    ] = None,
    index: Annotated[
        list[str] | None,
        typer.Option("--name", "--index", "-i", metavar="INDEX", help="Name or path; default: the folder's name."),
    ] = None,
    include: Annotated[
        list[str] | None, typer.Option(metavar="GLOB", help="Only these files ('*.md', 'guide/**'). Repeatable.")
    ] = None,
    exclude: Annotated[
        list[str] | None, typer.Option(metavar="GLOB", help="Not these files, as in .semsearchignore. Repeatable.")
    ] = None,
    prune: Annotated[bool, typer.Option("--prune", help="Remove folders that are gone or empty.")] = False,
    refit: Annotated[bool, typer.Option("--refit", help="Fit the embedding to the current text.")] = False,
    rebuild: Annotated[bool, typer.Option("--rebuild", help="Rebuild from the stored text and new settings.")] = False,
    json: Annotated[bool, typer.Option("--json", help="Print the report as JSON.")] = False,
    quiet: QuietOption = False,
    indexes: IndexesOption = INDEXES,
    vectors: VectorsOption = None,
    text_columns: Annotated[
        list[str] | None,
        typer.Option(metavar="NAME,...", help="Search only these columns; *: all.", rich_help_panel=COLUMNS),
    ] = None,
    metadata_columns: Annotated[
        list[str] | None,
        typer.Option(metavar="NAME,...", help="Keep these columns as metadata, for --filter.", rich_help_panel=COLUMNS),
    ] = None,
    method: Annotated[
        MethodName | None, typer.Option(metavar="NAME", help="usif, sif, tfidf or mean.", rich_help_panel=EMBEDDING)
    ] = None,
    a: Annotated[
        float | None,
        typer.Option("--a", help="Weight parameter; default: the method's.", rich_help_panel=EMBEDDING),
    ] = None,
    components: Annotated[
        int | None,
        typer.Option(metavar="M", help="Components to remove; default: the method's.", rich_help_panel=EMBEDDING),
    ] = None,
    frequencies: Annotated[
        str | None,
        typer.Option(
            metavar="SOURCE",
            help="Word frequencies: mixed, vectors, corpus, or a counts file.",
            rich_help_panel=EMBEDDING,
        ),
    ] = None,
    adapt: Annotated[
        bool | None,
        typer.Option("--adapt/--no-adapt", help="Learn topics from the text (default).", rich_help_panel=EMBEDDING),
    ] = None,
    unknown: Annotated[
        Unknown | None,
        typer.Option(metavar="HOW", help="OOV words: skip, pieces, or contexts (default).", rich_help_panel=EMBEDDING),
    ] = None,
    exact: Annotated[
        bool | None,
        typer.Option(
            "--exact/--no-exact", help="Scan all passages; default: small indexes only.", rich_help_panel=VECTOR_SEARCH
        ),
    ] = None,
    target_recall: Annotated[
        float | None,
        typer.Option(metavar="SHARE", help="Recall of the ten best; default: 0.95.", rich_help_panel=VECTOR_SEARCH),
    ] = None,
    store: Annotated[
        str | None,
        typer.Option(metavar="URI", help="External vector store, or faiss: for none.", rich_help_panel=VECTOR_SEARCH),
    ] = None,
    sentence_vectors: Annotated[
        bool | None,
        typer.Option(
            "--sentence-vectors/--no-sentence-vectors",
            help="Store vectors of sentences (default).",
            rich_help_panel=VECTOR_SEARCH,
        ),
    ] = None,
    max_file_size: MaxFileSizeOption = 100,
    processes: ProcessesOption = 0,
    cluster: ClusterOption = None,
) -> None:
    """Index files and folders, or bring an index up to date.

    A repeated run processes only files that were added, changed, moved or removed. Files that .gitignore or
    .semsearchignore names are left out. Exit status: 0, or 2 if nothing could be indexed.
    """
    keep_warnings()
    use_one_thread()  # two threads on a busy machine are slower than one
    choices = IndexChoices(
        *(vectors, method, a, components, frequencies, adapt, unknown),
        *(exact, target_recall, store, sentence_vectors),
    )
    reading = {
        "include": include or (),
        "exclude": exclude or (),
        "text_columns": _names(text_columns),
        "metadata_columns": _names(metadata_columns),
        "prune": prune,
        "max_file_bytes": bytes_of(max_file_size),
        "processes": processes,
    }
    given = _Run([local_path(path) for path in paths or ()], only_one(index), indexes, reading)
    shown = _Shown(json=json, quiet=quiet)
    runs = [] if paths else _of_profiles(given)
    if not runs:
        _run(given, _Work(given.paths, choices, reading, rebuild=rebuild, refit=refit, cluster=cluster), shown)
        return
    failed = 0
    for run in runs:
        try:
            _run(run, _Work(run.paths, choices, run.reading, rebuild=rebuild, refit=refit, cluster=cluster), shown)
        except SemsearchError as error:
            complain(f"{run.named}: {error}")
            failed += 1
    if failed:
        raise typer.Exit(NOTHING_INDEXED)


@dataclass(frozen=True, slots=True)
class _Run:
    """A run on one index: what is read, and which index it is."""

    paths: Sequence[str]
    named: str | None
    indexes: Path | None
    reading: Mapping[str, Any]  # arguments of Index.sync


@dataclass(frozen=True, slots=True)
class _Shown:
    """How a run is reported."""

    json: bool
    quiet: bool


def _of_profiles(given: _Run) -> list[_Run]:
    """The runs of the configured profiles, or of the named one; none if no profile applies."""
    configured = configuration_of()
    profiles = {} if configured is None else configured.profiles
    if given.named is not None:
        profiles = {given.named: profiles[given.named]} if given.named in profiles else {}
    return [
        _Run(
            profile.roots,
            profile.name,
            given.indexes or profile.indexes,
            {**given.reading, "include": profile.include, "exclude": profile.exclude},
        )
        for profile in profiles.values()
    ]


def _run(run: _Run, work: _Work, shown: _Shown) -> None:
    """Make an index, or bring it up to date, and report it. Raises typer.Exit when nothing could be indexed."""
    target = target_of(run.paths, run.named, run.indexes)
    with stopping_as_interrupted(), target.opened(work.choices, rebuild=work.rebuild) as opened:
        with sync_progress(quiet=shown.quiet or shown.json) as report:
            done = work.carry_out(opened, report, is_new=target.is_new)
        if target.is_new and not done.added:
            report_sync(replace(done, warnings=()))  # the warnings are in the error
            is_chosen = bool(run.reading["include"] or run.reading["exclude"])
            raise SourceError(nothing_to_index(run.paths, done, chosen=is_chosen))
        report_sync(done)
    if shown.json:
        print(to_json({"index": str(target.folder), **done.to_dict()}))
    elif not shown.quiet:
        _print(target, done, run)
    seen = done.added + done.changed + done.moved + done.removed + done.unchanged
    if not seen and (done.not_read or done.skipped or done.warnings):
        raise typer.Exit(NOTHING_INDEXED)


@dataclass(frozen=True, slots=True)
class _Work:
    """What a run does to its index."""

    paths: Sequence[str]
    choices: IndexChoices
    reading: Mapping[str, Any]  # arguments of Index.sync
    rebuild: bool
    refit: bool
    cluster: str | None

    def carry_out(self, index: Index, report: Report | None, *, is_new: bool) -> SyncReport:
        """Rebuild, sync and refit as requested; one report of all."""
        whole: list[SyncReport] = []  # of steps that embed the whole index
        if self.rebuild and not is_new:
            whole.append(index.rebuild(**self.choices.given(), progress=report))
        done = SyncReport()
        with _after("the index was rebuilt" if whole else ""):
            if self.paths or index.roots or not self.rebuild:
                with _resumable(index.path):
                    done = index.sync(*self.paths, **self.reading, cluster=self.cluster, progress=report)
        if self.refit and not done.refitted:
            changed = done.added or done.changed or done.removed or done.moved
            with _after("the index was brought up to date" if changed else ""):
                whole.append(index.refit(progress=report))
        return replace(_together(done, whole), refitted=done.refitted or self.refit or self.rebuild)


def _print(target: IndexTarget, done: SyncReport, run: _Run) -> None:
    print(summary(target.folder, done))
    if line := not_read(done.not_read):
        print(line)
    if not target.is_new:
        return
    where, name = Path(os.path.realpath(target.folder)), name_from_anywhere(target.folder)
    print(f'new index in {where}; ask it from anywhere: {index_command("query", "--index", name)} "..."')
    if run.indexes is None and where.parent == Path(os.path.realpath(users_own())):
        outside = [path for path in run.paths if folder_for_new([path], None) != HERE]
        are = "is" if len(outside) == 1 else "are"
        why = f", because {', '.join(outside)} {are} outside the current folder" if outside else ""
        complain(f"saved to your personal indexes{why}; to keep it here, pass --indexes {FOLDER}")


@contextmanager
def _resumable(folder: Path) -> Iterator[None]:
    """If a sync is interrupted, add to the message that files read so far are kept."""
    from semsearch.indexing.reading_log import READING_LOG  # start-up time

    try:
        yield
    except KeyboardInterrupt:
        if not (folder / READING_LOG).exists():
            raise
        raise KeyboardInterrupt("files read so far are kept; run the same command again to continue") from None


@contextmanager
def _after(done: str) -> Iterator[None]:
    """If a step fails or is interrupted, add to its message what was `done` before it."""
    try:
        yield
    except SemsearchError as error:
        if done:
            error.args = (f"{done}; the next step failed: {error}",)
        raise
    except KeyboardInterrupt as interrupt:
        if done:
            raise KeyboardInterrupt(f"{done}; {str(interrupt) or 'nothing else was changed'}") from None
        raise


def _together(done: SyncReport, others: Sequence[SyncReport]) -> SyncReport:
    """The report of a sync, with the passages, sentences and seconds of a rebuild or refit added."""
    reports = [done, *others]
    return replace(
        done,
        passages=sum(report.passages for report in reports),
        sentences=sum(report.sentences for report in reports),
        seconds=sum(report.seconds for report in reports),
    )


def _names(given: Sequence[str] | None) -> list[str]:
    """The names of columns, several of them separated by commas."""
    return [name.strip() for names in given or () for name in names.split(",") if name.strip()]
