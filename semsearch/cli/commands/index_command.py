"""`semsearch index`: make an index, or bring it up to date. Which index that is, is a question of its own."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass, replace
from pathlib import Path, PurePosixPath
from typing import Annotated, Any

import typer

from semsearch.cli import options
from semsearch.cli.configuration import configuration_of
from semsearch.cli.find_index import (
    FOLDER,
    HERE,
    all_indexes,
    find_index,
    folder_for_new,
    folder_of,
    folder_to_make,
    from_here,
    name_for,
    name_from_anywhere,
    only_one,
    remember,
    roots_of,
    shown,
    users_own,
)
from semsearch.cli.options import IndexSettings
from semsearch.cli.printing import complain, keep_warnings, to_json
from semsearch.cli.progress import covers, report_sync, stopping_as_interrupted, summary, sync_progress
from semsearch.dense.engines import complete
from semsearch.errors import IndexLocked, SemsearchError, SourceError, UsageError, index_command, rebuild_command
from semsearch.index import Index
from semsearch.indexing.sync_roots import index_of_moved_folder
from semsearch.maintenance.index_folders import missing_folders, remove_empty, renew
from semsearch.readers.registry import is_readable
from semsearch.results.omissions import endings_in_words
from semsearch.results.reports import SyncReport
from semsearch.storage.database import has_database, is_index, is_outdated
from semsearch.storage.published import name_of
from semsearch.system.locations import local_path, uri_scheme

NOTHING_INDEXED = 2


@options.with_options("settings", IndexSettings)
def index(
    paths: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="[PATH]...",
            help="Files, folders, s3://bucket/folder and the like; default: all that the index already covers.",
        ),
    ] = None,
    *,
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
    quiet: options.QuietOption = False,
    indexes: options.IndexesOption = None,
    text_columns: Annotated[
        list[str] | None, options.in_columns(metavar="NAME,...", help="Search only these columns; *: all.")
    ] = None,
    metadata_columns: Annotated[
        list[str] | None, options.in_columns(metavar="NAME,...", help="Keep these columns as metadata, for --filter.")
    ] = None,
    max_file_size: options.MaxFileSizeOption = 100,
    processes: options.ProcessesOption = 0,
    cluster: options.ClusterOption = None,
    settings: IndexSettings,
) -> None:
    """Index files and folders, or bring an index up to date.

    A repeated run processes only files that were added, changed, moved or removed. Files that .gitignore or
    .semsearchignore names are left out. Exit status: 0, or 2 if nothing could be indexed.
    """
    keep_warnings()
    reading = {
        "include": include or (),
        "exclude": exclude or (),
        "text_columns": _names(text_columns),
        "metadata_columns": _names(metadata_columns),
        "prune": prune,
        "max_file_bytes": options.bytes_of(max_file_size),
        "processes": processes,
    }
    asked = _Run([local_path(path) for path in paths or ()], only_one(index), indexes, reading)
    work = _Work(settings, rebuild=rebuild, refit=refit, cluster=cluster, json=json, quiet=quiet)
    runs = [] if paths else _runs_of_profiles(asked)
    if not runs:
        work.carry_out(asked)
        return
    failed = False
    for run in runs:
        try:
            work.carry_out(run)
        except SemsearchError as error:
            complain(f"{run.name}: {error}")
            failed = True
    if failed:
        raise typer.Exit(NOTHING_INDEXED)


def _names(values: Sequence[str] | None) -> list[str]:
    """The names of columns, several of them separated by commas."""
    return [name.strip() for names in values or () for name in names.split(",") if name.strip()]


@dataclass(frozen=True, slots=True)
class _Run:
    """A run on one index: what is read, and which index it is."""

    paths: Sequence[str]
    name: str | None
    indexes: Path | None
    reading: Mapping[str, Any]  # arguments of Index.sync


def _runs_of_profiles(asked: _Run) -> list[_Run]:
    """The runs of the configured profiles, or of the named one; none if no profile applies."""
    return [
        _Run(
            profile.roots,
            profile.name,
            asked.indexes or profile.indexes,
            {**asked.reading, "include": profile.include, "exclude": profile.exclude},
        )
        for profile in configuration_of().profiles.values()
        if asked.name in (None, profile.name)
    ]


@dataclass(frozen=True, slots=True)
class _Work:
    """What is done to each index, and how it is reported."""

    settings: IndexSettings
    rebuild: bool
    refit: bool
    cluster: str | None
    json: bool
    quiet: bool

    def carry_out(self, run: _Run) -> None:
        """Make an index, or bring it up to date, and report it. Raises typer.Exit when nothing could be indexed."""
        target = target_of(run.paths, run.name, run.indexes)
        with stopping_as_interrupted(), target.opened(self.settings, rebuild=self.rebuild) as opened:
            report = self._write(opened, run, is_new=target.is_new)
            if target.is_new and not report.added:
                report_sync(replace(report, warnings=()))  # the warnings are in the error
                is_chosen = bool(run.reading["include"] or run.reading["exclude"])
                raise SourceError(_nothing_to_index(run.paths, report, is_chosen=is_chosen))
            report_sync(report)
        if self.json:
            print(to_json({"index": str(target.folder), **report.to_dict()}))
        elif not self.quiet:
            _print(target, report, run)
        seen = report.added + report.changed + report.moved + report.removed + report.unchanged
        if not seen and (report.not_read or report.skipped or report.warnings):
            raise typer.Exit(NOTHING_INDEXED)

    def _write(self, opened: Index, run: _Run, *, is_new: bool) -> SyncReport:
        """Rebuild, sync and refit as requested; one report of all."""
        whole: list[SyncReport] = []  # of steps that embed the whole index
        report = SyncReport()
        with sync_progress(quiet=self.quiet or self.json) as show:
            if self.rebuild and not is_new:
                whole.append(opened.rebuild(**self.settings.chosen(), progress=show))
            with _after("the index was rebuilt" if whole else ""), _resumable(opened.path):
                if run.paths or opened.roots or not self.rebuild:
                    report = opened.sync(*run.paths, **run.reading, cluster=self.cluster, progress=show)
            if self.refit and not report.refitted:
                has_changed = report.added or report.changed or report.removed or report.moved
                with _after("the index was brought up to date" if has_changed else ""):
                    whole.append(opened.refit(progress=show))
        return replace(
            report,
            refitted=report.refitted or self.refit or self.rebuild,
            passages=sum(step.passages for step in (report, *whole)),
            sentences=sum(step.sentences for step in (report, *whole)),
            seconds=sum(step.seconds for step in (report, *whole)),
        )


def _print(target: IndexTarget, report: SyncReport, run: _Run) -> None:
    print(summary(target.folder, report))
    if report.not_read:
        print(f"not read: {endings_in_words(report.not_read)} (semsearch status --problems lists them)")
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
def _after(done: str) -> Iterator[None]:
    """If a step fails or is interrupted, say in its message what was `done` before it, and is saved."""
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


@contextmanager
def _resumable(folder: Path) -> Iterator[None]:
    """If a sync is interrupted, add to the message that files read so far are kept."""
    try:
        yield
    except KeyboardInterrupt:
        from semsearch.indexing.reading_log import READING_LOG  # which imports all readers

        if not (folder / READING_LOG).exists():
            raise
        raise KeyboardInterrupt("files read so far are kept; run the same command again to continue") from None


def _nothing_to_index(paths: Sequence[str], report: SyncReport, *, is_chosen: bool) -> str:
    """Explain why a new index would be empty. `is_chosen`: whether --include or --exclude was given."""
    where = ", ".join(paths)
    if report.warnings:
        return f"nothing could be indexed: {'; '.join(report.warnings)}"
    if report.skipped:
        files = "the only file was" if len(report.skipped) == 1 else f"all {len(report.skipped):,} files were"
        return f"nothing could be indexed in {where}: {files} skipped"
    if report.not_read:
        return f"nothing to index in {where}: no reader for its files ({endings_in_words(report.not_read)})"
    if is_chosen:
        return f"nothing to index in {where}: no file passes --include and --exclude"
    return f"nothing to index in {where}: all files are hidden or ignored, or there are none"


# -- Which index it is -------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class IndexTarget:
    """The folder of the index that a run works on."""

    folder: Path
    is_new: bool = False

    def opened(self, settings: IndexSettings, *, rebuild: bool) -> AbstractContextManager[Index]:
        """The index, opened or made. Raises UsageError if it has other settings than those given, unless rebuilt."""
        return _made(self.folder, settings) if self.is_new else _existing(self.folder, settings, rebuild=rebuild)


def target_of(paths: Sequence[str], name: str | None, indexes: Path | None) -> IndexTarget:
    """Find the index of paths, by its name if there is one. Raises IndexNotFound, UsageError."""
    if not paths:
        folder = find_index(name, indexes)
    elif name is None:
        folder = _folder_by_paths(paths, indexes)
    else:
        near = HERE if indexes is None and HERE.is_dir() else indexes
        folder = folder_of(name, near) or folder_to_make(name, paths, indexes)
    return IndexTarget(folder, is_new=not is_index(folder))


def _folder_by_paths(paths: Sequence[str], indexes: Path | None) -> Path:
    """The index that has the first path as a root, or else the place for a new one, called like that path."""
    path, name = paths[0], _name_for(paths[0])
    new = folder_for_new(paths, indexes) / name
    there = all_indexes(indexes)
    same = [folder for folder in there if any(covers(root, path) and covers(path, root) for root in roots_of(folder))]
    of_name = next((folder for folder in same if folder.name == name), None)
    if of_name is not None or len(same) == 1:
        return of_name or same[0]
    if same:
        raise UsageError(
            f"{len(same)} indexes are of {path}: {', '.join(map(shown, same))}; choose one: --name {shown(same[0])}"
        )
    if is_index(new) and (roots := roots_of(new)):
        raise UsageError(
            f"{new} is an index of other folders, {', '.join(map(from_here, roots))}; pass --name {name} to add "
            f"{path} to it, or another name for an index of its own"
        )
    moved = None if has_database(new) or uri_scheme(path) else index_of_moved_folder(Path(path), there)
    return moved or new


def _name_for(path: str) -> str:
    """The name for an index of a path, or of a folder or object in a store, as `name_for` has it."""
    if not uri_scheme(path):
        return name_for(Path(path))
    name = name_of(path)
    return PurePosixPath(name).stem if is_readable(name) else name


@contextmanager
def _made(folder: Path, settings: IndexSettings) -> Iterator[Index]:
    """Create an index, and remove it again if it could not be filled, unless another process fills it meanwhile."""
    folders = missing_folders(folder.parent)
    try:
        with Index.create(folder, **{**configuration_of().of("settings"), **settings.chosen()}) as opened:
            try:
                yield opened
            except IndexLocked:
                raise
            except BaseException:
                opened.discard()
                raise
        remember(folder)
    except BaseException:
        remove_empty(folders)
        raise


@contextmanager
def _existing(folder: Path, settings: IndexSettings, *, rebuild: bool) -> Iterator[Index]:
    """Open an existing index, and check that it has the settings that the user gave."""
    if rebuild and is_outdated(folder):
        renew(folder)
    with Index.open(folder, vectors=None if rebuild else settings.vectors) as opened:
        if not rebuild:
            _check_settings(opened, settings)
        yield opened
        remember(folder)


def _check_settings(index: Index, settings: IndexSettings) -> None:
    """Raise UsageError if an index has other settings, which only a rebuild changes."""
    for name, value in settings.chosen().items():
        built = None if name == "vectors" else getattr(index.settings, name)
        if name == "frequencies" and value not in ("vectors", "corpus", "mixed"):
            value = str(Path(value).resolve())
        if name == "store":
            value = complete(value, index.path.absolute().name)
        if name != "vectors" and value != built:
            usual = "faiss:" if name == "store" else "its default"
            option = name.replace("_", "-")
            if isinstance(value, bool):
                words = [f"--{option}" if value else f"--no-{option}"]
            else:
                words = [f"--{option}", "faiss:" if value is None else str(value)]
            raise UsageError(
                f"{index.path} was built with {name} {usual if built is None else built}, not "
                f"{'faiss:' if value is None else value}; to change that: {rebuild_command(index.path, *words)}"
            )
