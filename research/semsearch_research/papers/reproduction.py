"""Run all experiments of the papers on one folder of data, for `semsearch evaluate report`.

The folder has some of these sub-folders: sts/ (pairs with scores), paraphrase/ (groups), supervised/ (labelled
sentences) and frequencies/ (counts of words). Two experiments train on texts of their own, which must be given.
Experiments whose data are missing are named, and the others are run.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from threadpoolctl import threadpool_info

from semsearch import VectorTable, load_vectors
from semsearch.errors import SourceError, UsageError
from semsearch_research.analysis.sweep import SOURCES, evaluate_sweep
from semsearch_research.analysis.weighing import evaluate_weights
from semsearch_research.cbos.gensim_vectors import check_gensim
from semsearch_research.cbos.word2vec_comparison import evaluate_cbos
from semsearch_research.evaluate.cache import versions
from semsearch_research.evaluate.inputs import Progress
from semsearch_research.evaluate.sts import evaluate_sts
from semsearch_research.evaluate.sts_cosines import VARIANTS
from semsearch_research.papers_report import SEEDS, TRAINED, PapersReport, UsedVectors
from semsearch_research.paraphrase.classification import evaluate_classify
from semsearch_research.paraphrase.groups import read_paraphrases
from semsearch_research.paraphrase.paragraph_vectors import ParagraphSettings
from semsearch_research.supervised.labelled import has_labels, read_labelled
from semsearch_research.supervised.several_seeds import evaluate_supervised

FOLDERS = ("sts", "paraphrase", "supervised", "frequencies")
_DECISIVE = ("semsearch", "numpy", "scipy", "scikit-learn", "gensim")


@dataclass(slots=True)
class PapersData:
    """The data of a reproduction. `missing` are the experiments that were not run, with reasons.

    Raises SourceError if the folder is none, or has none of the data.
    """

    folder: Path
    vectors: Sequence[VectorTable]
    texts: Sequence[Path]
    sentences: int
    seeds: int
    fresh: bool
    missing: dict[str, str] = field(default_factory=dict)

    def __post_init__(self) -> None:
        if not any((self.folder / name).is_dir() for name in FOLDERS):
            what = "has no data" if self.folder.is_dir() else "is no folder"
            expected = ", ".join(f"{name}/" for name in FOLDERS)
            raise SourceError(f"{self.folder} {what}; expected a folder with {expected}")

    @property
    def pairs(self) -> list[Path]:
        """The folder of sentence pairs; empty if there is none."""
        return [path for path in [self.folder / "sts"] if path.is_dir()]

    @property
    def years(self) -> set[str]:
        """The years of the STS tasks that are there, of those that Yuan and Zhang measure on."""
        return {file.name[:4] for file in (self.folder / "sts").glob("20*.tsv")} & {"2012", "2013", "2014", "2015"}

    @property
    def groups(self) -> list[Path]:
        """The files of paraphrase groups."""
        return sorted((self.folder / "paraphrase").glob("*.tsv"))

    @property
    def counts(self) -> list[Path]:
        """The files of word counts."""
        return sorted((self.folder / "frequencies").glob("*.txt"))

    @property
    def labelled(self) -> list[Path]:
        """The folders with labelled sentences."""
        folders = (self.folder / name for name in ("sts", "supervised"))
        return [folder for folder in folders if folder.is_dir() and has_labels(folder)]


# -- The experiments: each gives values for fields of PapersReport -----------------------------------------------------

Found = Mapping[str, Any]


def _sts(data: PapersData, progress: Progress | None) -> Found:
    """All methods with each task's own components; SIF and uSIF with those of all tasks, and with counts, too."""
    options: dict[str, Any] = {"vectors": data.vectors, "keep": True, "fresh": data.fresh, "progress": progress}
    both = ("sif", "usif")
    reports = {
        "sts": evaluate_sts(data.pairs, methods=tuple(VARIANTS), **options),
        "fitted": evaluate_sts(data.pairs, methods=both, fit_on=["task", "corpus"], **options),
    }
    if data.counts:
        reports["on_counts"] = evaluate_sts(data.pairs, methods=both, frequencies=data.counts[0], **options)
    return reports


def _weights(data: PapersData, _: Progress | None) -> Found:
    """With p(w) of the vectors, and of the first file of counts."""
    reports = {"weights": evaluate_weights(vectors=data.vectors[0])}
    if data.counts:
        reports["counted"] = evaluate_weights(vectors=data.vectors[0], frequencies=data.counts[0])
    return reports


def _sweep(data: PapersData, progress: Progress | None) -> Found:
    sources: list[str | Path] = [*SOURCES, *data.counts]
    options: dict[str, Any] = {"vectors": data.vectors, "fresh": data.fresh, "progress": progress}
    return {"sweep": evaluate_sweep(data.pairs, frequencies=sources, **options)}


def _supervised(data: PapersData, progress: Progress | None) -> Found:
    options: dict[str, Any] = {"seeds": data.seeds, "fresh": data.fresh, "progress": progress}
    return {"supervised": evaluate_supervised(data.labelled, vectors=data.vectors[0], **options)}


def _classify(data: PapersData, progress: Progress | None) -> Found:
    if not data.texts:
        data.missing["paragraph vectors"] = "no text to train on was given (--train-text)"
    options: dict[str, Any] = {"fresh": data.fresh, "progress": progress}
    settings = ParagraphSettings(sentences=data.sentences)
    return {
        "classify": evaluate_classify(
            data.groups, vectors=data.vectors[0], train_text=data.texts, paragraphs=settings, **options
        ),
    }


def _cbos(data: PapersData, progress: Progress | None) -> Found:
    options: dict[str, Any] = {"sentences": data.sentences, "seeds": data.seeds, "progress": progress}
    return {"cbos": evaluate_cbos(data.texts, sts=data.pairs, fresh=data.fresh, **options)}


RUNS: dict[str, Callable[[PapersData, Progress | None], Found]] = {  # in the order of the report
    "sts": _sts,
    "weights": _weights,
    "sweep": _sweep,
    "supervised": _supervised,
    "classify": _classify,
    "cbos": _cbos,
}


def _lacking(data: PapersData) -> dict[str, str]:
    """The experiments that the folder has no data for, with the reason."""
    reasons = dict.fromkeys(("sts", "sweep"), "there is no sts/" if not data.pairs else "")
    reasons["supervised"] = "" if data.labelled else "neither sts/ nor supervised/ has labelled sentences"
    reasons["classify"] = "" if data.groups else "there is no paraphrase/ with .tsv files"
    is_ready = data.texts and data.years
    reasons["cbos"] = "" if is_ready else "it needs tasks of STS 2012 to 2015 and a text (--train-text)"
    return {name: reason for name, reason in reasons.items() if reason}


def _check_ready(data: PapersData, names: Sequence[str]) -> None:
    """Check what could fail after minutes of work. Raises SourceError, MissingExtra."""
    if missing := [text for text in data.texts if not text.exists()]:
        raise SourceError(f"there is no {missing[0]}; give a text file to train on")
    if "supervised" in names:
        read_labelled(data.labelled)
    if "classify" in names:
        read_paraphrases(data.groups)
    if data.texts and {"classify", "cbos"} & {*names}:
        check_gensim()


# -- The report --------------------------------------------------------------------------------------------------------


def evaluate_report(
    folder: str | Path,
    *,
    vectors: Sequence[str | Path] = ("english",),
    without: Sequence[str] = (),
    train_text: Sequence[str | Path] = (),
    train_sentences: int = TRAINED,
    seeds: int = SEEDS,
    fresh: bool = False,
    progress: Progress | None = None,
) -> PapersReport:
    """Run all experiments that the folder has data for, except those named in `without` (see RUNS).

    The first of the word vectors is used everywhere, the others where sentences or the vectors themselves are compared.
    `train_text` are files on which paragraph vectors and CBOS are trained, on `train_sentences` of their sentences;
    without such a text these are left out. What learns with seeds has `seeds` of them. Cached results are used unless
    `fresh`.
    Raises SourceError for a folder without data and for broken files, UsageError, VectorsError, MissingExtra.
    """
    if wrong := [name for name in without if name not in RUNS]:
        raise UsageError(f"there is no experiment {wrong[0]!r}; --without is one of {', '.join(RUNS)}")
    opened = [load_vectors(one) for one in vectors]
    if len({table.digest for table in opened}) != len(opened):
        raise UsageError("two of the word vectors are the same; name each once")
    data = PapersData(Path(folder), opened, [Path(text) for text in train_text], train_sentences, seeds, fresh)
    lacking = _lacking(data) | dict.fromkeys(without, "left out (--without)")
    data.missing = {name: lacking[name] for name in RUNS if name in lacking}
    names = [name for name in RUNS if name not in lacking]
    _check_ready(data, names)
    reports: dict[str, Any] = {}
    for number, name in enumerate(names, 1):
        reports |= RUNS[name](data, _under(f"{name} ({number} of {len(names)})", progress))
    return PapersReport(
        tuple(UsedVectors(one.name, len(one), one.dimension, one.digest) for one in opened),
        tuple(f"{name}: {reason}" for name, reason in data.missing.items()),
        tuple(file.name for file in data.counts),
        tuple(file.name for file in data.texts),
        tuple(_libraries()),
        train_sentences,
        seeds,
        **reports,
    )


def _libraries() -> Iterator[str]:
    """The packages that the figures depend on, and the kernels of linear algebra, where these can be asked for."""
    yield from (f"{name} {number}" for name, number in versions(*_DECISIVE).items() if number)
    for pool in threadpool_info():
        if "numpy" in pool["filepath"] and "architecture" in pool:
            threads = "one thread" if pool["num_threads"] == 1 else f"{pool['num_threads']} threads"
            kernels = f"the kernels of {pool['architecture']}"
            yield f"{pool['internal_api']} {pool['version']} with {kernels} in {threads}"


def _under(name: str, progress: Progress | None) -> Progress | None:
    """The progress function of an experiment, which puts its name before the stage."""
    if progress is None:
        return None
    report = progress
    report(name, 0, 0)
    return lambda stage, done, total: report(f"{name}, {stage}", done, total)
