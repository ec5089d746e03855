"""`semsearch index`: make an index, or bring it up to date."""

from __future__ import annotations

import contextlib
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, fields, replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from semsearch.cli.formats import to_json
from semsearch.cli.messages import complain, keep_warnings, warn
from semsearch.cli.naming import INDEXES, find_index, index_places, name_for, only_one, place_of
from semsearch.cli.options import IndexesOption, QuietOption, VectorsOption
from semsearch.cli.progress import sync_progress
from semsearch.cli.startup import use_one_thread
from semsearch.cli.sync_summary import covers, nothing_to_index, summary, tell
from semsearch.embedding.methods import MethodName, Unknown
from semsearch.errors import IndexLocked, SourceError, UsageError, rebuild_command
from semsearch.results.reports import SyncReport
from semsearch.storage.database import is_index

if TYPE_CHECKING:
    from semsearch.index import Index

NOTHING_INDEXED = 2


@dataclass(frozen=True, slots=True)
class Choices:
    """How an index shall embed and scan, as far as the user says."""

    vectors: str | None
    method: str | None
    a: float | None
    components: int | None
    frequencies: str | None
    adapt: bool | None
    unknown: str | None
    exact: bool | None
    target_recall: float | None
    factory: str | None

    def given(self) -> dict[str, Any]:
        """The arguments of `Index.create` and `Index.rebuild`."""
        return {field.name: value for field in fields(self) if (value := getattr(self, field.name)) is not None}

    def check(self, index: Index) -> None:
        """Raises UsageError where the index was made otherwise: only a rebuild changes that."""
        for name, value in self.given().items():
            built = getattr(index.settings, name)
            if name == "frequencies" and value not in ("vectors", "corpus", "mixed"):
                value = str(Path(value).resolve())
            if name != "vectors" and value != built:
                built = "its default" if built is None else built
                raise UsageError(
                    f"{index.path} was built with {name} {built}, not {value}; to change that: "
                    + rebuild_command(index.path, *_option(name, value))
                )


def _option(name: str, value: object) -> list[str]:
    """An argument as the command line has it."""
    option = name.replace("_", "-")
    return [f"--{option}" if value else f"--no-{option}"] if isinstance(value, bool) else [f"--{option}", str(value)]


def index(
    paths: Annotated[
        list[str] | None,
        typer.Argument(metavar="[PATH]...", help="Files and folders. Without any: all that the index knows already."),
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
        list[str] | None, typer.Option(metavar="GLOB", help="No such files. So too what .semsearchignore says.")
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
        typer.Option("--adapt/--no-adapt", help="Learn from the text which of its words go together; so by default."),
    ] = None,
    unknown: Annotated[
        Unknown | None,
        typer.Option(help="What speaks for unknown words: nothing, their pieces, or besides (so by default) contexts."),
    ] = None,
    exact: Annotated[
        bool | None,
        typer.Option("--exact/--no-exact", help="Compare every passage, however many. So by default with few."),
    ] = None,
    target_recall: Annotated[
        float | None, typer.Option(metavar="SHARE", help="Of the ten best, how many a search of many finds: 0.95.")
    ] = None,
    factory: Annotated[
        str | None, typer.Option(metavar="TYPE", help="The index type, as FAISS calls it: IVF4096,SQ8.")
    ] = None,
    vectors: VectorsOption = None,
    rebuild: Annotated[
        bool, typer.Option("--rebuild", help="Make everything anew from the stored text, with other settings if given.")
    ] = False,
    refit: Annotated[bool, typer.Option("--refit", help="Fit to what the index holds now.")] = False,
    max_file_size: Annotated[
        float, typer.Option(metavar="MB", min=0, help="Larger files are skipped, and reported.")
    ] = 100,
    processes: Annotated[
        int, typer.Option(metavar="N", min=0, help="Processes that read files; by default as many as are useful.")
    ] = 0,
    json: Annotated[bool, typer.Option("--json", help="Report as JSON.")] = False,
    quiet: QuietOption = False,
) -> None:
    """Index files and folders, or bring an index up to date.

    Run again, only what was added, changed, moved or removed costs anything. What .gitignore and .semsearchignore name
    is left out. Exit status: 0, or 2 when nothing could be indexed.
    """
    keep_warnings()
    use_one_thread()  # two that take turns on a busy machine are slower than one
    max_bytes = _bytes(max_file_size)
    choices = Choices(vectors, method, a, components, frequencies, adapt, unknown, exact, target_recall, factory)
    given = paths or []
    named = only_one(index)
    place = _place(given, named, indexes)
    is_new = not is_index(place)
    with _made(place, choices) if is_new else _found(place, choices, rebuild=rebuild) as opened:
        roots = opened.roots
        if named is None and given and roots and not _are_known(given, roots):
            warn(f"adding to the index {place}, which is of {', '.join(roots)}; --name makes another")
        with sync_progress(quiet=quiet or json) as report:
            whole: list[SyncReport] = []  # of what embeds all that the index holds
            if rebuild and not is_new:
                whole.append(opened.rebuild(**choices.given(), progress=report))
            done = SyncReport()
            if given or roots or not rebuild:
                done = opened.sync(
                    *given,
                    include=include or (),
                    exclude=exclude or (),
                    prune=prune,
                    max_file_bytes=max_bytes,
                    processes=processes,
                    progress=report,
                )
            if refit and not done.refitted:
                whole.append(opened.refit(progress=report))
        done = replace(_together(done, whole), refitted=done.refitted or refit or rebuild)
        if is_new and not done.added:
            tell(replace(done, warnings=()))  # they are the reason
            raise SourceError(nothing_to_index(given, done, chosen=bool(include or exclude)))
        tell(done)
    if json:
        print(to_json({"index": str(place), **done.to_dict()}))
    elif not quiet:
        print(summary(place, done))
        if is_new and sys.stderr.isatty():
            which = "" if len(index_places(indexes)) == 1 else f" --index {place.name}"
            complain(f'ask it with: semsearch query "..."{which}')
    seen = done.added + done.changed + done.moved + done.removed + done.unchanged
    if not seen and (done.skipped or done.warnings):
        raise typer.Exit(NOTHING_INDEXED)


def _together(done: SyncReport, others: Sequence[SyncReport]) -> SyncReport:
    """What a sync did, with what was written and how long it took in all."""
    reports = [done, *others]
    return replace(
        done,
        passages=sum(report.passages for report in reports),
        sentences=sum(report.sentences for report in reports),
        seconds=sum(report.seconds for report in reports),
    )


def _bytes(megabytes: float) -> int:
    size = megabytes * 1_000_000
    if not 0 <= size < float("inf"):
        raise UsageError(f"--max-file-size must be a number of megabytes, not {megabytes}; 100 is usual")
    return int(size)


def _are_known(paths: Sequence[str], roots: Sequence[str]) -> bool:
    return any(covers(root, path) or covers(path, root) for root in roots for path in paths)


def _place(paths: Sequence[str], named: str | None, indexes: Path) -> Path:
    """The folder of the index to make or to bring up to date."""
    if named is not None:
        return place_of(named, indexes) if paths else find_index(named, indexes)
    return indexes / name_for(Path(paths[0])) if paths else find_index(None, indexes)


@contextmanager
def _made(place: Path, choices: Choices) -> Iterator[Index]:
    """A new index, of which nothing is left if it could not be filled: unless another process fills it meanwhile."""
    from semsearch.index import Index  # start-up time

    is_first = not place.parent.exists()
    try:
        with Index.create(place, **choices.given()) as opened:
            try:
                yield opened
            except IndexLocked:
                raise
            except BaseException:
                opened.discard()
                raise
    except BaseException:
        if is_first:
            with contextlib.suppress(OSError):
                place.parent.rmdir()  # where it is empty
        raise


@contextmanager
def _found(place: Path, choices: Choices, *, rebuild: bool) -> Iterator[Index]:
    """An index that is there, made as the user says."""
    from semsearch.index import Index  # start-up time

    with Index.open(place, vectors=None if rebuild else choices.vectors) as opened:
        if not rebuild:
            choices.check(opened)
        yield opened
