"""Reranking by a model: what it reads in time, which vectors are kept, and its part of the score."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterator, Sequence
from itertools import chain, repeat
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from small import index_of_articles, opening, small_vectors, write_articles

from semsearch import rerankers
from semsearch.arrays.vectors import unit_rows
from semsearch.index import Index
from semsearch.multi_index import MultiIndex
from semsearch.rerankers import ModelReranker, PairScorer, TextEncoder, text_of, with_those_alike
from semsearch.results.explanation import Explanation
from semsearch.tuning import TUNING

QUESTION = "the captain of the ship and the old bread"


class Letters:
    """A model that encodes a text as how often it has each of five letters; and what it has read."""

    def __init__(self) -> None:
        self.read: list[str] = []

    def encode_query(self, texts: Sequence[str], **_: object) -> list[list[int]]:
        return [[text.count(letter) for letter in "abcde"] for text in texts]

    encode = encode_query

    def encode_document(self, texts: Sequence[str], **_: object) -> list[list[int]]:
        self.read += texts
        return self.encode_query(texts)


class Lengths:
    """A model of pairs: the longer, the better."""

    def __init__(self) -> None:
        self.read: list[str] = []

    def predict(self, pairs: Sequence[tuple[str, str]], **_: object) -> list[float]:
        self.read += [text for _, text in pairs]
        return [float(len(text)) for _, text in pairs]


def reranker_by(model: Letters | Lengths, seconds: float = 10.0, **options: Any) -> ModelReranker:
    opened = TextEncoder("letters", model) if isinstance(model, Letters) else PairScorer("lengths", model)
    return ModelReranker(opened, seconds, **options)


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Index]:
    with index_of_articles(tmp_path_factory.mktemp("reranked"), 24) as index:
        yield index


@pytest.fixture
def opened(made: Index) -> Iterator[Callable[[ModelReranker], Index]]:
    """Opens the index with a reranker."""
    with opening(made) as open_:
        yield open_


def added(explained: Explanation) -> float:
    """The sum of the parts of a score."""
    return sum(explained.points.values())


def clock_that_stops_after(looks: int) -> Callable[[], float]:
    """A clock by which the time has run out after so many looks at it, the first not counted."""
    times = chain(repeat(0.0, 1 + looks), repeat(1e9))
    return lambda: next(times)


# -- what is read ------------------------------------------------------------------------------------------------------


def test_an_encoder_reads_title_headings_and_passage_of_the_first_fifty(
    made: Index, opened: Callable[[ModelReranker], Index]
) -> None:
    first, model = made.search(QUESTION, TUNING.reranked), Letters()
    opened(reranker_by(model)).search(QUESTION, TUNING.reranked + 5)
    assert model.read == list(dict.fromkeys(map(text_of, first)))
    assert model.read[0] == "\n".join(dict.fromkeys([first[0].title, *first[0].headings, first[0].passage]))


def test_its_part_is_of_the_cosine_and_of_the_passages_like_it_and_the_explanation_adds_up(
    made: Index, opened: Callable[[ModelReranker], Index]
) -> None:
    before, model = made.search(QUESTION, TUNING.reranked), Letters()
    vectors = unit_rows(model.encode([text_of(hit) for hit in before]))
    cosines = vectors @ unit_rows(model.encode([QUESTION]))[0]
    said = with_those_alike(cosines, np.array([hit.score for hit in before]), vectors)
    by_id = {hit.passage_id: number for number, hit in enumerate(before)}
    after = opened(reranker_by(Letters())).search(QUESTION, TUNING.reranked)
    assert [hit.score for hit in after] == sorted((hit.score for hit in after), reverse=True)
    for hit in after:
        explained, number = hit.explain(), by_id[hit.passage_id]
        part = explained.rerank
        assert part is not None
        assert part.model == "letters"
        assert part.alone == pytest.approx(cosines[number])
        assert part.said == pytest.approx(said[number], abs=1e-4)
        assert part.points == part.weight * (part.said - part.mean) / part.deviation
        assert part.unread is None
        assert hit.score == pytest.approx(before[number].score + part.points)
        assert added(explained) == pytest.approx(hit.score, abs=1e-5)


def test_what_is_not_read_in_time_keeps_its_place_and_that_is_said(
    made: Index,
    opened: Callable[[ModelReranker], Index],
    monkeypatch: pytest.MonkeyPatch,
    caplog: pytest.LogCaptureFixture,
) -> None:
    before = [hit.passage_id for hit in made.search(QUESTION, TUNING.reranked)]
    for model in (Letters(), Lengths()):
        caplog.clear()
        with caplog.at_level(logging.WARNING, "semsearch"):
            after = opened(reranker_by(model, 3.0, clock=clock_that_stops_after(1))).search(QUESTION, TUNING.reranked)
        assert len(model.read) == 16
        assert "read 16 of 50 passages in its 3 seconds" in caplog.text
        assert {hit.passage_id for hit in after[:16]} == set(before[:16])
        assert [hit.passage_id for hit in after[16:]] == before[16:]
        scores = [hit.score for hit in after]
        assert scores == sorted(scores, reverse=True)
        unread = [hit.explain().rerank for hit in after[16:]]
        read = [hit.explain().rerank for hit in after[:16]]
        assert all(part is not None and part.unread for part in unread)
        assert {part.points for part in unread if part} == {min(part.points for part in read if part)}


def test_a_cross_encoder_scores_pairs(opened: Callable[[ModelReranker], Index]) -> None:
    (hit, *_) = opened(reranker_by(Lengths())).search(QUESTION)
    part = hit.explain().rerank
    assert part is not None
    assert (part.said, part.alone, part.model) == (len(text_of(hit)), None, "lengths")


# -- what is kept ------------------------------------------------------------------------------------------------------


def test_a_passage_is_encoded_once_and_the_answer_is_the_same(
    opened: Callable[[ModelReranker], Index], monkeypatch: pytest.MonkeyPatch
) -> None:
    model = Letters()
    index = opened(reranker_by(model))
    before = index.search(QUESTION)
    assert index.search(QUESTION) == before
    assert len(model.read) == 50
    monkeypatch.setattr(rerankers, "_MOST_KEPT", 10)  # the others are read again
    assert index.search(QUESTION) == before
    assert len(model.read) == 90


def test_of_several_indexes_the_first_of_all_are_read_once(tmp_path: Path) -> None:
    vectors = small_vectors(tmp_path)
    for name, topics in (("one", 6), ("two", 9)):
        write_articles(tmp_path / name, topics)
        with Index.create(tmp_path / "indexes" / name, vectors=vectors) as index:
            index.sync(tmp_path / name)
    paths = [tmp_path / "indexes" / name for name in ("one", "two")]
    model = Letters()
    with MultiIndex.open(*paths) as plain, MultiIndex.open(*paths, reranker=reranker_by(model)) as both:
        before = {(hit.index, hit.passage_id): hit.score for hit in plain.search(QUESTION, TUNING.reranked)}
        after = both.search(QUESTION, TUNING.reranked)
        assert len(model.read) == len({text_of(hit) for hit in after[:50]})
        for hit in after:
            part = hit.explain().rerank
            assert part is not None
            assert hit.score == pytest.approx(before[str(hit.index), hit.passage_id] + part.points)
            assert added(hit.explain()) == pytest.approx(hit.score, abs=1e-5)
        read = len(model.read)
        assert both.context(QUESTION).text
        assert len(model.read) >= read
