"""The words near a misspelt one: all that the promise says, in any script, through merges and other processes."""

from __future__ import annotations

import random
from pathlib import Path

import numpy as np
import pytest
from small import gathered

from semsearch.arrays.id_ranges import IdRanges
from semsearch.errors import IndexDamaged
from semsearch.lexical.postings import LexicalSegment, Postings, PostingsBuilder, WordsWriter
from semsearch.lexical.spelling import SpelledWords, edit_between
from semsearch.storage.segments import Segment
from semsearch.system.durable import written_file
from semsearch.text.terms import LONGEST, SHORTEST, Lexicon

ALPHABETS = ["abcde", "абвгд", "aäoöu", "कखगिी"]


def distance(one: str, two: str) -> int:
    """The number of letters inserted, left out, replaced or swapped with a neighbour. Boytsov 2011, equation (4)."""
    before: list[int] = []
    last, row = before, [*range(len(two) + 1)]
    for i, a in enumerate(one, 1):
        before, last, row = last, row, [i]
        for j, b in enumerate(two, 1):
            least = min(last[j] + 1, row[j - 1] + 1, last[j - 1] + (a != b))
            if i > 1 and j > 1 and a == two[j - 2] and one[i - 2] == b:
                least = min(least, before[j - 2] + 1)
            row.append(least)
    return row[-1]


def build(path: Path, texts: list[str], language: str = "en") -> SpelledWords:
    builder = PostingsBuilder(Lexicon())
    terms = builder.lexicon.in_language(texts, language)
    builder.add_terms(terms, np.arange(len(texts)), np.ones(len(texts), dtype=np.int64))
    path.write_bytes(b"".join(np.ascontiguousarray(array).tobytes() for array in builder.to_arrays()))
    return Postings(path, written_file(path).sums).spelled


def words_of(spelled: SpelledWords) -> set[str]:
    return {word.decode() for word in spelled.all()[0]}


@pytest.mark.parametrize("alphabet", ALPHABETS)
def test_all_words_one_edit_away_are_found(alphabet: str, tmp_path: Path) -> None:
    random_ = random.Random(5)
    made = {"".join(random_.choices(alphabet, k=random_.randint(4, 7))) for _ in range(500)}
    spelled = build(tmp_path / "p", [" ".join(sorted(made))], "hi" if alphabet[0] == "क" else "de")
    vocabulary = words_of(spelled)
    assert len(vocabulary) > 300
    for word in ["".join(random_.choices(alphabet, k=random_.randint(5, 7))) for _ in range(20)]:
        distances = {w: distance(word, w) for w in vocabulary}
        assert {each.word for each in spelled.similar(word, 1)} == {w for w, edits in distances.items() if edits == 1}
        of_ends = {w: edits for w, edits in distances.items() if w[:2] == word[:2] or w[-2:] == word[-2:]}
        near = {w for w, edits in of_ends.items() if 0 < edits <= 2}
        assert {each.word for each in spelled.similar(word, 2)} == near


@pytest.mark.parametrize(
    ("typed", "edit"),
    [
        ("shceduler", "swapped"),
        ("schedduler", "doubled"),
        ("schduler", "missing"),
        ("schedxuler", "extra"),
        ("schedular", "other"),
        ("shcedular", "several"),
        ("scheduler", None),
        ("skhcedular", None),
    ],
)
def test_an_edit_has_its_kind(typed: str, edit: str | None) -> None:
    assert edit_between(typed, "scheduler", 2) == edit


def test_words_are_kept_as_they_are_spelled_and_names_with_digits_are_not(tmp_path: Path) -> None:
    text = f"Schedulers, scheduling; utf8 E4711 Größe it's {'x' * LONGEST} {'y' * (LONGEST + 1)} {'z' * (SHORTEST - 1)}"
    assert words_of(build(tmp_path / "p", [text])) == {"schedulers", "scheduling", "größe", "x" * LONGEST}


def segments(folder: Path, texts: dict[int, str]) -> list[Segment]:
    writer = WordsWriter(folder, generation=1)
    for id_, text in texts.items():
        writer.take(np.array([id_]), gathered([""], [text]))
    return writer.finish()


def opened(folder: Path, made: list[Segment]) -> list[LexicalSegment]:
    return [LexicalSegment(folder / segment.file, segment) for segment in made]


def test_a_merged_segment_has_the_words_of_the_passages_that_are_left(tmp_path: Path) -> None:
    sources = [*segments(tmp_path, {1: "violin piano", 2: "cello"}), *segments(tmp_path, {3: "trumpet violins"})]
    merger = WordsWriter(tmp_path, generation=2)
    merger.merge(opened(tmp_path, sources), IdRanges.of_ids(np.array([2])))
    (merged,) = opened(tmp_path, merger.finish())
    assert words_of(merged.postings.spelled) == {"violin", "violins", "piano", "trumpet"}
    (found,) = merged.postings.spelled.similar("trumpte", 1)
    assert merged.postings.terms[found.number] == Lexicon().in_order(["trumpet"]).hashes[0]
    merged.postings.check()


def test_words_that_refer_to_nothing_are_damage(tmp_path: Path) -> None:
    builder = PostingsBuilder(Lexicon())
    builder.add_terms(builder.lexicon.of(["a violin"]), np.arange(1), np.ones(1, dtype=np.int64))
    arrays = builder.to_arrays()
    arrays[5 + 4] = np.full_like(arrays[5 + 4], 99)  # the positions of the words' terms
    (tmp_path / "segments").mkdir()
    path = tmp_path / "segments" / "p"
    path.write_bytes(b"".join(np.ascontiguousarray(array).tobytes() for array in arrays))
    damaged = Postings(path, written_file(path).sums)
    assert damaged.spelled.similar("vioiln", 1) == []
    with pytest.raises(IndexDamaged):
        damaged.check()
