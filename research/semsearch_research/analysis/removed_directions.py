"""Describe in words what SIF and uSIF remove: the words nearest to each common component of a data set.

SIF paper, section 4.1: the first component of SICK is near words that say little. As there, the components are those of
the sentences of one data set alone, without a prior. uSIF's are those of normalised words, compared with the words as
they are.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import islice
from pathlib import Path

from semsearch import Method, SentenceEmbedder, WordVectors
from semsearch.embedding.components import CommonComponents, SentenceSums
from semsearch.embedding.methods import find_method
from semsearch.embedding.weighted_sums import WeightedSums
from semsearch.errors import UsageError
from semsearch.results.codec import Record, called
from semsearch.text.ragged import Ragged
from semsearch.word_vectors.loading import WordVectorsLike, open_vectors
from semsearch_research.analysis.component_words import MIN_FREQUENCY, Direction, FrequentWords
from semsearch_research.evaluate.inputs import check_each_a, check_several
from semsearch_research.evaluate.sentence_pairs import ENDINGS, read_tasks
from semsearch_research.evaluate.sts import sentences_of
from semsearch_research.evaluate.sts_cosines import WeighedWords

# SIF paper, section 4.1, with GloVe: the ten words nearest to the first component of SICK
PAPERS_WORDS = ("just", "when", "even", "one", "up", "little", "way", "there", "while", "but")
METHODS = ("sif", "usif")
_PAPERS_GROUP, _PAPERS_METHOD = "SICK14", "sif"
_BATCH = 8192  # sentences at a time
Report = Callable[[str, int, int], None]


@dataclass(frozen=True, slots=True)
class RemovedDirections(Record):
    """The directions that a method removes from the sentences of a data set.

    `papers_words`, for SIF on SICK only: the rank of each of the paper's words among the words that are compared.
    """

    name: str
    method: str
    a: float
    sentences: int
    directions: tuple[Direction, ...]
    papers_words: Mapping[str, int | None] = field(default_factory=dict, metadata=called("published"))


@dataclass(frozen=True, slots=True)
class ComponentsReport(Record):
    """The directions of each data set and method. `words`: the number of words frequent enough to be compared."""

    vectors: str
    min_frequency: float
    words: int
    removed: tuple[RemovedDirections, ...]


def evaluate_components(
    paths: Sequence[str | Path],
    *,
    methods: Sequence[str | Method] = METHODS,
    vectors: WordVectorsLike = "english",
    a: float | None = None,
    components: int | None = None,
    k: int = 10,
    min_frequency: float = MIN_FREQUENCY,
    split: str = "test",
    progress: Report | None = None,
) -> ComponentsReport:
    """Find the k words nearest to each direction that methods remove, among those with p(w) from `min_frequency` on.

    Each of `paths` is a file of sentence pairs (.tsv, .csv, .jsonl), a folder of such, of which those of the split are
    read, or a text file. `a` and `components` are the papers' unless given.
    Raises SourceError, UsageError, VectorsError.
    """
    check_several(paths=paths, methods=methods)
    check_each_a(a)
    chosen = [find_method(method) for method in methods]
    if plain := [method.name for method in chosen if method.weighting not in METHODS]:
        raise UsageError(f"{plain[0]} removes nothing; choose one of {', '.join(METHODS)}")
    opened = open_vectors(vectors)
    if components is not None and not 1 <= components <= opened.dimension:
        raise UsageError(f"components must be between 1 and {opened.dimension}, not {components}")
    words = FrequentWords(opened, min_frequency=min_frequency)
    removed: list[RemovedDirections] = []
    for data in _data_sets(paths, split):
        batches = list(_tokens(data, opened, progress))
        for method in chosen:
            weights = WeighedWords(opened).weights(method.weighting, (), a)
            total = _sums_over(batches, WeightedSums(opened, weights, normalise=method.normalise), opened)
            common = CommonComponents.of(
                total, method.components if components is None else components, piecewise=method.piecewise
            )
            compared = data.group == _PAPERS_GROUP and method.name == _PAPERS_METHOD and len(common.directions) > 0
            ranks = words.ranks(common.directions[0], PAPERS_WORDS) if compared else {}
            directions = words.directions(common, k)
            removed.append(
                RemovedDirections(data.name, method.name, weights.a, int(total.sentences), directions, ranks)
            )
    return ComponentsReport(opened.name, min_frequency, len(words), tuple(removed))


@dataclass(frozen=True, slots=True)
class DataSet:
    """Sentences whose common components are described; `group` is that of a task."""

    name: str
    group: str
    sentences: Iterable[str]


def _data_sets(paths: Sequence[str | Path], split: str) -> Iterator[DataSet]:
    """Yield the data sets of paths: each task of sentence pairs, or the text of a file."""
    for path in map(Path, paths):
        if path.is_dir() or path.suffix.lower() in ENDINGS:
            for task in read_tasks([path], split=split):
                yield DataSet(task.label, task.group, task.sentences)
        else:
            yield DataSet(path.name, "", sentences_of(path))


def _tokens(data: DataSet, vectors: WordVectors, progress: Report | None) -> Iterator[Ragged]:
    embedder, rest, done = SentenceEmbedder(vectors), iter(data.sentences), 0
    while batch := list(islice(rest, _BATCH)):
        yield embedder.tokenize(batch)
        done += len(batch)
        if progress is not None:
            progress(data.name, done, 0)


def _sums_over(batches: Iterable[Ragged], weighted_sums: WeightedSums, vectors: WordVectors) -> SentenceSums:
    total = SentenceSums.empty(vectors.dimension)
    for batch in batches:
        total = total + SentenceSums.of(weighted_sums.of(batch), len(batch.ids))
    return total
