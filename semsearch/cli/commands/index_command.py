"""`semsearch index`: make an index, or bring it up to date."""

from __future__ import annotations

import sys
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
from semsearch.cli.find_index import HERE, INDEXES, index_folders, only_one, users_own
from semsearch.cli.index_choices import IndexChoices
from semsearch.cli.index_target import IndexTarget, target_of
from semsearch.cli.messages import complain, keep_warnings, use_one_thread, warn
from semsearch.cli.progress import not_read, nothing_to_index, report_sync, summary, sync_progress
from semsearch.embedding.methods import MethodName, Unknown
from semsearch.errors import SemsearchError, SourceError
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
            help="Files, folders, s3://bucket/folder and the like. Without any: all that the index knows already.",
        ),
    ] = None,
    index: Annotated[
        list[str] | None,
        typer.Option(
            "--name", "--index", "-i", metavar="NAME|PATH", help="Which index; by default named like the folder."
        ),
    ] = None,
    indexes: IndexesOption = INDEXES,
    include: Annotated[
        list[str] | None, typer.Option(metavar="GLOB", help="Only such files, as in .gitignore: '*.md', 'guide/**'.")
    ] = None,
    exclude: Annotated[
        list[str] | None, typer.Option(metavar="GLOB", help="Leave out such files, like those in .semsearchignore.")
    ] = None,
    text_columns: Annotated[
        list[str] | None,
        typer.Option(metavar="NAME,...", help="Of tables and JSON Lines, search these columns only; * is all."),
    ] = None,
    metadata_columns: Annotated[
        list[str] | None,
        typer.Option(metavar="NAME,...", help="Keep these columns as metadata of each record, for --filter."),
    ] = None,
    prune: Annotated[bool, typer.Option("--prune", help="Forget folders that have vanished or are empty now.")] = False,
    method: Annotated[MethodName | None, typer.Option(help="How sentences are embedded.")] = None,
    a: Annotated[float | None, typer.Option("--a", help="The weights' parameter; by default the method's.")] = None,
    components: Annotated[
        int | None, typer.Option(metavar="M", help="Common components removed; by default the method's.")
    ] = None,
    frequencies: Annotated[
        str | None, typer.Option(metavar="mixed|vectors|corpus|FILE", help="Where word frequencies come from.")
    ] = None,
    adapt: Annotated[
        bool | None,
        typer.Option("--adapt/--no-adapt", help="Learn from the text which of its words go together; the default."),
    ] = None,
    unknown: Annotated[
        Unknown | None,
        typer.Option(help="Vectors of unknown words: none, from their pieces, or also from contexts, the default."),
    ] = None,
    exact: Annotated[
        bool | None,
        typer.Option("--exact/--no-exact", help="Compare every passage, however many; the default with few."),
    ] = None,
    target_recall: Annotated[
        float | None, typer.Option(metavar="SHARE", help="Share of the ten best that a search of many finds: 0.95.")
    ] = None,
    factory: Annotated[
        str | None, typer.Option(metavar="TYPE", help="The index type, as FAISS calls it: IVF4096,SQ8.")
    ] = None,
    store: Annotated[
        str | None,
        typer.Option(metavar="URI", help="Where an engine shall keep the vectors of passages; faiss: is the index."),
    ] = None,
    vectors: VectorsOption = None,
    rebuild: Annotated[
        bool, typer.Option("--rebuild", help="Make everything anew from the stored text, with other settings if given.")
    ] = False,
    refit: Annotated[bool, typer.Option("--refit", help="Fit to what the index holds now.")] = False,
    max_file_size: MaxFileSizeOption = 100,
    processes: ProcessesOption = 0,
    cluster: ClusterOption = None,
    json: Annotated[bool, typer.Option("--json", help="Report as JSON.")] = False,
    quiet: QuietOption = False,
) -> None:
    """Index files and folders, or bring an index up to date.

    Run again, only what was added, changed, moved or removed costs anything. What .gitignore and .semsearchignore name
    is left out. Exit status: 0, or 2 when nothing could be indexed.
    """
    keep_warnings()
    use_one_thread()  # two that take turns on a busy machine are slower than one
    choices = IndexChoices(
        vectors, method, a, components, frequencies, adapt, unknown, exact, target_recall, factory, store
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
    reading: Mapping[str, Any]  # the keywords of Index.sync


@dataclass(frozen=True, slots=True)
class _Shown:
    """How a run is reported."""

    json: bool
    quiet: bool


def _of_profiles(given: _Run) -> list[_Run]:
    """The runs of the configured profiles, or of the one that is named; none where none is meant."""
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
    with target.opened(work.choices, rebuild=work.rebuild) as opened:
        if target.is_joined_by_strangers(run.paths, opened.roots):
            warn(f"adding to the index {target.folder}, which is of {', '.join(opened.roots)}; --name makes another")
        with sync_progress(quiet=shown.quiet or shown.json) as report:
            done = work.carry_out(opened, report, is_new=target.is_new)
        if target.is_new and not done.added:
            report_sync(replace(done, warnings=()))  # they are the reason
            is_chosen = bool(run.reading["include"] or run.reading["exclude"])
            raise SourceError(nothing_to_index(run.paths, done, chosen=is_chosen))
        report_sync(done)
    if shown.json:
        print(to_json({"index": str(target.folder), **done.to_dict()}))
    elif not shown.quiet:
        _print(target, done, run.indexes)
    seen = done.added + done.changed + done.moved + done.removed + done.unchanged
    if not seen and (done.not_read or done.skipped or done.warnings):
        raise typer.Exit(NOTHING_INDEXED)


@dataclass(frozen=True, slots=True)
class _Work:
    """What a run does to its index."""

    paths: Sequence[str]
    choices: IndexChoices
    reading: Mapping[str, Any]  # the keywords of Index.sync
    rebuild: bool
    refit: bool
    cluster: str | None

    def carry_out(self, index: Index, report: Report | None, *, is_new: bool) -> SyncReport:
        """Rebuild, sync and refit, as far as it is wanted; one report of all."""
        whole: list[SyncReport] = []  # of what embeds all that the index holds
        if self.rebuild and not is_new:
            whole.append(index.rebuild(**self.choices.given(), cluster=self.cluster, progress=report))
        done = SyncReport()
        with _after("the index was rebuilt" if whole else ""):
            if self.paths or index.roots or not self.rebuild:
                with _going_on_later(index.path):
                    done = index.sync(*self.paths, **self.reading, cluster=self.cluster, progress=report)
        if self.refit and not done.refitted:
            changed = done.added or done.changed or done.removed or done.moved
            with _after("the index was brought up to date" if changed else ""):
                whole.append(index.refit(cluster=self.cluster, progress=report))
        return replace(_together(done, whole), refitted=done.refitted or self.refit or self.rebuild)


def _print(target: IndexTarget, done: SyncReport, indexes: Path | None) -> None:
    print(summary(target.folder, done))
    if line := not_read(done.not_read):
        print(line)
    if target.is_new and indexes is None and target.folder.parent != HERE and target.folder.parent == users_own():
        complain("it is among your own indexes, since it is of nothing below this folder; for here: --indexes indexes")
    if target.is_new and sys.stderr.isatty():
        which = "" if len(index_folders(target.folder.parent)) == 1 else f" --index {target.folder.name}"
        complain(f'ask it with: semsearch query "..."{which}')


@contextmanager
def _going_on_later(folder: Path) -> Iterator[None]:
    """Have it said, if a sync is interrupted, that what it has read is kept."""
    from semsearch.indexing.reading_log import READING_LOG  # start-up time

    try:
        yield
    except KeyboardInterrupt:
        if not (folder / READING_LOG).exists():
            raise
        raise KeyboardInterrupt("what was read is kept: run the same command again to go on from there") from None


@contextmanager
def _after(done: str) -> Iterator[None]:
    """Have it said, if a step fails or is interrupted, what was `done` before it: its own error does not know."""
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
