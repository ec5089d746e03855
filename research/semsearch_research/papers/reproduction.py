"""Run all experiments of the papers on one folder of data, for `semsearch evaluate report`.

Experiments whose data are missing are named, and the others are run.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import suppress
from importlib import import_module
from pathlib import Path
from typing import Any

from semsearch import load_vectors
from semsearch.errors import SourceError, UsageError
from semsearch_research.evaluate.cache import versions
from semsearch_research.evaluate.experiment import Progress
from semsearch_research.evaluate.inputs import check_several
from semsearch_research.experiments.catalogue import REPRODUCTIONS
from semsearch_research.papers_data import NEEDS, PapersData, Reproduction
from semsearch_research.papers_report import SEEDS, TRAINED, PapersReport, UsedVectors

_DECISIVE = ("semsearch", "numpy", "scipy", "scikit-learn", "gensim")
REPRODUCED: dict[str, Reproduction] = {one.experiment.name: one for one in REPRODUCTIONS}


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
    """Run all experiments that the folder has data for, except those named in `without` (see REPRODUCED).

    The first of the word vectors is used everywhere, the others where sentences or the vectors themselves are compared.
    `train_text` are files on which paragraph vectors and CBOS are trained, on `train_sentences` of their sentences;
    without such a text these are left out. What learns with seeds has `seeds` of them. Cached results are used unless
    `fresh`.
    Raises SourceError for a folder without data and for broken files, UsageError, VectorsError, MissingExtra.
    """
    given = {"without": without, "train_text": train_text}
    check_several(vectors=vectors, **{name: values for name, values in given.items() if values})
    if wrong := [name for name in without if name not in REPRODUCED]:
        raise UsageError(f"there is no experiment {wrong[0]!r}; --without is one of {', '.join(REPRODUCED)}")
    if train_sentences < 1:
        raise UsageError(f"train_sentences must be at least 1, not {train_sentences}")
    if seeds < 1:
        raise UsageError(f"seeds must be at least 1, not {seeds}")
    opened = [load_vectors(one) for one in vectors]
    if len({table.digest for table in opened}) != len(opened):
        raise UsageError("two of the word vectors are the same; name each once")
    data = PapersData(Path(folder), opened, [Path(text) for text in train_text], train_sentences, seeds, fresh)
    chosen = {name: one for name, one in REPRODUCED.items() if _can_run(name, one, data, without)}
    if missing := [text for text in data.texts if not text.exists()]:
        raise SourceError(f"there is no {missing[0]}; give a text file to train on")
    for one in chosen.values():
        one.ready(data)
    found: dict[str, Any] = {}
    for number, (name, one) in enumerate(chosen.items(), 1):
        found |= one.run(data, _telling(f"{name} ({number} of {len(chosen)})", progress))
    return PapersReport(
        tuple(UsedVectors(one.name, len(one), one.dimension, one.digest) for one in opened),
        tuple(f"{name}: {why}" for name, why in data.missing.items()),
        tuple(file.name for file in data.counts),
        tuple(file.name for file in data.texts),
        tuple(_libraries()),
        train_sentences,
        seeds,
        **found,
    )


def _libraries() -> Iterator[str]:
    """The packages that the figures depend on, and the kernels of linear algebra, where these can be asked for."""
    yield from (f"{name} {number}" for name, number in versions(*_DECISIVE).items() if number)
    with suppress(ImportError):
        pools = import_module("threadpoolctl").threadpool_info()  # it comes with scikit-learn
        for one in (one for one in pools if "numpy" in one["filepath"] and "architecture" in one):
            threads = "one thread" if one["num_threads"] == 1 else f"{one['num_threads']} threads"
            yield f"{one['internal_api']} {one['version']} with the kernels of {one['architecture']} in {threads}"


def _can_run(name: str, one: Reproduction, data: PapersData, without: Sequence[str]) -> bool:
    """Return whether an experiment's data are there; if not, note the reason in `data.missing`."""
    is_there, why = NEEDS[one.needs]
    if name in without:
        data.missing[name] = "left out (--without)"
    elif not is_there(data):
        data.missing[name] = why
    return name not in data.missing


def _telling(name: str, progress: Progress | None) -> Progress | None:
    """Make the progress function of an experiment, which puts its name before the stage."""
    if progress is None:
        return None
    show = progress
    show(name, 0, 0)
    return lambda what, done, total: show(f"{name}, {what}", done, total)
