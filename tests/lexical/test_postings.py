"""Segments of postings as the index uses them: written, merged, asked."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import numpy.typing as npt
import pytest
from references import papers as reference
from small import gathered

from semsearch.arrays.id_ranges import IdRanges
from semsearch.arrays.types import Bool, Float64, Int64
from semsearch.errors import IndexDamaged
from semsearch.lexical.bm25 import TermLookup, WordSearch
from semsearch.lexical.postings import LexicalSegment, WordsWriter
from semsearch.storage.segments import Segment
from semsearch.text.terms import Lexicon, question_terms

TEXTS = ["The ship sails at dawn.", "A violin and a piano.", "Ships and boats in the harbour.", "Tuning the piano."]


def written(folder: Path, ids: list[int], texts: list[str], *, largest: int = 100) -> list[Segment]:
    writer = WordsWriter(folder, generation=1, largest=largest)
    for id_, text in zip(ids, texts, strict=True):
        writer.take(np.array([id_]), gathered(["Heading"], [text]))
    return writer.finish()


def opened(folder: Path, segments: list[Segment]) -> list[LexicalSegment]:
    return [LexicalSegment(folder / segment.file, segment) for segment in segments]


def ask(words: list[LexicalSegment], question: str, n: int = 10, *, allowed: IdRanges | None = None) -> list[int]:
    return WordSearch(words, [None] * len(words)).find(as_asked(question)).best(n, allowed=allowed).tolist()


def as_asked(question: str) -> npt.NDArray[np.uint64]:
    return question_terms(question)


def as_terms(text: str) -> list[int]:
    lexicon = Lexicon()
    numbers = lexicon.of([text]).numbers
    return lexicon.terms[numbers].tolist()


Flags = tuple[Bool, Bool]  # whether the document has a passage before each, and one after


def of(scores: TermLookup, ids: Int64, flags: Flags) -> Float64:
    return scores.scored(scores.search.locate(ids, *flags))


def alone(n: int) -> Flags:
    return (np.zeros(n, dtype=np.bool_), np.zeros(n, dtype=np.bool_))


def neighbours(documents: list[list[str]]) -> Flags:
    """Where passages that are written document by document have neighbours."""
    positions = [(position, len(document)) for document in documents for position in range(len(document))]
    return (
        np.array([position > 0 for position, _ in positions]),
        np.array([position + 1 < n for position, n in positions]),
    )


def test_passages_are_found_by_their_words_and_those_of_their_headings(tmp_path: Path) -> None:
    words = opened(tmp_path, written(tmp_path, [5, 6, 9, 10], TEXTS))
    assert ask(words, "ship") == [5, 9]
    assert ask(words, "headings") == [5, 6, 9, 10]
    assert ask(words, "unheard") == []


@pytest.mark.parametrize(
    ("question", "text"),
    [
        ("größe", "Die Größe zählt"),
        ("cafe", "ein Café"),
        ("東京", "私は東京に住んでいます"),
        ("мир", "Мир всем"),
        ("ﾊﾝﾊﾞｰｸﾞ", "美味しいﾊﾝﾊﾞｰｸﾞ"),
    ],
)
def test_other_scripts_are_found(tmp_path: Path, question: str, text: str) -> None:
    words = opened(tmp_path, written(tmp_path, [1, 2], [text, "nothing of the kind"]))
    assert ask(words, question) == [1]


def test_merged_segments_lack_what_was_removed_and_nothing_else(tmp_path: Path) -> None:
    first, second = written(tmp_path, [5, 9], [TEXTS[0], TEXTS[2]]), written(tmp_path, [6, 10], [TEXTS[1], TEXTS[3]])
    writer = WordsWriter(tmp_path, generation=2)
    writer.merge(opened(tmp_path, [*second, *first]), IdRanges.of([(9, 1)]))
    merged = opened(tmp_path, writer.finish())
    assert merged[0].id_ranges.all_ids().tolist() == [5, 6, 10]
    assert ask(merged, "ship") == [5]
    assert ask(merged, "piano") == [6, 10]


def test_removed_passages_are_not_found_before_a_merge_either(tmp_path: Path) -> None:
    words = opened(tmp_path, written(tmp_path, [5, 6, 9, 10], TEXTS))
    scores = WordSearch(words, [np.array([True, True, False, True])]).find(as_asked("ship"))
    assert scores.best(10).tolist() == [5]
    assert np.isnan(of(scores, np.array([5, 7, 9]), alone(3))).tolist() == [False, True, True]


def test_only_allowed_passages_count_and_always_fill_the_page(tmp_path: Path) -> None:
    texts = ["ship ship ship"] * 50 + ["one ship among many other words that say something else"]
    words = opened(tmp_path, written(tmp_path, list(range(1, 52)), texts))
    assert ask(words, "ship", 5, allowed=IdRanges.of([(51, 1)])) == [51]


@pytest.mark.parametrize("largest", [100, 2])
@pytest.mark.parametrize("question", ["ship", "piano harbour", "dawn", "piano piano ship", "unheard"])
def test_words_of_the_passages_beside_count_half(tmp_path: Path, question: str, largest: int) -> None:
    documents = [[TEXTS[0], TEXTS[1], TEXTS[2]], [TEXTS[3]], [TEXTS[1], TEXTS[0]]]
    texts = [text for document in documents for text in document]
    ids = np.arange(1, 7)
    writer = WordsWriter(tmp_path, generation=1, largest=largest)  # with two, neighbours lie in different segments
    for id_, text in zip(ids, texts, strict=True):
        writer.take(ids[id_ - 1 : id_], gathered([""], [text]))
    search = WordSearch(opened(tmp_path, writer.finish()), [None] * -(-6 // largest), documents=3)
    terms = [[as_terms(text) for text in document] for document in documents]
    expected = np.array(reference.bm25_with_neighbours(terms, as_asked(question).tolist()))
    found = of(search.find(as_asked(question)), ids, neighbours(documents))
    assert found == pytest.approx(np.where(expected > 0, expected, np.nan), rel=1e-6, nan_ok=True)
    some = np.array([2, 6])
    flags = (np.array([True, True]), np.array([True, False]))
    several = of(search.find(as_asked(question)), some, flags)
    assert several == pytest.approx(found[some - 1], nan_ok=True)


def test_a_file_of_other_passages_is_refused(tmp_path: Path) -> None:
    segment = written(tmp_path, [1, 2], TEXTS[:2])[0]
    with pytest.raises(IndexDamaged, match="2 passages, not 3"):
        LexicalSegment(tmp_path / segment.file, segment._replace(id_ranges=IdRanges.of([(1, 3)])))
