"""Terms, postings and BM25, against the formula transcribed."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from references import papers as reference

from semsearch.arrays.id_ranges import IdRanges
from semsearch.arrays.types import Bool, Float32, UInt64
from semsearch.errors import IndexDamaged
from semsearch.lexical.bm25 import WordSearch
from semsearch.lexical.postings import Postings, PostingsBuilder
from semsearch.system.durable import written_file
from semsearch.text.terms import Lexicon, question_terms

TEXTS = [
    "The river carries water to the sea",
    "Rivers and seas",
    "Music is written for the orchestra",
    "A river, a river, a river!",
    "utf-8 encodes text; 8 bits of utf text",
    "",
]


def write(builder: PostingsBuilder, path: Path) -> Postings:
    with path.open("wb") as file:
        for array in builder.to_arrays():
            file.write(np.ascontiguousarray(array).data)
    return opened_postings(path)


def opened_postings(path: Path) -> Postings:
    return Postings(path, written_file(path).sums)


def build(path: Path, texts: list[str], *, step: int = 2) -> Postings:
    builder = PostingsBuilder(Lexicon())
    for first in range(0, len(texts), step):
        part = texts[first : first + step]
        builder.add_terms(builder.lexicon.of(part), np.arange(len(part)), np.ones(len(part), dtype=np.int64))
    return write(builder, path)


def searched(segments: list[Postings], alive: list[Bool | None]) -> WordSearch:
    opened: list[Any] = [SimpleNamespace(postings=one, id_ranges=IdRanges.of([(0, len(one))])) for one in segments]
    return WordSearch(opened, alive)


def scores(search: WordSearch, terms: UInt64) -> list[Float32]:
    return search.score_all(search.find(terms))


def as_terms(text: str) -> list[int]:
    lexicon = Lexicon()
    numbers = lexicon.of([text]).numbers
    return lexicon.terms[numbers].tolist()


def test_words_written_together_are_one_more_term() -> None:
    assert len(as_terms("utf-8")) == 3
    assert set(as_terms("utf-8")) > set(as_terms("utf 8"))
    assert as_terms("utf-8")[2] != as_terms("8-utf")[2]
    assert len(as_terms("utf - 8 read_bytes")) == 5


@pytest.mark.parametrize("question", ["river", "rivers to the sea", "utf-8", "music music river", "the", "unheard"])
def test_scores_agree_with_the_formula(tmp_path: Path, question: str) -> None:
    # the lengths of passages count words, not pairs: so the oracle gets no pairs here but in the question's own test
    texts = [text.replace("-", " ") for text in TEXTS]
    terms = question_terms(question.replace("-", " "))
    ours = scores(searched([build(tmp_path / "p", texts)], [None]), terms)[0]
    expected = reference.bm25([as_terms(text) for text in texts], terms.tolist())
    assert ours == pytest.approx(expected, abs=1e-5)


def test_what_is_asked_as_it_is_written_beats_its_parts(tmp_path: Path) -> None:
    texts = ["the utf-8 codec is used", "the utf codec is 8 used", "something else is written here"]
    first, second, third = scores(searched([build(tmp_path / "p", texts)], [None]), question_terms("utf-8"))[0]
    assert first > second > third == 0


def test_scores_do_not_depend_on_segments_or_on_what_was_removed(tmp_path: Path) -> None:
    whole = searched([build(tmp_path / "whole", TEXTS)], [None])
    first, second = build(tmp_path / "a", [*TEXTS[:3], "a removed river"]), build(tmp_path / "b", TEXTS[3:], step=1)
    parts = searched([first, second], [np.array([True, True, True, False]), None])
    terms = question_terms("river to the sea")
    divided = scores(parts, terms)
    assert divided[0][3] == 0
    assert np.concatenate((divided[0][:3], divided[1])) == pytest.approx(scores(whole, terms)[0], abs=1e-6)


def test_merged_segments_are_as_if_written_at_once(tmp_path: Path) -> None:
    first, second = build(tmp_path / "a", [TEXTS[0], "gone", *TEXTS[1:3]]), build(tmp_path / "b", TEXTS[3:])
    builder = PostingsBuilder(Lexicon())
    builder.merge(second, np.ones(len(second), dtype=np.bool_), np.arange(3, 6), 6)
    builder.merge(first, np.array([True, False, True, True]), np.arange(3), 6)
    merged, whole = write(builder, tmp_path / "merged"), build(tmp_path / "whole", TEXTS)
    for name in ("terms", "bounds", "lengths", "rows", "counts"):
        assert np.array_equal(getattr(merged, name), getattr(whole, name)), name


def test_words_of_headings_count_double(tmp_path: Path) -> None:
    builder = PostingsBuilder(Lexicon())
    builder.add_terms(builder.lexicon.of(["River", "the water", "the river"]), np.array([0, 0, 1]), np.array([2, 1, 1]))
    rows, counts = write(builder, tmp_path / "p").of(as_terms("river")[0])
    assert rows.tolist() == [0, 1]
    assert counts.tolist() == [2, 1]


def test_a_damaged_file_is_refused(tmp_path: Path) -> None:
    build(tmp_path / "p", TEXTS)
    data = (tmp_path / "p").read_bytes()
    sizes = b"\xff" * 8, b"\xff" * 7 + b"\x7f"  # less than none, and the largest there is
    for broken in (b"", data[:20], data[:-1], b"x" + data[1:], *(data[:16] + size + data[24:] for size in sizes)):
        (tmp_path / "p").write_bytes(broken)
        with pytest.raises(IndexDamaged):
            opened_postings(tmp_path / "p")
