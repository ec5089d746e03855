"""Make an index of files or bring it up to date, for `index` and, if the user agrees, for the first query."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path, PurePosixPath
from typing import Annotated, Any

from typer import Option

from semsearch.cli import options
from semsearch.cli.configuration import configuration_of
from semsearch.cli.find_index import (
    all_indexes,
    contains,
    find_index,
    folder_of,
    folder_of_new,
    name_for,
    no_index_message,
    parent_of_new,
    path_argument,
    register_index,
    roots_of,
)
from semsearch.cli.options import SettingsArguments
from semsearch.cli.printing import (
    ask_on_terminal,
    print_stderr,
    relative_path,
    report_sync,
    signals_as_interrupts,
    summary,
)
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
from semsearch.maintenance.index_folders import missing_folders, remove_empty
from semsearch.readers.registry import is_readable
from semsearch.results.reports import SyncReport, endings_in_words
from semsearch.sources.walk import HIDDEN
from semsearch.storage.database import READING_LOG, is_index
from semsearch.storage.published import name_of
from semsearch.system.locations import home_folder, uri_scheme, usable_path, working_folder


@dataclass(frozen=True, slots=True, kw_only=True)
class ReadingOptions:
    """Which files are read, and how."""

    include: Annotated[
        list[str] | None, Option(metavar="GLOB", help="Only these files ('*.md', 'guide/**'). Repeatable.")
    ] = None
    exclude: Annotated[
        list[str] | None, Option(metavar="GLOB", help="Not these files, as in .semsearchignore. Repeatable.")
    ] = None
    hidden: Annotated[bool, Option("--hidden", help="Also files and folders whose names begin with a dot.")] = False
    prune: Annotated[bool, Option("--prune", help="Remove folders that are gone or empty.")] = False
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


def index_paths(
    target: IndexTarget,
    paths: Sequence[str],
    reading: ReadingOptions,
    settings: SettingsArguments,
    *,
    rebuild: bool = False,
    quiet: bool = False,
) -> SyncReport:
    """Make an index, or bring it up to date. Raises SourceError when there is nothing for a new index."""
    with signals_as_interrupts(), opened_target(target, settings, rebuild=rebuild) as opened:
        report = rebuilt = SyncReport()
        if rebuild and not target.is_new:
            rebuilt = replace(opened.rebuild(**settings.chosen(), progress=not quiet), refitted=True)
        try:
            if paths or not rebuild or opened.roots:
                report = opened.sync(*paths, **reading.arguments(), progress=not quiet)
        except SemsearchError as error:
            if rebuilt.refitted:
                error.args = (f"the index was rebuilt; the next step failed: {error}",)
            raise
        except KeyboardInterrupt:
            if not (opened.path / READING_LOG).exists():
                raise
            command = index_command("index", "--name", opened.path)
            raise KeyboardInterrupt(f"files read so far are kept; to continue, run: {command}") from None
        counts = {name: getattr(report, name) + getattr(rebuilt, name) for name in _SUMMED}
        report = replace(report, refitted=report.refitted or rebuilt.refitted, **counts)
        report_sync(report, warnings=not (target.is_new and not report.added))
        if target.is_new and not report.added:
            raise SourceError(_nothing_to_index(report, paths))
    return report


_SUMMED = ("passages", "sentences", "seconds")  # of a rebuild and the sync after it


def _nothing_to_index(report: SyncReport, paths: Sequence[str]) -> str:
    """Why a new index would be empty."""
    if report.warnings:
        return f"nothing could be indexed: {'; '.join(report.warnings)}"
    if report.skipped:
        reason = "its file was skipped" if len(report.skipped) == 1 else "all its files were skipped"
    elif report.not_read:
        reason = f"no reader for its files ({endings_in_words(report.not_read)})"
    else:
        reason = "all files are hidden, ignored or excluded, or there are none"
    return f"nothing to index in {', '.join(paths)}: {reason}; see: {index_command('index', *paths, '--dry-run')}"


# -- Which index it is -------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class IndexTarget:
    """The folder of the index that a run works on."""

    folder: Path
    is_new: bool = False


def target_of(paths: Sequence[str], name: str | None, indexes: Path | None) -> IndexTarget:
    """Find the index of paths, by its name if there is one. Raises IndexNotFound, UsageError."""
    if not paths:
        folder = find_index(name, indexes)
    elif name is not None:
        folder = folder_of(name, indexes) or folder_of_new(name, paths, indexes)
    else:
        folder = _index_of(paths, indexes)
    return IndexTarget(folder, is_new=not is_index(folder))


def _index_of(paths: Sequence[str], indexes: Path | None) -> Path:
    """The folder of the index that has the first path as a root, or else of a new one."""
    path, name = paths[0], _name_for(paths[0])
    new = parent_of_new(paths, indexes) / name
    same = [
        index
        for index in all_indexes(indexes)
        if any(contains(root, path) and contains(path, root) for root in roots_of(index))
    ]
    of_name = [index for index in same if index.name == name]
    if of_name or len(same) == 1:
        return (of_name or same)[0]
    if same:
        folders = [*map(path_argument, same)]
        raise UsageError(f"{len(same)} indexes are of {path}: {', '.join(folders)}; choose one: --name {folders[0]}")
    if is_index(new) and (roots := roots_of(new)):
        moved = index_command("index", path, "--name", new, "--prune")
        raise UsageError(
            f"{new} is an index of other folders, {', '.join(map(relative_path, roots))}; pass --name {name} to add "
            f"{path} to it, or another name for an index of its own; if it was moved here, run: {moved}"
        )
    return new


def _name_for(path: str) -> str:
    """The name for an index of a path, or of a folder or object in a store, as `name_for` has it."""
    if not uri_scheme(path):
        return name_for(usable_path(path))
    name = name_of(path)
    return PurePosixPath(name).stem if is_readable(name) else name


@contextmanager
def opened_target(target: IndexTarget, settings: SettingsArguments, *, rebuild: bool) -> Iterator[Index]:
    """Open or create the index; a new one is deleted again if the block fails, unless another process writes to it, or
    Ctrl-C interrupts after its roots are stored. Raises UsageError if an index has other settings, without `rebuild`.
    """
    folder, folders = target.folder, missing_folders(target.folder.parent)
    try:
        if target.is_new:
            opened = Index.create(folder, **{**configuration_of().of("settings"), **settings.chosen()})
        else:
            opened = Index.open(folder, vectors=None if rebuild else settings.vectors)
        with opened:
            if not target.is_new and not rebuild:
                _check_settings(opened, settings.chosen())
            try:
                yield opened
            except IndexLocked:
                raise
            except BaseException as error:
                if target.is_new and not (isinstance(error, KeyboardInterrupt) and opened.roots):
                    opened.discard()
                raise
        register_index(folder)
    except BaseException:
        remove_empty(folders)
        raise


def _check_settings(index: Index, chosen: dict[str, Any]) -> None:
    """Raise UsageError if an index has other settings, which only a rebuild changes."""
    for name, value in chosen.items():
        built = value if name == "vectors" else getattr(index.settings, name)
        if name == "store":
            value, built = complete(value, index.path.absolute().name) or "faiss:", built or "faiss:"
        if value != built:
            words = ("--store", value) if name == "store" else ("--set", f"{name}={json.dumps(value)}".replace('"', ""))
            raise UsageError(
                f"{index.path} was built with {name} {'its default' if built is None else built}, not {value}; to "
                f"change that: {rebuild_command(index.path, *words)}"
            )


# -- The first question ------------------------------------------------------------------------------------------------


def index_for_question(indexes: Path | None, vectors: str | None, *, confirm: bool) -> Path:
    """Index the current folder, which has no index; with `confirm`, only if the user agrees. Raises IndexNotFound
    otherwise, and for the home folder and the root of the disk.
    """
    folder, message = working_folder(), no_index_message(indexes)
    if os.path.realpath(folder) in (os.path.realpath(home_folder()), folder.anchor):
        raise IndexNotFound(message.replace("semsearch index .", "semsearch index FOLDER"))
    if confirm and not ask_on_terminal("No index of this folder. Index it now?", default=True):
        raise IndexNotFound(f"{message} (or query with --refresh)")
    target = target_of(["."], None, indexes)
    report = index_paths(target, ["."], ReadingOptions(), SettingsArguments(vectors=vectors))
    print_stderr(summary(target.folder, report))
    return target.folder
