"""Lay out a folder of data: find the releases, make the files that the experiments take, say what is there.

    sts/           2012.MSRpar.test.tsv ..., stsb.test.tsv, sick.test.tsv    score TAB sentence TAB sentence [TAB label]
    supervised/    sentiment-train ..., snli.train.tsv ..., imdb.train.tsv ...
    paraphrase/    msrp_groups3.tsv, opinosis_groups.tsv
    frequencies/   enwiki_vocab_min200.txt
    vectors/       files of word vectors, as they are

Releases lie in folders, in zip and tar archives, or packed by gzip, bzip2 or xz. A file that is there is never written
over, and one that is written is whole or absent.
"""

from __future__ import annotations

import bz2
import gzip
import lzma
import os
import re
import shutil
import tarfile
import zipfile
import zlib
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import IO, Any, Literal

from semsearch.errors import SourceError, StorageError, VectorsError
from semsearch.results.codec import Record
from semsearch.system.durable import Write, write_durably
from semsearch_research.datasets.known import DATASETS, KnownDataset, known_files
from semsearch_research.datasets.releases import RELEASES, Release
from semsearch_research.evaluate.inputs import Progress
from semsearch_research.evaluate.table import NONE, Block, Table
from semsearch_research.word_tables.vector_formats import identify

State = Literal["complete", "in part", "missing"]
VECTORS = "vectors"
_VECTOR_NAMES = re.compile(
    r"(?:.*/)?((glove|paragram|psl|paranmt|word2vec|fasttext|googlenews|wiki-news|crawl-300d)[\w.+-]*\.(txt|vec|bin)"
    r"|[\w.+-]+\.vec)",
    re.IGNORECASE,
)
_UNPACK: dict[str, Callable[..., Any]] = {".gz": gzip.open, ".bz2": bz2.open, ".xz": lzma.open}
_TARS = re.compile(r".*\.(tar|tgz|tbz2|txz|tar\.(gz|bz2|xz))", re.IGNORECASE)
_UNREADABLE = (
    *(OSError, EOFError, UnicodeError, ValueError, RuntimeError, NotImplementedError),
    *(zlib.error, lzma.LZMAError, zipfile.BadZipFile, tarfile.TarError, SourceError, VectorsError),
)


@dataclass(frozen=True, slots=True)
class DatasetState(Record):
    """A data set in a folder."""

    name: str
    state: State
    there: int  # files that are there
    of: int  # files that the papers' experiments need
    missing: tuple[str, ...]  # paths of files that are needed
    costs: str  # what cannot be run without it
    home: str  # where its owner describes it


@dataclass(frozen=True, slots=True)
class DataReport(Record):
    """What was found in a folder of data, and what was written into it."""

    folder: str
    datasets: tuple[DatasetState, ...]
    vectors: tuple[str, ...]  # names of files of word vectors
    written: tuple[str, ...]  # paths of files that were written this time
    problems: tuple[str, ...]  # originals that could not be read or used, and why


def lay_out_data(
    folder: str | Path, *, sources: Sequence[str | Path] = (), progress: Progress | None = None
) -> DataReport:
    """Make the files of a folder of data from the releases in `sources`: folders, archives and files.

    Without sources the releases may lie in the folder itself. Raises SourceError if a source is not there,
    StorageError if a file cannot be written. What cannot be read is in the report's `problems`.
    """
    folder = Path(folder)
    paths = [Path(source) for source in sources] or [folder]
    if missing := [path for path in paths if not path.exists()]:
        raise SourceError(
            f"there is no {missing[0]}; give a folder or an archive that the releases are in, with --from"
        )
    if folder.exists() and not folder.is_dir():
        raise SourceError(f"{folder} is a file; name the folder that the data are to be laid out in")
    maker = _Maker(folder)
    for path in paths:
        before = maker.seen
        for original in _originals(path, folder, maker.problems):
            if progress is not None:
                progress(original.name, 0, 0)
            maker.take(original)
        if sources and maker.seen == before and not any(path.as_posix() in problem for problem in maker.problems):
            maker.problems.append(
                f"{path}: nothing in it has a name that is known; research/docs/experiments.md has the names"
            )
    try:
        maker.finish()
    except OSError as error:
        raise StorageError(f"{error.filename or folder} cannot be written: {error.strerror or error}") from error
    vectors = tuple(sorted(path.name for path in (folder / VECTORS).glob("*") if _VECTOR_NAMES.fullmatch(path.name)))
    states = tuple(_state(dataset, folder) for dataset in DATASETS)
    return DataReport(str(folder), states, vectors, tuple(sorted(maker.written)), tuple(maker.problems))


# -- Originals ---------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class _Original:
    """A file of a release, to be read until the next one is asked for. In an archive, its name begins with that's."""

    name: str
    stream: IO[bytes]

    def lines(self) -> Iterator[tuple[int, str]]:
        """Yield the lines with their numbers. Raises SourceError if one is not UTF-8."""
        for number, line in enumerate(self.stream, 1):
            try:
                yield number, line.decode("utf-8-sig" if number == 1 else "utf-8").rstrip("\r\n")
            except UnicodeDecodeError as error:
                raise SourceError(f"{self.name}, line {number}: this is not UTF-8; convert the file") from error


def _originals(path: Path, folder: Path, problems: list[str]) -> Iterator[_Original]:
    """The files below a path, and in archives there, but for those that were laid out in a folder."""
    laid_out = {(folder / name).resolve() for name in (*{path.partition("/")[0] for path in known_files()}, VECTORS)}
    if path.resolve() != folder.resolve():
        laid_out.add(folder.resolve())
    for file in [path] if path.is_file() else _files(path, laid_out):
        try:
            yield from _inside(file)
        except _UNREADABLE as error:
            problems.append(_said(file.as_posix(), error))


def _files(path: Path, left_out: set[Path]) -> Iterator[Path]:
    for at, folders, names in os.walk(path):
        folders[:] = sorted(name for name in folders if (Path(at) / name).resolve() not in left_out)
        yield from (Path(at) / name for name in sorted(names))


def _inside(file: Path) -> Iterator[_Original]:
    name = file.as_posix()
    if file.suffix.lower() == ".zip":
        with zipfile.ZipFile(file) as archive:
            for entry in archive.infolist():
                if not entry.is_dir() and _is_known(entry.filename):
                    with archive.open(entry) as stream:
                        yield _Original(f"{name}/{entry.filename}", stream)
    elif _TARS.fullmatch(name):
        with tarfile.open(file, "r:*") as tar:
            for member in tar:
                if member.isreg() and _is_known(member.name) and (content := tar.extractfile(member)) is not None:
                    yield _Original(f"{name}/{member.name}", content)
    elif (unpack := _UNPACK.get(file.suffix.lower())) is not None:
        if _is_known(name.removesuffix(file.suffix)):
            with unpack(file, "rb") as stream:
                yield _Original(name.removesuffix(file.suffix), stream)
    elif _is_known(name):
        with file.open("rb") as stream:
            yield _Original(name, stream)


def _is_known(name: str) -> bool:
    return _VECTOR_NAMES.fullmatch(name) is not None or any(release.names.fullmatch(name) for release in RELEASES)


# -- What is made of them ----------------------------------------------------------------------------------------------


class _Maker:
    """Gathers the items of releases, and writes those files that a folder lacks."""

    def __init__(self, folder: Path) -> None:
        self.problems: list[str] = []
        self.written: list[str] = []
        self.seen = 0  # originals
        self._folder = folder
        self._items: list[dict[Any, list[Any]]] = [{} for _ in RELEASES]

    def take(self, original: _Original) -> None:
        """Read an original."""
        self.seen += 1
        try:
            if (vectors := _VECTOR_NAMES.fullmatch(original.name)) is not None:
                self._copy(original, f"{VECTORS}/{vectors[1]}")
                return
            matches = ((release, items, release.names.fullmatch(original.name)) for release, items in self._pairs())
            release, known, match = next(found for found in matches if found[2] is not None)
            items: dict[Any, list[Any]] = {}
            for key, item in release.read(match, original.lines()) if match else ():
                items.setdefault(key, []).append(item)
            for key in items.keys() - known.keys():
                known[key] = items[key]
        except _UNREADABLE as error:
            self.problems.append(_said(original.name, error))

    def finish(self) -> None:
        """Write what the folder lacks. Raises OSError."""
        for release, items in self._pairs():
            for finished in release.finish(items) if items else ():
                if isinstance(finished, str):
                    self.problems.append(finished)
                    continue
                path, rows = finished
                if not (self._folder / path).exists():
                    (self._folder / path).parent.mkdir(parents=True, exist_ok=True)
                    data = "".join(f"{row}\n" for row in rows).encode()
                    write_durably(self._folder / path, partial(_write, data))
                    self.written.append(path)

    def _pairs(self) -> Iterator[tuple[Release, dict[Any, list[Any]]]]:
        return zip(RELEASES, self._items, strict=True)

    def _copy(self, original: _Original, path: str) -> None:
        """Copy word vectors, which are the largest of all and are not read into memory."""
        target = self._folder / path
        if target.exists():
            return
        target.parent.mkdir(parents=True, exist_ok=True)
        temporary = target.with_name(f"{target.name}.tmp")
        try:
            with temporary.open("wb") as file:
                shutil.copyfileobj(original.stream, file, 1 << 20)
            identify(temporary)
            temporary.replace(target)
        finally:
            temporary.unlink(missing_ok=True)
        self.written.append(path)


def _write(data: bytes, write: Write) -> None:
    write(data)


def _said(name: str, error: BaseException) -> str:
    text = str(error) or type(error).__name__
    return text if text.startswith(name) else f"{name}: {text}"


# -- What is there -----------------------------------------------------------------------------------------------------


def _state(dataset: KnownDataset, folder: Path) -> DatasetState:
    files = {file.path: file.need for file in dataset.files}
    there = {path for path in files if (folder / path).is_file()}
    needed = [path for path, need in files.items() if need == "needed"] or list(files)
    instead = [path for path, need in files.items() if need == "instead"]
    if there and not there & {*needed}:
        needed = instead or needed
    missing = tuple(path for path in needed if path not in there)
    state: State = "complete" if not missing else "missing" if len(missing) == len(needed) else "in part"
    return DatasetState(
        dataset.name, state, len(needed) - len(missing), len(needed), missing, dataset.costs, dataset.home
    )


def tables(report: DataReport) -> Iterator[Block]:
    """A table of data sets; then what is missing, what that costs and where it is described; then what was written."""
    rows = []
    for state in report.datasets:
        missing = ", ".join(path.rpartition("/")[2] for path in state.missing)
        rows.append([state.name, state.state, f"{state.there} of {state.of}", missing])
    yield Table(["data set", "state", "files", "missing"], rows, labels=2)
    lacking = [[state.name, state.costs, state.home] for state in report.datasets if state.state != "complete"]
    if lacking:
        yield Table(["without", "is missing", "described by its owner in"], lacking)
    yield "word vectors: " + ("; ".join(report.vectors) or f"{NONE}; the papers' are GloVe, PSL (Paragram), ParaNMT")
    if report.written:
        yield f"written to {report.folder}: {', '.join(report.written)}"
