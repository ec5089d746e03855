"""Continuous bag of sentences: train word vectors whose sums distinguish a sentence from others by its neighbours.

    s_i = Σ_j w_ij    c_i = 1/2k Σ_{0<|j-i|≤k} s_j    p(s_i | c_i) = exp(s_i·c_i) / Σ_{s ∈ {s_i, m others}} exp(s·c_i)

The loss is -log p(s_i | c_i), summed over all sentences. Yuan and Zhang, "CBOS: Continuous Bag of Sentences for
Learning Sentence Embeddings": one matrix of word vectors serves sentences and contexts; k = 1, m = 2, 100 dimensions,
words seen five times at least, sentences under 120 words, batches of 10, 10 rounds.

What the paper leaves open, and where we differ:
- Words are those of our tokeniser, not stems: a table is looked up by the words of a text as they are written.
- The sentences of a file are neighbours in their order, also across paragraphs. Before the first and after the last
  there is nothing: such a neighbour is 0 in the sum, which is still divided by 2k.
- A sentence without known words is left out; a long one is cut in parts, which are neighbours.
- The m others are drawn from all sentences, which may give the sentence itself, rarely.
- The steps are AdaGrad's, over the sentences in random order, in larger batches: they take far less time.
"""

from __future__ import annotations

from array import array
from collections.abc import Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path

import numpy as np
from scipy.sparse import csr_array

from semsearch.arrays.types import Float32, Int32, Int64
from semsearch.errors import UsageError
from semsearch.text.ragged import Ragged
from semsearch.word_vectors.table import Dtype, VectorTable
from semsearch_research.train.corpus import Corpus, Skipped, Stages, read_corpus
from semsearch_research.word_tables.table_writer import TableWriter

LONGEST = 119  # words of a sentence: the CBOS paper takes sentences under 120


@dataclass(frozen=True, slots=True)
class Sentences:
    """n sentences as word ids, and the number of each one's file (n,). `texts` has an empty text more at the end."""

    texts: Ragged
    files: Int32

    def __len__(self) -> int:
        return len(self.files)

    @property
    def any_neighbours(self) -> bool:
        """Return whether any file has two sentences."""
        return bool((self.files[1:] == self.files[:-1]).any())

    def neighbours(self, chosen: Int64, k: int) -> Int64:
        """The k sentences before and the k after each; n, the empty one, beyond its file's ends. (b,) -> (b, 2k)"""
        near = chosen[:, None] + np.array([offset for offset in range(-k, k + 1) if offset])
        inside = (near >= 0) & (near < len(self))
        same_file = self.files[np.where(inside, near, 0)] == self.files[chosen][:, None]
        return np.where(inside & same_file, near, len(self))


def read_sentences(corpus: Corpus, progress: Stages | None = None) -> Sentences:
    """Read the sentences of a corpus as word ids, without words that get no vector and sentences that have no others.

    A sentence of more than `LONGEST` words is cut in parts.
    """
    ids, lengths, files = array("i"), array("i"), array("i")  # they grow in place: no second copy at the end
    read = 0
    for number, texts in corpus.sentences():
        own = parts_of(texts.lengths)
        ids.frombytes(texts.ids.tobytes())
        lengths.frombytes(own.tobytes())
        files.frombytes(np.full(len(own), number, dtype=np.int32).tobytes())
        read += len(texts.ids)
        if progress:
            progress("reading sentences", read, int(corpus.counts.sum()))
    bounds = np.concatenate(([0], np.cumsum(np.frombuffer(lengths, dtype=np.int32), dtype=np.int64)))
    texts = Ragged(np.frombuffer(ids, dtype=np.int32), np.append(bounds, bounds[-1]))
    return Sentences(texts, np.frombuffer(files, dtype=np.int32))


def parts_of(lengths: Int64, most: int = LONGEST) -> Int32:
    """Cut sentences of the given lengths (n,) into parts of at most `most` words, none empty; gives their lengths."""
    parts = -(-lengths // most)
    result = np.full(int(parts.sum()), most, dtype=np.int32)
    last = np.cumsum(parts)[parts > 0] - 1
    result[last] = (lengths - most * (parts - 1))[parts > 0]
    return result


# -- Training ----------------------------------------------------------------------------------------------------------


@dataclass(slots=True)
class TrainingState:
    """The state of a run: word vectors, sums of their squared gradients (V, d), and the mean loss of each round."""

    vectors: Float32
    squares: Float32
    losses: list[float] = field(default_factory=list)


# AdaGrad's sums begin with this. From 0, the first step of a rare word would be as long as any, whatever its gradient.
_FIRST = 1.0


@dataclass(frozen=True, slots=True)
class CbosSettings:
    """The settings of a CBOS training: k, m, the size of a batch, AdaGrad's learning rate, and the random seed."""

    window: int = 1  # k
    negatives: int = 2  # m
    batch: int = 1000  # sentences
    rate: float = 0.1
    seed: int = 0


def train_cbos(
    paths: Sequence[Path],
    target: Path,
    *,
    dimension: int = 100,
    epochs: int = 10,
    settings: CbosSettings = CbosSettings(),
    size: int = 50_000,
    min_count: int = 5,
    dtype: Dtype = "int8",
    licence: str = "unknown",
    skipped: Skipped = lambda _path, _reason: None,
    progress: Stages | None = None,
) -> VectorTable:
    """Make a folder of word vectors at `target` from files and folders of text, in `epochs` rounds.

    `skipped(path, reason)` is called for a file that cannot be read. The same text and settings give the same table on
    the same machine.
    Memory: four bytes per running word, a few dozen per sentence, eight per number of the table.
    Raises VectorsError if `target` exists, SourceError if a path does not exist,
    UsageError for a text with too little in it; all before the long work.
    """
    with TableWriter(target, dtype=dtype) as writer:
        corpus = read_corpus(
            paths, size=size, min_count=min_count, dimension=dimension, skipped=skipped, progress=progress
        )
        sentences = read_sentences(corpus, progress)
        if not sentences.any_neighbours:
            raise UsageError("no file has two sentences with known words; cbos learns from neighbours: give more text")
        state = start(len(corpus.words), dimension, settings.seed)
        for _ in range(epochs):
            train_round(sentences, state, settings, rounds=epochs, progress=progress)
        writer.add(corpus.words, state.vectors)
        card = {
            "source": f"{corpus.described}: the {len(corpus.words)} most frequent words, continuous bag of sentences, "
            f"{len(sentences)} sentences",
            "licence": licence,
            "algorithm": "cbos",
            "settings": {
                **asdict(settings),
                "dimension": dimension,
                "rounds": epochs,
                "size": size,
                "min count": min_count,
            },
            "mean loss of each round": [round(loss, 4) for loss in state.losses],
            "counted words": corpus.total,
            "command": f"semsearch vectors train {corpus.arguments} --algorithm cbos --dimension {dimension} "
            f"--window {settings.window} --negatives {settings.negatives} --epochs {epochs} --batch {settings.batch} "
            f"--size {size} --min-count {min_count} --seed {settings.seed} --dtype {dtype}",
        }
        return writer.finish(corpus.frequencies, card=card)


def start(words: int, dimension: int, seed: int) -> TrainingState:
    """The state before the first round: random vectors (V, d), drawn evenly from -1/2d to 1/2d as in word2vec."""
    drawn = np.random.default_rng((seed, 0)).random((words, dimension), dtype=np.float32)
    return TrainingState((drawn - np.float32(0.5)) / np.float32(dimension), np.full_like(drawn, _FIRST), [])


def train_round(
    sentences: Sentences, state: TrainingState, settings: CbosSettings, *, rounds: int, progress: Stages | None = None
) -> None:
    """Train one round: a step for each batch of all sentences in random order, drawn by the seed and the round."""
    number = len(state.losses) + 1
    generator = np.random.default_rng((settings.seed, number))
    order = generator.permutation(len(sentences))
    loss = 0.0
    for first in range(0, len(order), settings.batch):
        chosen = order[first : first + settings.batch]
        others = generator.integers(0, len(sentences), size=(len(chosen), settings.negatives))
        loss += step(batch_of(sentences, chosen, others, k=settings.window), state, settings.rate)
        if progress:
            progress(f"round {number} of {rounds}", first + len(chosen), len(order))
    state.losses.append(loss / len(order))


@dataclass(frozen=True, slots=True)
class CbosBatch:
    """A batch of b sentences, the m others of each and their contexts, as weights of the u words in them."""

    words: Int64  # ids (u,)
    candidates: csr_array  # (b·(1 + m), u): how often each word occurs in s_i, in the others of i; then those of i + 1
    contexts: csr_array  # (b, u): 1/2k for each time that a word occurs in a neighbour


def batch_of(sentences: Sentences, chosen: Int64, others: Int64, *, k: int) -> CbosBatch:
    """Build the batch of the chosen sentences (b,) and the m others of each (b, m), all given by number."""
    candidates = sentences.texts.take(np.column_stack((chosen, others)).ravel())
    near = sentences.neighbours(chosen, k)
    contexts = sentences.texts.take(near.ravel()).joined(np.arange(0, near.size + 1, 2 * k))
    words, inverse = np.unique(np.concatenate((candidates.ids, contexts.ids)), return_inverse=True)
    columns: Int32 = inverse.astype(np.int32)
    split = len(candidates.ids)
    return CbosBatch(
        words.astype(np.int64),
        _weights(columns[:split], candidates.indptr, len(words), 1),
        _weights(columns[split:], contexts.indptr, len(words), 1 / (2 * k)),
    )


def step(batch: CbosBatch, state: TrainingState, rate: float) -> float:
    """Move the vectors of a batch's words against the gradient, by AdaGrad. Returns the loss before the step."""
    vectors = state.vectors[batch.words]
    loss, gradient = loss_and_gradient(vectors, batch)
    squares = state.squares[batch.words] + gradient * gradient
    state.squares[batch.words] = squares
    state.vectors[batch.words] = vectors - np.float32(rate) * gradient / np.sqrt(squares)
    return loss


def loss_and_gradient(vectors: Float32, batch: CbosBatch) -> tuple[float, Float32]:
    """-Σ_i log p(s_i | c_i) of a batch, and its gradient. (u, d) -> scalar, (u, d)"""
    contexts = np.asarray(batch.contexts @ vectors)  # (b, d)
    candidates = np.asarray(batch.candidates @ vectors).reshape(len(contexts), -1, vectors.shape[1])  # (b, 1 + m, d)
    products = np.einsum("bjd,bd->bj", candidates, contexts)
    products -= products.max(axis=1, keepdims=True)
    exponentials = np.exp(products)
    sums = exponentials.sum(axis=1)
    loss = float((np.log(sums) - products[:, 0]).sum(dtype=np.float64))
    errors = exponentials / sums[:, None]  # p - 1 for the true sentence, p for the others
    errors[:, 0] -= 1
    of_candidates = (errors[:, :, None] * contexts[:, None]).reshape(-1, vectors.shape[1])
    of_contexts = np.einsum("bj,bjd->bd", errors, candidates)
    return loss, np.asarray(batch.candidates.T @ of_candidates + batch.contexts.T @ of_contexts)


def _weights(columns: Int32, indptr: Int64, words: int, weight: float) -> csr_array:
    data = np.full(len(columns), weight, dtype=np.float32)
    return csr_array((data, columns, indptr.astype(np.int32)), shape=(len(indptr) - 1, words))
