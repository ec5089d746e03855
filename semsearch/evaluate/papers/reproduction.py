"""All experiments of the papers over one folder of data: what `semsearch evaluate report` runs.

The folder has sub-folders, whichever are there: sts/ (pairs with scores), paraphrase/ (groups), supervised/ (labelled
sentences) and frequencies/ (counts of words). What cannot be run for want of data is named, and the rest is run. Two
experiments train on a text of their own, which must be given: paragraph vectors, and CBOS with its peers.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from semsearch.errors import SourceError, UsageError
from semsearch.evaluate.analysis.confound import evaluate_confound
from semsearch.evaluate.analysis.removed_directions import evaluate_components
from semsearch.evaluate.analysis.sweep import SOURCES, evaluate_sweep
from semsearch.evaluate.analysis.weighing import evaluate_weights
from semsearch.evaluate.cbos.beside_word2vec import evaluate_cbos
from semsearch.evaluate.optional import optional
from semsearch.evaluate.papers.papers_report import TRAINED, PapersReport, Result, UsedVectors
from semsearch.evaluate.paraphrase.classification import evaluate_classify
from semsearch.evaluate.paraphrase.groups import read_paraphrases
from semsearch.evaluate.paraphrase.paragraph_vectors import ParagraphSettings
from semsearch.evaluate.similarity.sts import TOGETHER, evaluate_sts
from semsearch.evaluate.similarity.sts_report import PER_TASK
from semsearch.evaluate.similarity.variants import VARIANTS
from semsearch.evaluate.supervised.labelled import has_labels, read_labelled
from semsearch.evaluate.supervised.trials import evaluate_supervised
from semsearch.word_vectors.loading import load_vectors
from semsearch.word_vectors.table import VectorTable

Progress = Callable[[str, int, int], None]
EXPERIMENTS = ("sts", "weights", "sweep", "components", "confound", "supervised", "classify", "cbos")
FOLDERS = ("sts", "paraphrase", "supervised", "frequencies")
_EFFECTS = (1, 2, 3, 4, 5)  # CBOS paper, figures 3 and 4: values of k, and of m
_SICK = "sick.test.tsv"  # whose first direction the SIF paper puts in words


def evaluate_report(
    folder: str | Path,
    *,
    vectors: Sequence[str | Path] = ("english",),
    without: Sequence[str] = (),
    train_text: Sequence[str | Path] = (),
    train_sentences: int = TRAINED,
    fresh: bool = False,
    progress: Progress | None = None,
) -> PapersReport:
    """Run all that the folder has data for, but the experiments named in `without` (see EXPERIMENTS).

    The first of the word vectors is run everywhere, the others where sentences are compared, and where vectors
    themselves are looked at. `train_text` are files that paragraph vectors and CBOS are trained on, so many sentences
    of them each; without such a text these are left out. Results are kept unless `fresh`.
    Raises SourceError for a folder without data and for broken files, UsageError, VectorsError, MissingExtra.
    """
    for what, given in (("vectors", vectors), ("without", without), ("train_text", train_text)):
        if isinstance(given, str | Path) or (what == "vectors" and not given):
            raise UsageError(f"{what} is a sequence, not {given!r}")
    if wrong := [name for name in without if name not in EXPERIMENTS]:
        raise UsageError(f"there is no experiment {wrong[0]!r}; --without is one of {', '.join(EXPERIMENTS)}")
    if train_sentences < 1:
        raise UsageError(f"train_sentences must be at least 1, not {train_sentences}")
    data = _Data(Path(folder))
    opened = [load_vectors(one) for one in vectors]
    if len({table.digest for table in opened}) != len(opened):
        raise UsageError("two of the word vectors are the same; name each once")
    texts = [Path(text) for text in train_text]
    return _Run(data, opened, frozenset(without), texts, train_sentences, fresh, progress).all()


class _Data:
    """What a folder has. Raises SourceError where it is none, or has nothing of the kind."""

    def __init__(self, folder: Path) -> None:
        there = {name: folder / name for name in FOLDERS if (folder / name).is_dir()}
        if not there:
            what = "is no folder" if not folder.is_dir() else "has no data"
            raise SourceError(f"{folder} {what}; expected a folder with {', '.join(f'{name}/' for name in FOLDERS)}")
        self.sts = there.get("sts")
        names = [file.name for file in self.sts.glob("20*.tsv")] if self.sts else []
        self.years = {name[:4] for name in names} & {"2012", "2013", "2014", "2015"}
        self.groups = sorted(there["paraphrase"].glob("*.tsv")) if "paraphrase" in there else []
        self.counts = sorted(there["frequencies"].glob("*.txt")) if "frequencies" in there else []
        self.labelled = [there[name] for name in ("sts", "supervised") if name in there and has_labels(there[name])]


@dataclass(slots=True)
class _Run:
    """One experiment after the other."""

    data: _Data
    vectors: Sequence[VectorTable]
    without: frozenset[str]
    texts: Sequence[Path]
    sentences: int
    fresh: bool
    progress: Progress | None
    missing: dict[str, str] = field(default_factory=dict)  # what was not run, and why

    def all(self) -> PapersReport:
        run = [name for name in EXPERIMENTS if self._can(name)]
        self._check(run)
        found: dict[str, Any] = {}
        for number, name in enumerate(run):
            found |= getattr(self, f"_{name}")(self._telling(name, number, len(run)))
        if "classify" in run and not self.texts:
            self.missing["paragraph vectors"] = "no text to train on was given (--train-text)"
        return PapersReport(
            tuple(UsedVectors(one.name, len(one), one.dimension, one.digest) for one in self.vectors),
            tuple(f"{name}: {why}" for name, why in self.missing.items()),
            tuple(file.name for file in self.data.counts),
            tuple(file.name for file in self.texts),
            self.sentences,
            **found,
        )

    def _can(self, name: str) -> bool:
        """Whether there is what an experiment needs; else why it is not run goes to `missing`."""
        data = self.data
        needs: dict[str, tuple[object, str]] = {
            "sts": (data.sts, "there is no sts/"),
            "sweep": (data.sts, "there is no sts/"),
            "components": (data.sts and (data.sts / _SICK).is_file(), f"there is no sts/{_SICK}"),
            "supervised": (data.labelled, "neither sts/ nor supervised/ has labelled sentences"),
            "classify": (data.groups, "there is no paraphrase/ with .tsv files"),
            "cbos": (self.texts and data.years, "it needs tasks of STS 2012 to 2015 and a text (--train-text)"),
        }
        there, why = needs.get(name, (True, ""))
        if name in self.without:
            self.missing[name] = "left out (--without)"
        elif not there:
            self.missing[name] = why
        return name not in self.missing

    def _check(self, run: Sequence[str]) -> None:
        """Find out before minutes of work what the later experiments would stumble over."""
        if missing := [text for text in self.texts if not text.exists()]:
            raise SourceError(f"there is no {missing[0]}; give a text file to train on")
        if "classify" in run:
            read_paraphrases(self.data.groups)
            optional("sklearn.svm", package="scikit-learn")
        if "supervised" in run:
            read_labelled(self.data.labelled)
        if self.texts and {"classify", "cbos"} & set(run):
            optional("gensim.models", package="gensim", extra="papers")

    def _telling(self, name: str, number: int, of: int) -> Progress | None:
        """What an experiment reports to, with its own name and place before what it says."""
        show = self.progress
        if show is None:
            return None
        show(f"{name} ({number + 1} of {of})", 0, 0)
        return lambda what, done, total: show(f"{name} ({number + 1} of {of}), {what}", done, total)

    def _sts(self, progress: Progress | None) -> dict[str, Result]:
        assert self.data.sts is not None
        paths, vectors = [self.data.sts], list(self.vectors)
        whole = evaluate_sts(
            paths, methods=tuple(VARIANTS), vectors=vectors, keep=True, fresh=self.fresh, progress=progress
        )
        fitted = evaluate_sts(
            paths,
            methods=("sif", "usif"),
            vectors=vectors,
            fit_on=[PER_TASK, TOGETHER],
            keep=True,
            fresh=self.fresh,
            progress=progress,
        )
        return {"sts": whole, "fitted": fitted}

    def _weights(self, _progress: Progress | None) -> dict[str, Result]:
        found = {"weights": evaluate_weights(vectors=self.vectors[0])}
        if self.data.counts:
            found["counted"] = evaluate_weights(vectors=self.vectors[0], frequencies=self.data.counts[0])
        return dict(found)

    def _sweep(self, progress: Progress | None) -> dict[str, Result]:
        assert self.data.sts is not None
        sources: list[str | Path] = [*SOURCES, *self.data.counts]
        swept = evaluate_sweep(
            [self.data.sts], vectors=self.vectors, frequencies=sources, fresh=self.fresh, progress=progress
        )
        return {"sweep": swept}

    def _components(self, progress: Progress | None) -> dict[str, tuple[Result, ...]]:
        assert self.data.sts is not None
        sick = [self.data.sts / _SICK]
        return {"components": tuple(evaluate_components(sick, vectors=one, progress=progress) for one in self.vectors)}

    def _confound(self, _progress: Progress | None) -> dict[str, tuple[Result, ...]]:
        found: list[Result] = []
        for one in self.vectors:
            try:
                found.append(evaluate_confound(vectors=one))
            except UsageError as error:  # vectors without two unlike words and a third between them
                self.missing[f"confound, {one.name}"] = str(error)
        return {"confound": tuple(found)}

    def _supervised(self, progress: Progress | None) -> dict[str, Result]:
        found = evaluate_supervised(self.data.labelled, vectors=self.vectors[0], fresh=self.fresh, progress=progress)
        return {"supervised": found}

    def _classify(self, progress: Progress | None) -> dict[str, Result]:
        found = evaluate_classify(
            self.data.groups,
            vectors=self.vectors[0],
            train_text=self.texts,
            paragraphs=ParagraphSettings(sentences=self.sentences),
            fresh=self.fresh,
            progress=progress,
        )
        return {"classify": found}

    def _cbos(self, progress: Progress | None) -> dict[str, Result]:
        assert self.data.sts is not None
        values = _EFFECTS if "2014" in self.data.years else ()  # the year on whose tasks the paper compares them
        found = evaluate_cbos(
            self.texts,
            [self.data.sts],
            ks=values,
            ms=values,
            sentences=self.sentences,
            fresh=self.fresh,
            progress=progress,
        )
        return {"cbos": found}
