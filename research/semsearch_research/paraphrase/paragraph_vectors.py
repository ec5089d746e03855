"""Paragraph vectors by gensim: a vector for a sentence that predicts its words.  Le, Mikolov 2014.

PV-DM predicts a word from the sentence's vector and the words around it, concatenated; PV-DBOW from the sentence's
vector alone. As in White et al. 2015, section 3.2.2: 300 dimensions, a window of 8 words, trained on about 1.2 million
sentences, and the vectors of other sentences inferred. The paper names no rounds: training has 5 here, inference 50.
Whatever else there is to choose is gensim's default: words seen five times at least, five negative samples. One thread,
so that the same text and seed give the same vectors.
"""

from __future__ import annotations

import zlib
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any, Literal

import numpy as np
import numpy.typing as npt

from semsearch.errors import SourceError, UsageError
from semsearch.text.sentences import sentence_spans
from semsearch_research.evaluate.inputs import import_extra
from semsearch_research.paraphrase.bags import tokens
from semsearch_research.reread import Reread
from semsearch_research.train.corpus import paragraphs_of

Float32 = npt.NDArray[np.float32]
Report = Callable[[str, int, int], None]
ParagraphModel = Literal["pv-dm", "pv-dbow"]
PARAGRAPH_MODELS: tuple[ParagraphModel, ...] = ("pv-dm", "pv-dbow")
_EVERY = 1000  # sentences between two reports


@dataclass(frozen=True, slots=True)
class ParagraphSettings:
    """Settings for training paragraph vectors: on some sentences of a text, chosen at random, in some rounds."""

    sentences: int = 1_200_000
    rounds: int = 5
    inference: int = 50  # rounds for each sentence whose vector is inferred
    dimension: int = 300
    window: int = 8
    least: int = 5  # occurrences of a word
    seed: int = 0


def training_sentences(
    paths: Iterable[Path], settings: ParagraphSettings, *, progress: Report | None = None
) -> list[str]:
    """Choose sentences of text files, as tokens between spaces: all, or `settings.sentences` of them at random.

    One pass, by Vitter's algorithm R. Raises SourceError for a file that cannot be read, UsageError for no sentences.
    """
    generator = np.random.default_rng(settings.seed)
    chosen: list[str] = []
    for seen, sentence in enumerate(_sentences(paths), 1):
        if len(chosen) < settings.sentences:
            chosen.append(sentence)
        elif (index := int(generator.integers(seen))) < settings.sentences:
            chosen[index] = sentence
        if progress and seen % _EVERY == 0:
            progress("reading sentences", seen, 0)
    if not chosen:
        raise UsageError("there are no sentences in the text to train on; give a text file")
    return [" ".join(tokens(sentence)) for sentence in chosen]


def paragraph_vectors(
    model: ParagraphModel,
    training: Sequence[str],
    texts: Sequence[str],
    settings: ParagraphSettings,
    *,
    progress: Report | None = None,
) -> Float32:
    """Infer the vectors of n texts after training on others (tokens between spaces). Zero if no word is known.

    n texts -> (n, d). Raises MissingExtra, UsageError if no word of the training text is frequent enough.
    """
    doc2vec = import_extra("gensim.models.doc2vec", package="gensim", extra="papers")
    trained = _trained(doc2vec, model, training, settings, progress)
    vectors = np.zeros((len(texts), settings.dimension), dtype=np.float32)
    with _starting_from_the_text(doc2vec):
        for row, text in enumerate(texts):
            words = [word for word in tokens(text) if word in trained.wv]
            if words:
                trained.random = np.random.RandomState(settings.seed)  # no text's vector depends on those before it
                vectors[row] = trained.infer_vector(words, epochs=settings.inference)
            if progress:
                progress(f"{model}: inferring", row + 1, len(texts))
    return vectors


def _trained(
    doc2vec: Any, model: ParagraphModel, training: Sequence[str], settings: ParagraphSettings, progress: Report | None
) -> Any:
    kind = {"dm": 1, "dm_concat": 1} if model == "pv-dm" else {"dm": 0}
    trained = doc2vec.Doc2Vec(
        vector_size=settings.dimension,
        window=settings.window,
        min_count=settings.least,
        epochs=settings.rounds,
        seed=settings.seed,
        workers=1,
        **kind,
    )

    def tagged() -> Iterator[Any]:
        return (doc2vec.TaggedDocument(text.split(" "), [number]) for number, text in enumerate(training))

    trained.build_vocab(Reread(tagged, None))
    if not trained.wv.key_to_index.keys() - {"\0"}:  # gensim's word for what is before the first
        raise UsageError(f"no word occurs {settings.least} times in the text to train on; give more text")

    def read(sentences: int) -> None:
        if progress:
            progress(f"{model}: training", sentences, settings.rounds * len(training))

    trained.train(Reread(tagged, read), total_examples=trained.corpus_count, epochs=settings.rounds)
    return trained


@contextmanager
def _starting_from_the_text(doc2vec: Any) -> Iterator[None]:
    """Make inference start from numbers that depend only on the text.

    gensim draws them by Python's own hash of the text, which differs between processes.
    """
    name = "pseudorandom_weak_vector"
    theirs = getattr(doc2vec, name)
    setattr(doc2vec, name, partial(theirs, hashfxn=lambda text: zlib.crc32(text.encode())))
    try:
        yield
    finally:
        setattr(doc2vec, name, theirs)


def _sentences(paths: Iterable[Path]) -> Iterator[str]:
    for path in paths:
        if not path.is_file():
            raise SourceError(f"there is no file {path}; give a text file, which may be compressed (.gz, .xz)")
        for paragraphs in paragraphs_of(path):
            for paragraph in paragraphs:
                for start, end in sentence_spans(paragraph):
                    yield paragraph[start:end]
