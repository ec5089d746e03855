"""Peers: other systems that make such vectors or answers, measured on the same text.

    loop             sentence by sentence and word by word in Python, as the code released with the papers has it
    model2vec        the package model2vec with our words, weights and vectors; model2vec:PATH for a model of its own
    minilm           the sentence encoder all-MiniLM-L6-v2; minilm:PATH for one on the disk
    bm25s            BM25 by the package bm25s: paragraphs indexed, and asked for ten

Embedders are measured on fewer sentences, and so compared by the sentence. Loading is not counted.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import cycle
from typing import Any

import numpy as np
import Stemmer

from semsearch import SentenceEmbedder, VectorTable
from semsearch.embedding.components import CommonComponents
from semsearch.errors import MissingExtra, UsageError, VectorsError
from semsearch_research.bench.bench_text import TextSample
from semsearch_research.bench.rounds import Case, Quantity, seconds, timed
from semsearch_research.evaluate.inputs import import_extra
from semsearch_research.evaluate.rankers import open_peers

PEERS = ("loop", "model2vec", "minilm", "bm25s")
_SENTENCES = 10_000
_FEW_SENTENCES = 500  # of an encoder that does some hundreds a second
_A = 1e-3


def check_peers(specs: Sequence[str]) -> None:
    """Check names of peers: raises UsageError for an unknown one, or one that comes twice."""
    for spec in specs:
        kind, colon, path = spec.partition(":")
        if kind not in PEERS or (colon and (kind not in ("model2vec", "minilm") or not path)):
            raise UsageError(
                f"there is no peer {spec!r}; expected loop, model2vec, model2vec:PATH, minilm, minilm:PATH or bm25s"
            )
        if specs.count(spec) > 1:
            raise UsageError(f"the peer {spec} is named twice; name each once")


def peer_cases(specs: Sequence[str], sample: TextSample, vectors: VectorTable, *, whole: bool) -> list[Case]:
    """The cases of peers. `whole`: whether the sample is all text, so that lexical queries are comparable.

    Raises UsageError, MissingExtra, VectorsError.
    """
    check_peers(specs)
    return [case for spec in specs for case in _cases(spec, sample, vectors, whole)]


def available(sample: TextSample, vectors: VectorTable, *, whole: bool) -> tuple[list[Case], list[str]]:
    """The cases of all peers that are installed; and why the others are not."""
    cases: list[Case] = []
    missing: list[str] = []
    for spec in PEERS:
        try:
            cases += _cases(spec, sample, vectors, whole)
        except (MissingExtra, VectorsError) as error:
            missing.append(f"{spec}: {error}")
    return cases, missing


def _cases(spec: str, sample: TextSample, vectors: VectorTable, whole: bool) -> list[Case]:
    if spec == "bm25s":
        return _bm25s(sample, whole)
    sentences = sample.sentences[: _FEW_SENTENCES if spec.startswith("minilm") else _SENTENCES]
    encode: Callable[[list[str]], object]
    if spec == "loop":
        encode = papers_loop(vectors, sentences)
    elif spec == "model2vec":
        encode = own_model2vec(vectors)
    else:
        encode = open_peers([spec])[0].prepare
    quantity = Quantity(
        spec, f"strings to vectors, {spec}", "rate", len(sentences), "sentences", floors=("embed sif",), part="peers"
    )
    return [timed(quantity, lambda: encode(sentences))]


def papers_loop(vectors: VectorTable, sentences: Sequence[str]) -> Callable[[list[str]], Any]:
    """SIF by a dict of words, a product for each sentence, and the removal of one component, fitted beforehand."""
    ids = {word: number for number, word in enumerate(vectors.words)}
    table = vectors.rows(np.arange(len(vectors)))
    weights = (_A / (_A + vectors.frequencies)).astype(np.float32)
    fitted = SentenceEmbedder(vectors, a=_A, prior=0, unknown="skip").fit(sentences)
    common: CommonComponents = fitted.common_

    def encode(texts: list[str]) -> Any:
        result = np.zeros((len(texts), vectors.dimension), dtype=np.float32)
        for row, text in enumerate(texts):
            found = [ids[word] for word in text.lower().rstrip(".").split() if word in ids]
            if found:
                result[row] = weights[found].dot(table[found]) / len(found)
        result -= result.dot(common.directions.T).dot(common.directions)
        lengths = np.linalg.norm(result, axis=1, keepdims=True)
        return result / np.where(lengths > 0, lengths, 1)

    return encode


def own_model2vec(vectors: VectorTable) -> Callable[[list[str]], Any]:
    """A StaticModel of our words and weighted vectors: SIF without the removal. Raises MissingExtra."""
    library = import_extra("model2vec", package="model2vec")
    tokenizers = import_extra("tokenizers", package="tokenizers")
    unknown = "[UNK]"
    vocabulary = {word: number for number, word in enumerate([*vectors.words, unknown])}
    tokenizer = tokenizers.Tokenizer(tokenizers.models.WordLevel(vocabulary, unk_token=unknown))
    tokenizer.normalizer = tokenizers.normalizers.Lowercase()
    tokenizer.pre_tokenizer = tokenizers.pre_tokenizers.Whitespace()
    weights = (_A / (_A + vectors.frequencies)).astype(np.float32)
    table = vectors.rows(np.arange(len(vectors))) * weights[:, None]
    rows = np.concatenate([table, np.zeros((1, vectors.dimension), dtype=np.float32)])
    model = library.StaticModel(rows, tokenizer, normalize=True)
    return lambda texts: model.encode(texts, use_multiprocessing=False)


def _bm25s(sample: TextSample, whole: bool) -> list[Case]:
    library = import_extra("bm25s", package="bm25s")
    stemmer = Stemmer.Stemmer("english")
    questions = cycle(sample.queries)
    built: list[Any] = []

    def tokens(texts: list[str]) -> Any:
        return library.tokenize(texts, stopwords="en", stemmer=stemmer, return_ids=False, show_progress=False)

    def index() -> None:
        retriever = library.BM25(k1=1.2, b=0.75)
        retriever.index(tokens(sample.paragraphs), show_progress=False)
        built[:] = [retriever]

    def ask() -> None:
        k = min(10, len(sample.paragraphs))
        built[0].retrieve(tokens([next(questions)]), k=k, show_progress=False)

    count = len(sample.sentences)
    indexed = Quantity("bm25s index", "index, bm25s", "rate", count, "sentences", floors=("index",), part="peers")
    floors = ("warm lexical",) if whole else ()
    asked = Quantity("bm25s query", "warm query, bm25s", "time", 1, "queries", floors=floors, part="peers")
    return [timed(indexed, index), Case((asked,), lambda: [[seconds(ask) for _ in sample.queries]])]
