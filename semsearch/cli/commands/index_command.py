"""`semsearch index`: make an index, or bring it up to date; which index that is; and what would be read."""

from __future__ import annotations

import os
import time
from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager, closing, contextmanager
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
from semsearch.cli.printing import ask_on_terminal, complain, count, keep_warnings, size, to_json
from semsearch.cli.progress import covers, report_sync, stopping_as_interrupted, summary, sync_progress
from semsearch.dense.engines import complete
from semsearch.errors import (
    IndexLocked,
    IndexNotFound,
    SemsearchError,
    SourceError,
    UsageError,
    index_command,
    rebuild_command,
)
from semsearch.index import Index
from semsearch.indexing.changes import present_files
from semsearch.indexing.read_files import why_refused
from semsearch.indexing.reading_log import READING_LOG
from semsearch.indexing.sync_roots import asked_roots, index_of_moved_folder
from semsearch.maintenance.index_folders import missing_folders, remove_empty, renew
from semsearch.readers.registry import is_readable
from semsearch.results.omissions import endings_in_words
from semsearch.results.reports import SyncReport
from semsearch.sources.roots import Root
from semsearch.sources.walk import HIDDEN, find_files, find_files_at
from semsearch.storage.database import IndexDatabase, has_database, is_index, is_outdated
from semsearch.storage.published import name_of
from semsearch.system.locations import home_folder, local_path, uri_scheme, working_folder

NOTHING_INDEXED = 2


@dataclass(frozen=True, slots=True, kw_only=True)
class ReadingOptions:
    """Which files are read, and how."""

    include: Annotated[
        list[str] | None, typer.Option(metavar="GLOB", help="Only these files ('*.md', 'guide/**'). Repeatable.")
    ] = None
    exclude: Annotated[
        list[str] | None, typer.Option(metavar="GLOB", help="Not these files, as in .semsearchignore. Repeatable.")
    ] = None
    hidden: Annotated[bool, typer.Option("--hidden", help="Also files and folders whose names begin with a dot.")] = (
        False
    )
    prune: Annotated[bool, typer.Option("--prune", help="Remove folders that are gone or empty.")] = False
    text_columns: Annotated[
        list[str] | None, options.in_columns(metavar="NAME,...", help="Search only these columns; *: all.")
    ] = None
    metadata_columns: Annotated[
        list[str] | None, options.in_columns(metavar="NAME,...", help="Keep these columns as metadata, for --filter.")
    ] = None
    max_file_size: options.MaxFileSizeOption = 100
    processes: options.ProcessesOption = 0
    cluster: options.ClusterOption = None

    @property
    def excluded(self) -> tuple[str, ...]:
        """The patterns of --exclude, with that of --hidden."""
        return (*(self.exclude or ()), *((HIDDEN,) if self.hidden else ()))

    def arguments(self) -> dict[str, Any]:
        """These options as arguments of `Index.sync`. Raises UsageError."""
        return {
            "include": self.include or (),
            "exclude": self.excluded,
            "text_columns": _names(self.text_columns),
            "metadata_columns": _names(self.metadata_columns),
            "prune": self.prune,
            "max_file_bytes": options.bytes_of(self.max_file_size),
            "processes": self.processes,
            "cluster": self.cluster,
        }


def _names(values: Sequence[str] | None) -> list[str]:
    """The names of columns, several of them separated by commas."""
    return [name.strip() for names in values or () for name in names.split(",") if name.strip()]


@options.with_options("settings", IndexSettings)
@options.with_options("reading", ReadingOptions)
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
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="List what would be read, and what is left out by which rule.")
    ] = False,
    refit: Annotated[bool, typer.Option("--refit", help="Fit the embedding to the current text.")] = False,
    rebuild: Annotated[bool, typer.Option("--rebuild", help="Rebuild from the stored text and new settings.")] = False,
    json: Annotated[bool, typer.Option("--json", help="Print the report as JSON.")] = False,
    quiet: options.QuietOption = False,
    indexes: options.IndexesOption = None,
    reading: ReadingOptions,
    settings: IndexSettings,
) -> None:
    """Index files and folders, or bring an index up to date.

    A repeated run processes only files that were added, changed, moved or removed. Files that .gitignore or
    .semsearchignore names are left out. Exit status: 0, or 2 if nothing could be indexed.
    """
    keep_warnings()
    local_paths = [local_path(path) for path in paths or ()]
    target = target_of(local_paths, only_one(index), indexes)
    if dry_run:
        _print_plan(target, local_paths, reading, json=json)
        return
    run = _Run(target, local_paths, reading, settings, rebuild=rebuild, refit=refit)
    report = run.carry_out(quiet=quiet or json)
    if json:
        print(to_json({"index": str(target.folder), **report.to_dict()}))
    elif not quiet:
        _print_report(target, report, local_paths, is_place_chosen=indexes is not None)
    seen = report.added + report.changed + report.moved + report.removed + report.unchanged
    if not seen and (report.not_read or report.skipped or report.warnings):
        raise typer.Exit(NOTHING_INDEXED)


@dataclass(frozen=True, slots=True)
class _Run:
    """A run on one index."""

    target: IndexTarget
    paths: Sequence[str]
    reading: ReadingOptions
    settings: IndexSettings
    rebuild: bool = False
    refit: bool = False

    def carry_out(self, *, quiet: bool) -> SyncReport:
        """Make the index, or bring it up to date. Raises SourceError when there is nothing for a new index."""
        target = self.target
        with stopping_as_interrupted(), target.opened(self.settings, rebuild=self.rebuild) as opened:
            report = self._write(opened, quiet=quiet)
            if target.is_new and not report.added:
                report_sync(replace(report, warnings=()))  # the warnings are in the error
                raise SourceError(self._nothing_to_index(report))
            report_sync(report)
        return report

    def _write(self, opened: Index, *, quiet: bool) -> SyncReport:
        """Rebuild, sync and refit as requested; one report of all."""
        whole: list[SyncReport] = []  # of steps that embed the whole index
        report = SyncReport()
        with sync_progress(quiet=quiet) as show:
            if self.rebuild and not self.target.is_new:
                whole.append(opened.rebuild(**self.settings.chosen(), progress=show))
            with _after("the index was rebuilt" if whole else ""), _resumable(opened.path):
                if self.paths or opened.roots or not self.rebuild:
                    report = opened.sync(*self.paths, **self.reading.arguments(), progress=show)
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

    def _nothing_to_index(self, report: SyncReport) -> str:
        """Explain why a new index would be empty."""
        where = ", ".join(self.paths)
        if report.warnings:
            return f"nothing could be indexed: {'; '.join(report.warnings)}"
        if report.skipped:
            files = "the only file was" if len(report.skipped) == 1 else f"all {len(report.skipped):,} files were"
            return f"nothing could be indexed in {where}: {files} skipped"
        if report.not_read:
            return f"nothing to index in {where}: no reader for its files ({endings_in_words(report.not_read)})"
        if self.reading.include or self.reading.exclude:
            return f"nothing to index in {where}: no file passes --include and --exclude"
        why = index_command("index", *self.paths, "--dry-run")
        return f"nothing to index in {where}: all files are hidden or ignored, or there are none; see: {why}"


def _print_report(
    target: IndexTarget, report: SyncReport, paths: Sequence[str], *, is_place_chosen: bool = False
) -> None:
    print(summary(target.folder, report))
    if report.not_read:
        print(f"not read: {endings_in_words(report.not_read)} (semsearch status --problems lists them)")
    if not target.is_new:
        return
    where, name = Path(os.path.realpath(target.folder)), name_from_anywhere(target.folder)
    print(f'new index in {where}; ask it from anywhere: {index_command("query", "--index", name)} "..."')
    if not is_place_chosen and where.parent == Path(os.path.realpath(users_own())):
        outside = [path for path in paths if folder_for_new([path], None) != HERE]
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
        if not (folder / READING_LOG).exists():
            raise
        raise KeyboardInterrupt(
            f"files read so far are kept; to continue, run: {index_command('index', '--name', folder)}"
        ) from None


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
    folder = _folder_for(paths, name, indexes) if paths else find_index(name, indexes)
    return IndexTarget(folder, is_new=not is_index(folder))


def _folder_for(paths: Sequence[str], name: str | None, indexes: Path | None) -> Path:
    """The index that has the first path as a root, wherever it is, or else the place for a new one."""
    path, known = paths[0], all_indexes(indexes)
    same = [index for index in known if any(covers(root, path) and covers(path, root) for root in roots_of(index))]
    if name is not None:
        near = HERE if indexes is None and HERE.is_dir() else indexes
        named = [index for index in same if index.name == name]
        return folder_of(name, near) or (named[0] if named else folder_to_make(name, paths, indexes))
    name = _name_for(path)
    new = folder_for_new(paths, indexes) / name
    of_name = [index for index in same if index.name == name]
    if of_name or len(same) == 1:
        return (of_name or same)[0]
    if same:
        raise UsageError(
            f"{len(same)} indexes are of {path}: {', '.join(map(shown, same))}; choose one: --name {shown(same[0])}"
        )
    if is_index(new) and (roots := roots_of(new)):
        raise UsageError(
            f"{new} is an index of other folders, {', '.join(map(from_here, roots))}; pass --name {name} to add "
            f"{path} to it, or another name for an index of its own"
        )
    moved = None if has_database(new) or uri_scheme(path) else index_of_moved_folder(Path(path), known)
    if moved is None or os.path.realpath(moved.parent) == os.path.realpath(new.parent):
        return moved or new
    story = f"{shown(moved)} is an index of {', '.join(map(from_here, roots_of(moved)))}, where the same files were"
    if ask_on_terminal(f"{story}. Continue that index?", default=False):
        return moved
    complain(f"{story}; to continue that index, run: {index_command('index', path, '--name', moved)}")
    return new


def _name_for(path: str) -> str:
    """The name for an index of a path, or of a folder or object in a store, as `name_for` has it."""
    if not uri_scheme(path):
        return name_for(Path(path))
    name = name_of(path)
    return PurePosixPath(name).stem if is_readable(name) else name


@contextmanager
def _made(folder: Path, settings: IndexSettings) -> Iterator[Index]:
    """Create an index, and remove it again if it could not be filled.

    It stays if another process fills it meanwhile, or if it was interrupted: then it has its roots.
    """
    folders = missing_folders(folder.parent)
    try:
        with Index.create(folder, **{**configuration_of().of("settings"), **settings.chosen()}) as opened:
            try:
                yield opened
            except IndexLocked:
                raise
            except BaseException as error:
                if not (isinstance(error, KeyboardInterrupt) and opened.roots):
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


# -- What would be read ------------------------------------------------------------------------------------------------


def _print_plan(target: IndexTarget, paths: Sequence[str], reading: ReadingOptions, *, json: bool) -> None:
    """Print which files would be read, and what is left out by which rule."""
    read, limit = list[tuple[str, int]](), options.bytes_of(reading.max_file_size)
    not_read: dict[str, str] = {}

    def leave_out(path: str, reason: str) -> None:
        not_read[from_here(path) + "/" * path.endswith("/")] = reason.removeprefix(f"{working_folder()}/")

    for root, parts in _roots_to_read(target, paths, reading):
        where: dict[str, Any] = {"include": root.include, "exclude": root.exclude, "skipped": leave_out}
        where["left_out"] = leave_out
        files = find_files_at(Path(root.path), parts, **where) if parts else find_files(Path(root.path), **where)
        for file in present_files(root, files):
            reason = "" if file.is_known else why_refused(file, limit)
            if file.is_known and file.size > limit:
                reason = f"{file.size:,} bytes, more than the limit of {limit:,}"
            if reason:
                leave_out(file.absolute, reason)
            else:
                read.append((from_here(file.absolute), file.size))
    total = sum(file_size for _, file_size in read)
    if json:
        left_out = [{"path": path, "reason": reason} for path, reason in not_read.items()]
        files_read = [{"path": path, "bytes": file_size} for path, file_size in read]
        print(to_json({"index": str(target.folder), "read": files_read, "left_out": left_out}))
        return
    for path, file_size in read:
        print(f"read      {path}  ({size(file_size)})")
    for path, reason in not_read.items():
        print(f"left out  {path}  ({reason})")
    print(f"{count(len(read), 'file')} ({size(total)}) would be read into {target.folder}; {len(not_read):,} left out")


def _roots_to_read(
    target: IndexTarget, paths: Sequence[str], reading: ReadingOptions
) -> Iterator[tuple[Root, Sequence[str]]]:
    """The roots that a run would read, each with the parts of it, none for all of it."""
    if any(map(uri_scheme, paths)):
        raise UsageError("--dry-run works with files of this machine only")
    if target.is_new:
        for path in paths:
            root = Root(-1, Path(path).resolve().as_posix(), Path(path).is_file())
            yield replace(root, include=tuple(reading.include or ()), exclude=reading.excluded), ()
        return
    with closing(IndexDatabase(target.folder)) as database, database.reading() as db:
        plan = asked_roots(db, paths, include=reading.include or (), exclude=reading.excluded)
    for root in plan.wanted:
        if not root.is_remote:
            yield root, ()
    for part in plan.parts:
        yield part.root, [part.path]


# -- The first question ------------------------------------------------------------------------------------------------

_MOST_COUNTED = 2.0  # seconds


def index_for_question(indexes: Path | None, vectors: str | None, *, first: bool) -> Path:
    """Index the current folder, which has no index, if the user wants it (`first`: without asking).

    Raises IndexNotFound otherwise, with the command; UsageError for the home folder and the root of the disk, which
    are never indexed without asking.
    """
    here = working_folder()
    is_whole = os.path.realpath(here) in (os.path.realpath(home_folder()), here.anchor)
    if is_whole and first:
        raise UsageError(f"--index-first does not index all of {here}; name a folder: semsearch index FOLDER")
    if not first:
        files = _readable_files(here)
        question = f"No index of this folder. Index {files}?"
        if not (files and ask_on_terminal(question, default=not is_whole)):
            advice = (
                f"to index {files}, run: semsearch index . (or add --index-first)" if files else "nor readable files"
            )
            raise IndexNotFound(f"no index of this folder; {advice}")
    target = target_of(["."], None, indexes)
    run = _Run(target, ["."], ReadingOptions(), IndexSettings(vectors=vectors))
    report = run.carry_out(quiet=False)
    complain(summary(target.folder, report))
    return target.folder


def _readable_files(folder: Path) -> str:
    """How many files of a folder would be indexed: `231 files (14 MB)`; empty for none."""
    number, total, end = 0, 0, time.monotonic() + _MOST_COUNTED
    for file in find_files(folder, skipped=lambda *_: None):
        if is_readable(file.absolute):
            number, total = number + 1, total + file.size
        if time.monotonic() > end:
            return f"more than {count(number, 'file')} ({size(total)})"
    return f"{count(number, 'file')} ({size(total)})" if number else ""
