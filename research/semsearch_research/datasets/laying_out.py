"""Lay out a folder of data: find the releases, make the files that the experiments take, say what is there.

    sts/           2012.MSRpar.test.tsv ..., stsb.test.tsv, sick.test.tsv    score TAB sentence TAB sentence [TAB label]
    supervised/    sentiment-train ..., snli.train.tsv ..., imdb.train.tsv ...
    paraphrase/    msrp_groups3.tsv, opinosis_groups.tsv
    frequencies/   enwiki_vocab_min200.txt
    vectors/       files of word vectors, as they are

A file that is there is never written over, and one that is written is whole or absent.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import partial
from pathlib import Path

from semsearch.errors import SourceError, StorageError
from semsearch.evaluate.file_lines import numbered_lines
from semsearch.system.durable import Write, write_durably
from semsearch_research.datasets.data_report import DataReport, DatasetState, State
from semsearch_research.datasets.known import DATASETS, KnownDataset, KnownFile, known_files
from semsearch_research.datasets.labelled_texts import Imdb, SentimentTrees, Snli
from semsearch_research.datasets.made import Made, Release, Sum, content
from semsearch_research.datasets.msrp import Msrp
from semsearch_research.datasets.originals import UNREADABLE, originals
from semsearch_research.datasets.pair_files import AsLaidOut, Sick, StsBenchmark
from semsearch_research.datasets.semeval import SemEval
from semsearch_research.datasets.twitter import Twitter
from semsearch_research.datasets.vector_files import FOLDER, VectorFiles, described
from semsearch_research.evaluate.inputs import Progress, check_several

_OF_DATASETS: Mapping[str, Callable[[], Release]] = {
    "STS Benchmark": StsBenchmark,
    "SICK": Sick,
    "Twitter'15": Twitter,
    "MSRP": Msrp,
    "SST": SentimentTrees,
    "SNLI": Snli,
    "IMDB": Imdb,
}
_LAID_OUT = (*sorted({path.partition("/")[0] for path in known_files()}), FOLDER)


def lay_out_data(
    folder: str | Path, *, sources: Sequence[str | Path] = (), progress: Progress | None = None
) -> DataReport:
    """Make the files of a folder of data from the releases in `sources`: folders, archives and files.

    Without sources the releases may lie in the folder itself. Raises SourceError if a source is not there,
    StorageError if a file cannot be written. What cannot be read is in the report's `problems`.
    """
    folder = Path(folder)
    if sources:
        check_several(sources=sources)
    given = [Path(source) for source in sources] or [folder]
    if missing := [path for path in given if not path.exists()]:
        raise SourceError(
            f"there is no {missing[0]}; give a folder or an archive that the releases are in, with --from"
        )
    if folder.exists() and not folder.is_dir():
        raise SourceError(f"{folder} is a file; name the folder that the data are to be laid out in")
    sums = _sums(folder)
    vectors = VectorFiles(folder)
    try:
        made, unread = _made(folder, given, [*_releases(sums), vectors], progress)
        written, kept = _write(folder, made, sums)
    except OSError as error:
        raise StorageError(f"{error.filename or folder} cannot be written: {error.strerror or error}") from error
    sums |= written
    states = tuple(_state(dataset, sums) for dataset in DATASETS)
    return DataReport(str(folder), states, tuple(described(folder)), (*written, *vectors.written), (*unread, *kept))


def _sums(folder: Path) -> dict[str, Sum]:
    """The sums of the known files that are there, by path."""
    found = {}
    for path in known_files():
        if (folder / path).is_file():
            found[path] = content(path, (line.text for line in numbered_lines(folder / path)))
    return found


class _Wanted:
    """Tells which names are wanted, and remembers in which sources there was any that is known, wanted or not."""

    def __init__(self, sources: Sequence[Path], wanted: Sequence[Release], known: Sequence[Release]) -> None:
        self.unseen = list(sources)
        self._wanted, self._known = wanted, known

    def __call__(self, name: str) -> bool:
        if self.unseen and any(release.wants(name) for release in self._known):
            self.unseen = [source for source in self.unseen if not name.startswith(source.as_posix())]
        return any(release.wants(name) for release in self._wanted)


def _made(
    folder: Path, sources: Sequence[Path], releases: Sequence[Release], progress: Progress | None
) -> tuple[list[Made], list[str]]:
    """The files that releases make of what is in the sources; and what could not be read or used, and why."""
    problems: list[str] = []
    wanted = _Wanted(sources, releases, [*_releases({}), VectorFiles(folder / FOLDER / FOLDER)])
    leave = {(folder / name).resolve() for name in _LAID_OUT}
    if folder.resolve() not in {source.resolve() for source in sources}:
        leave.add(folder.resolve())
    for original in originals(
        sources,
        wants=wanted,
        leave=leave,
        refused=lambda name, error: problems.append(_told(name, error)),
        looked_at=lambda name: progress(name, 0, 0) if progress is not None else None,
    ):
        try:
            next(release for release in releases if release.wants(original.name)).take(original)
        except UNREADABLE as error:
            problems.append(_told(original.name, error))
    if sources != [folder]:
        told = tuple(problems)
        problems += [
            _unknown(one) for one in wanted.unseen if not any(each.startswith(one.as_posix()) for each in told)
        ]
    made: list[Made] = []
    for one in (one for release in releases for one in release.made()):
        if isinstance(one, str):
            problems.append(one)
        else:
            made.append(one)
    return made, problems


def _unknown(source: Path) -> str:
    return f"{source}: nothing in it has a name that is known; the guide has the names (research/docs/experiments.md)"


def _releases(sums: Mapping[str, Sum]) -> list[Release]:
    """The releases that may give what is not there, or is not what is known of it."""
    lacking = {one.dataset for one in known_files().values() if one.need != "instead" and not _is_whole(one, sums)}
    found = [make() for name, make in _OF_DATASETS.items() if name in lacking]
    return [AsLaidOut(), *([SemEval()] if any(name.startswith("STS 2") for name in lacking) else []), *found]


def _write(folder: Path, made: Iterable[Made], there: Mapping[str, Sum]) -> tuple[dict[str, Sum], list[str]]:
    """Write what is not there; of several files of one path, that which is known. Return the sums, and what differs."""
    best: dict[str, tuple[Made, Sum]] = {}
    for one in made:
        found = content(one.path, one.lines)
        if one.path not in best or _is_whole(known_files()[one.path], {one.path: found}):
            best[one.path] = one, found
    written, kept = dict[str, Sum](), list[str]()
    for path, (one, found) in sorted(best.items()):
        if path not in there:
            (folder / path).parent.mkdir(parents=True, exist_ok=True)
            write_durably(folder / path, partial(_lines_into, one.lines))
            written[path] = found
        elif there[path] != found:
            kept.append(
                f"{folder / path} is there, and is not what {one.origin} gives; it is left as it is: delete it to "
                "have it made anew"
            )
    return written, kept


def _lines_into(lines: Sequence[str], write: Write) -> None:
    write("".join(f"{line}\n" for line in lines).encode())


def _is_whole(known: KnownFile, sums: Mapping[str, Sum]) -> bool:
    found = sums.get(known.path)
    return found is not None and found.rows == known.rows and known.digest in ("", found.digest)


def _state(dataset: KnownDataset, sums: Mapping[str, Sum]) -> DatasetState:
    needed = [one for one in dataset.files if one.need == "needed"]
    instead = [one for one in dataset.files if one.need == "instead"]
    needed = needed or [one for one in dataset.files if one.need == "optional"]
    if instead and not any(one.path in sums for one in needed) and any(one.path in sums for one in instead):
        needed = instead
    missing = tuple(one.path for one in needed if one.path not in sums)
    other = tuple(_other(one, sums[one.path]) for one in dataset.files if one.path in sums and not _is_whole(one, sums))
    there = sum(_is_whole(one, sums) for one in needed)
    state: State = "complete" if there == len(needed) else "missing" if len(missing) == len(needed) else "in part"
    return DatasetState(dataset.name, state, there, len(needed), missing, other, dataset.costs, dataset.home)


def _other(known: KnownFile, found: Sum) -> str:
    if found.rows != known.rows:
        return f"{known.path} has {found.rows:,} lines that count, not {known.rows:,}"
    return f"{known.path} has {found.rows:,} lines as expected, but its sum is {found.digest}, not {known.digest}"


def _told(name: str, error: BaseException) -> str:
    text = str(error) or type(error).__name__
    return text if text.startswith(name) else f"{name}: {text}"
