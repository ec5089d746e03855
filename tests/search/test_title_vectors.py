"""What a document's title adds to the scores of its passages."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from semsearch import tuning
from semsearch.index import Index
from semsearch.readers.document import Text
from semsearch.results.explanation import Cosine
from semsearch.results.hits import Hit
from semsearch.word_vectors.table import VectorTable

TEXT = "The captain saw the storm from the harbour. A sailor went with the ship."
QUESTION = "bread and a rose"


@pytest.fixture
def index(tmp_path: Path, small_vectors: VectorTable) -> Iterator[Index]:
    with Index.create(tmp_path / "index", vectors=small_vectors) as index:
        titles = {
            "baker": "Bread",
            "sea": "Ships in a storm",
            "number": "17",
            "harbour/anchor.txt": "",
            "none": "",
            "bread-rose.txt": "",
        }
        index.add([Text(id_, TEXT, title=title) for id_, title in titles.items()])
        yield index


def found(index: Index, **options: Any) -> dict[str, Hit]:
    return {hit.document: hit for hit in index.search(QUESTION, duplicates=True, **options)}


def of_title(index: Index, hit: Hit) -> list[Cosine]:
    explanation = index.explain(QUESTION, hit)
    assert explanation.score == pytest.approx(hit.score, abs=1e-6)
    assert explanation.dense is not None
    assert sum(each.weight for each in explanation.dense.cosines) == pytest.approx(1)
    return [each for each in explanation.dense.cosines if each.of == "title"]


def test_of_passages_that_say_the_same_that_under_the_title_asked_for_is_first(index: Index) -> None:
    hits = found(index, mode="dense")
    dense = {document: hit.dense for document, hit in hits.items()}
    assert dense["none"] == dense["number"]
    first = [document for document in dense if document in ("baker", "sea", "none")]
    assert first[0] == "baker"
    assert all(each is not None for each in dense.values())


def test_a_title_is_a_part_of_the_explanation_and_neither_a_number_nor_a_name_of_one_word_is_a_title(
    index: Index,
) -> None:
    hits = found(index, mode="dense")
    (title,) = of_title(index, hits["baker"])
    embedder = SentenceEmbedderOf(index)
    assert title.cosine == pytest.approx(float(embedder(QUESTION) @ embedder("Bread")), abs=1e-6)
    assert {each.word for each in title.words} == {"bread", "and", "a", "rose"}
    assert hits["harbour/anchor.txt"].title == "anchor"
    assert [of_title(index, hits[each]) for each in ("number", "harbour/anchor.txt", "none")] == [[], [], []]
    assert of_title(index, hits["bread-rose.txt"])


def test_only_a_question_is_compared_with_titles(index: Index, monkeypatch: pytest.MonkeyPatch) -> None:
    def scores() -> list[list[float]]:
        asked = index.search(QUESTION, duplicates=True), index.similar("baker", duplicates=True)
        return [[hit.score for hit in hits] for hits in asked]

    asked, similar = scores()
    monkeypatch.setattr(tuning, "TUNING", replace(tuning.TUNING, title_share=5))
    after = scores()
    assert after[0] != asked
    assert after[1] == similar


class SentenceEmbedderOf:
    """The embedder of an index, for one text."""

    def __init__(self, index: Index) -> None:
        self._index = index

    def __call__(self, text: str) -> Any:
        return self._index.embed([text])[0]
