"""Contexts for a language model: numbered, leaning on nothing that is not there, never above the budget."""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest
from small import small_vectors, write_articles
from some_hit import some_hit

from semsearch.context import announces, context_of
from semsearch.index import Index
from semsearch.readers.document import Text
from semsearch.results.hits import Context, Hit, Hits
from semsearch.results.options import SearchOptions
from semsearch.searchable import LEAST_WORDS
from semsearch.storage.passage_rows import PassageRow
from semsearch.text.text_lengths import count_words


class Book:
    """Passages made of sentences, a line each, and hits on them."""

    def __init__(self) -> None:
        self.passages: dict[int, PassageRow] = {}
        self.hits: list[Hit] = []
        self._sentences, self._line = 100, 1

    def add(
        self, *sentences: str, document: int = 1, headings: Sequence[str] = ("Head",), hit: int | None = None
    ) -> int:
        """Append a passage, and a hit on its n-th sentence; the passage's id."""
        text = "\n".join(sentences)
        starts = np.cumsum([0, *(len(sentence) + 1 for sentence in sentences)])[:-1]
        rows = [
            (start, start + len(sentence), start, start + len(sentence), self._line + number)
            for number, (start, sentence) in enumerate(zip(starts.tolist(), sentences, strict=True))
        ]
        id_ = len(self.passages) + 1
        self.passages[id_] = PassageRow(
            id_, document, self._sentences, self._line, None, tuple(headings), text, np.array(rows, dtype=np.int32)
        )
        self._sentences += len(sentences)
        self._line += len(sentences)
        if hit is not None:
            self.hit(id_, hit)
        return id_

    def hit(self, id_: int, number: int = 0) -> None:
        row = self.passages[id_]
        path = f"{'abcdef'[row.document_id - 1]}.txt"
        self.hits.append(
            some_hit(
                row.sentence(number), path=path, root="", document=path, line=int(row.sentences[number, 4]),
                headings=row.headings, passage=row.text, passage_id=id_, sentence_id=row.first_sentence + number,
            )
        )  # fmt: skip

    def context(self, max_words: int = 500) -> Context:
        return context_of(Hits(self.hits), self.passages, SearchOptions(50), max_words=max_words)


def test_blocks_are_numbered_and_their_sources_listed() -> None:
    book = Book()
    book.add("One bee.", hit=0)
    book.add("Two bees.", "Three bees.", document=2, headings=("Insects", "Bees"), hit=1)
    made = book.context()
    assert made.text == (
        "[1] Head\n\nOne bee.\n\n[2] Insects > Bees\n\nTwo bees.\nThree bees.\n\n"
        "Sources:\n\n- [1] a.txt:1, Head\n- [2] b.txt:2-3, Bees"
    )
    assert made.words == count_words(made.text)
    first, second = made.citations
    assert (first.number, first.path, first.line, first.last_line, first.text) == (1, "a.txt", 1, 1, "One bee.")
    assert (second.number, second.line, second.last_line, second.headings) == (2, 2, 3, ("Insects", "Bees"))


def test_passages_that_follow_each_other_become_one_in_reading_order() -> None:
    book = Book()
    first, second, third = book.add("First."), book.add("Second."), book.add("Third.")
    book.add("Elsewhere.", document=2, hit=0)
    for id_ in (third, first, second):
        book.hit(id_)
    made = book.context()
    assert [citation.text for citation in made.citations] == ["Elsewhere.", "First.\n\nSecond.\n\nThird."]
    assert (made.citations[1].line, made.citations[1].last_line) == (1, 3)


def test_a_list_gets_the_line_that_announces_it() -> None:
    book = Book()
    book.add("Bees are useful.", "A hive needs the following:")
    book.add("Frames", "Wax", hit=0)
    assert book.context().citations[0].text == "Bees are useful.\nA hive needs the following:\n\nFrames\nWax"
    for elsewhere in ({"headings": ("Other",)}, {"document": 2}):
        book = Book()
        book.add("A hive needs the following:")
        book.add("Frames", hit=0, **elsewhere)  # type: ignore[arg-type]
        assert book.context().citations[0].text == "Frames"


def test_a_line_that_announces_a_list_gets_the_list() -> None:
    book = Book()
    book.add("A hive needs the following:", hit=0)
    book.add("Frames", "Wax")
    book.add("Other things.")
    assert book.context().citations[0].text == "A hive needs the following:\n\nFrames\nWax"


def test_a_passage_that_does_not_fit_makes_room_for_shorter_ones() -> None:
    book = Book()
    book.add("One bee.", hit=0)
    book.add("word " * 100 + "end.", document=2, hit=0)
    book.add("Two bees.", document=3, hit=0)
    assert [citation.path for citation in book.context(40).citations] == ["a.txt", "c.txt"]


def test_a_first_passage_that_is_too_long_is_taken_from_its_best_sentence_on() -> None:
    book = Book()
    book.add(*(f"This is sentence number {number} of many." for number in range(30)), hit=20)
    made = book.context(40)
    assert "number 20 of" in made.text
    assert "number 10 of" not in made.text
    assert 30 < made.words <= 40


def test_of_a_sentence_that_is_too_long_the_beginning_is_taken() -> None:
    book = Book()
    book.add("word " * 100 + "end.", hit=0)
    made = book.context(20)
    assert re.fullmatch(r"(word ){10,13}…", made.citations[0].text)
    assert made.text == f"[1] {made.citations[0].text}\n\nSources:\n\n- [1] a.txt:1, Head"
    assert book.context(5).text == "[1] word word word …"


@pytest.mark.parametrize("text", ["QUJD" * 50_000, "今天天气很好。" * 1000, "word " * 500, "A few words."])
def test_the_budget_is_never_exceeded(text: str) -> None:
    book = Book()
    book.add(text, hit=0)
    book.add("It is short.", hit=0)
    for most in [*range(LEAST_WORDS, 40), 200, 800]:
        made = book.context(most)
        assert made.words == count_words(made.text) <= most
        assert len(made.text.split()) <= most
        assert made.text
    assert book.context(200).words > 190 or len(text) < 100


def test_nothing_found_is_an_empty_context() -> None:
    assert context_of(Hits(), {}, SearchOptions(), max_words=100) == Context("", 0, ())


def test_an_index_gives_contexts_that_keep_to_budget_and_filters(tmp_path: Path) -> None:
    write_articles(tmp_path / "docs", 30)
    with Index.create(tmp_path / "index", vectors=small_vectors(tmp_path), components=1) as index:
        index.sync(tmp_path / "docs")
        index.add(Text(f"copy-{number}", "The ship and its captain sail to the harbour.") for number in range(50))
        for most in (10, 50, 300, 2000):
            made = index.context("captain of the ship", max_words=most)
            assert 0 < made.words <= most
            assert made == index.context("captain of the ship", max_words=most)
            assert made.text.count("The ship and its captain sail") <= 1
        for citation in made.citations:
            assert f"- [{citation.number}] {citation.path}:{citation.line}" in made.text
            assert citation.text in made.text
        (only, *_) = index.context("moon", filters=["sea-0.md"], mode="dense", floor=0).citations
        assert only.path.endswith("sea-0.md")
        assert index.context("moon", filters=["nowhere/*"]).citations == ()


def test_a_colon_announces() -> None:
    assert announces("Take the following:")
    assert announces("**Take these:** ")
    assert not announces("At 10:30 we sail.")
    assert not announces("")
