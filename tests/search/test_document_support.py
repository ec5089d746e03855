"""Passages are supported by other good passages of their documents, where these have headings."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest
from small import sentence, small_vectors

from semsearch import Index, MultiIndex, tuning
from semsearch.cli.explanation_text import summary
from semsearch.lexical.bm25 import TermLookup, WordSearch
from semsearch.readers.document import Text
from semsearch.results.options import Weights
from semsearch.search.document_support import NO_SUPPORT, Owners, ProximityFinder, supports_of
from semsearch.search.quote import WordAligner
from semsearch.text.terms import named_terms

WEIGHTS = Weights(0.56, 0.24, 1.0, 0.2)
QUESTION = "the captain of a ship in a storm"
WEIGHTS_OF_PARTS = ("support_weight", "length_weight", "short_weight", "proximity_weight")
ABOUT = "The captain of the old ship saw a storm at the harbour."


def owners(
    documents: list[int],
    *,
    passages: list[int] | None = None,
    headed: bool = True,
    code: Sequence[int] = (),
    lengths: Sequence[float] = (),
) -> Owners:
    sizes, n = passages or [3] * len(documents), len(documents)
    ids = np.array(documents, dtype=np.int64)
    kinds = np.isin(ids, [*code]).astype(np.int64)
    return Owners(ids, np.array(sizes, dtype=np.int64), np.full(n, headed), kinds, np.array(lengths or [100.0] * n))


def points(scores: list[float], of: Owners, weights: Weights = WEIGHTS) -> list[float]:
    (support,) = supports_of([slice(None)], np.array(scores), of, [weights])
    ids = np.arange(len(scores))
    found = support.points(ids, of).tolist()
    assert found == pytest.approx([0.0 if part is None else part.points for part in support.parts(ids, of)])
    return found


def test_every_passage_of_a_document_gets_what_its_second_and_third_are_above_half_of_the_best() -> None:
    found = points([0.4, 0.38, 0.36, 0.3, 0.1], owners([1, 2, 2, 2, 2]))
    assert found == pytest.approx([0.0, *[0.5 * ((0.36 - 0.2) + (0.3 - 0.2)) / 2] * 4])
    assert points([0.4, 0.38, 0.1], owners([1, 2, 2])) == [0.0, 0.0, 0.0]


def test_a_score_that_is_not_known_supports_nothing() -> None:
    assert points([0.4, np.nan, 0.3], owners([1, 1, 1])) == pytest.approx([0.5 * 0.1 / 2] * 3)
    assert points([np.nan], owners([1])) == [0.0]
    assert points([], owners([])) == []


def test_texts_without_headings_neither_give_support_nor_get_any() -> None:
    assert points([0.4, 0.38, 0.36], owners([1, 1, 1], headed=False)) == [0.0] * 3


def test_source_code_loses_points_and_supports_nothing() -> None:
    off = tuning.TUNING.code_deduction
    assert points([0.4, 0.38, 0.36, 0.3], owners([1, 2, 2, 2], code=[2])) == pytest.approx([0.0, -off, -off, -off])
    assert points([0.8, 0.6], owners([1, 2], code=[2])) == pytest.approx([0.0, -off])  # however good the best is


def test_where_one_retriever_decides_alone_there_is_none() -> None:
    of = owners([1, 1])
    for weights in (Weights(1.0, 0.0), Weights(0.0, 1.0)):
        assert supports_of([slice(None)], np.array([0.4, 0.3]), of, [weights]) == [NO_SUPPORT]


def test_a_passage_that_meets_the_question_word_for_word_needs_none() -> None:
    assert points([0.8, 0.6, 0.6], owners([1, 2, 2])) == [0.0] * 3
    assert points([0.64, 0.6, 0.6], owners([1, 2, 2]))[1] == pytest.approx(0.5 * 0.5 * (0.6 - 0.32) / 2)


def test_a_document_of_very_many_passages_loses_a_little() -> None:
    found = points([0.4] * 5, owners([1, 2, 3, 4, 5], passages=[39, 40, 80, 126, 10_000]))
    assert found == pytest.approx([0, 0, -0.12 * np.log10(2), -0.12 * np.log10(126 / 40), -0.06])


def test_a_short_passage_below_a_heading_loses_what_it_lacks() -> None:
    lengths = [0, 10, 30, 40, 200, np.nan]
    found = points([0.8] * 6, owners([1, 2, 3, 4, 5, 6], lengths=lengths))
    assert found == pytest.approx([-0.1, -0.075, -0.025, 0, 0, 0])
    assert points([0.8] * 6, owners([1, 2, 3, 4, 5, 6], lengths=lengths, headed=False)) == [0.0] * 6
    assert points([0.8] * 2, owners([1, 2], lengths=[10, 10], passages=[2, 3])) == pytest.approx([0, -0.075])
    off = tuning.TUNING.code_deduction
    assert points([0.8] * 2, owners([1, 2], lengths=[1, 1], code=[2])) == pytest.approx([-0.0975, -off])


# -- Proximity ---------------------------------------------------------------------------------------------------------


def near(question: str, texts: Sequence[str], *, language: str = "en", idf: Mapping[str, float] = {}) -> list[float]:
    """The proximity of each text, by words that have the idf 1 unless another is given."""
    in_order = WordAligner(WordSearch([], [], languages=[language])).in_order
    query, finder = named_terms(question, [language]), ProximityFinder([language], in_order)
    of_terms = {term: idf.get(word, 1.0) for term, word in zip(query.terms.tolist(), query.words, strict=True)}
    terms, values = np.array(sorted(of_terms), dtype=np.uint64), np.array([of_terms[term] for term in sorted(of_terms)])
    lookup = TermLookup(terms, np.ones(len(terms), dtype=np.int64), values, values, [], 1.0)
    found = [finder.find(query, lookup, dict(enumerate(texts))) for _ in range(2)]  # once from memory
    assert found[0] == found[1]
    assert found[0] == {at: pytest.approx(share) for at, share in found[0].items() if share > 0}
    return [found[0].get(at, 0.0) for at in range(len(texts))]


def test_proximity_is_the_share_of_adjacent_words_of_the_query_that_stand_together() -> None:
    texts = [
        "An old ship.",
        "Ships are old.",
        "The ship of an old captain.",
        "Old captain.",
        "Ship of wood; an old one.",
    ]
    assert near("old ship", texts) == pytest.approx([1, 2**-0.5, 3**-0.5, 0, 0])
    assert near("old ship storm", ["an old ship", "old: storm", "ship storm"]) == pytest.approx([0.5, 0, 0.5])


def test_the_nearest_place_of_a_pair_counts_and_the_idf_of_its_more_frequent_word() -> None:
    texts = ["Old wood for the ship, an old ship.", "a ship in a storm"]
    weights = {"old": 0.5, "ship": 3.0, "storm": 1.5}
    assert near("old ship storm", texts, idf=weights) == pytest.approx([0.5 / 2, 1.5 * 3**-0.5 / 2])
    assert near("old ship", texts, idf={"old": 0.0}) == [0.0, 0.0]  # no passage has it


def test_words_of_two_passages_are_never_together() -> None:
    assert near("old ship", ["It is old", "ship and sea", "", "old"]) == [0.0] * 4


def test_proximity_goes_by_stems_of_the_language_and_needs_two_words() -> None:
    assert near("alte Häuser", ["Ein altes Haus", "Haus"], language="de") == [1.0, 0.0]
    assert near("ships", ["ships and ships"]) == [0.0]
    assert near("古い船", ["古い船"], language="ja") == [0.0]


def test_proximity_is_that_of_a_literal_count() -> None:
    rng, letters = np.random.default_rng(5), "abcdefgh"
    asked = ["bb", "dd", "ff"]
    texts = [" ".join(letters[at] * 2 for at in rng.integers(0, 8, 20)) for _ in range(40)]
    literal = []
    for text in texts:
        found, total = text.split(), 0.0
        for one, other in pairwise(asked):
            apart = [abs(i - j) for i, a in enumerate(found) for j, b in enumerate(found) if (a, b) == (one, other)]
            total += min(apart) ** -0.5 if min(apart, default=9) <= 3 else 0.0
        literal.append(total / 2)
    assert near(" ".join(asked), texts) == pytest.approx(literal)
    assert max(literal) > 0.8


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Index]:
    folder = tmp_path_factory.mktemp("support")
    docs = folder / "docs"
    docs.mkdir()
    sections = [f"## Part {number}\n\n{ABOUT} {sentence('sea', number)}\n" for number in range(4)]
    (docs / "guide.md").write_text("# Ships\n\n" + "\n".join(sections), encoding="utf-8")
    (docs / "note.md").write_text(f"# Bread\n\n{ABOUT}\n", encoding="utf-8")
    with Index.create(folder / "index", vectors=small_vectors(folder)) as index:
        index.sync(docs)
        index.add([Text("plain", f"{ABOUT}\n\n{sentence('sea', 5)}")])
        yield index


def test_the_parts_of_a_supported_score_add_up_wherever_it_is_explained(made: Index) -> None:
    hits = made.search(QUESTION, 50, duplicates=True)
    assert any(hit.origin is not None and hit.origin.support for hit in hits)
    for hit in hits:
        for found in (hit.explain(), made.explain(QUESTION, hit), made.explain(QUESTION, replace(hit, origin=None))):
            parts = (found.lexical, found.dense, found.near, found.support)
            assert found.score == pytest.approx(hit.score, abs=1e-6)
            assert found.score == pytest.approx(sum(part.points for part in parts if part is not None))
            assert found.support is None or hit.document == "guide.md"


def test_in_a_search_of_several_indexes_support_stays_a_part_of_the_score(made: Index) -> None:
    with MultiIndex({name: Index.open(made.path) for name in ("one", "two")}) as several:
        for hit in several.search(QUESTION, 20):
            found = hit.explain()
            parts = (found.lexical, found.dense, found.near, found.support)
            assert found.score == pytest.approx(sum(part.points for part in parts if part is not None))
            assert found.score == pytest.approx(hit.score, abs=1e-6)


def test_without_support_the_scores_are_those_of_their_other_parts(
    made: Index, monkeypatch: pytest.MonkeyPatch
) -> None:
    supported = {hit.passage_id: hit for hit in made.search(QUESTION, 50, duplicates=True)}
    monkeypatch.setattr(tuning, "TUNING", replace(tuning.TUNING, **dict.fromkeys(WEIGHTS_OF_PARTS, 0.0)))
    for hit in made.search(QUESTION, 50, duplicates=True):
        assert hit.origin is not None
        assert hit.origin.support is None
        before = supported[hit.passage_id].origin
        if before is not None and before.models == hit.origin.models:
            part = before.support.points if before.support else 0.0
            assert supported[hit.passage_id].score == pytest.approx(hit.score + part, abs=1e-6)


SOURCES = """\
Ada Stone and Ben Rivers. The captain of a ship in a storm. In Proceedings of the Third Conference on Ships, 2004.
Dora Hill and Emil Wood. The old ship at the harbour. Journal of Coasts, 12(3):45-67, 2011.
Fay Lake. Storms of the sea. arXiv preprint arXiv:1903.00001, 2019."""


def test_a_list_of_sources_comes_after_what_says_something_unless_it_is_asked_for(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with Index.create(tmp_path / "index", vectors=small_vectors(tmp_path)) as index:
        index.add(
            [
                Text("sources", SOURCES),
                Text(
                    "text",
                    "The storm was over, and the captain slept. In his dreams he saw the harbour, bread and cats.",
                ),
            ]
        )
        first, second = index.search(QUESTION)
        assert (first.document, second.document) == ("text", "sources")
        assert all(hit.origin and not hit.origin.support for hit in index.search(QUESTION + ", references"))
        assert first.origin is not None
        assert first.origin.support is None
        for found in (second.explain(), index.explain(QUESTION, replace(second, origin=None))):
            assert found.support is not None
            assert found.support.listing == tuning.TUNING.listing
            parts = (found.lexical, found.dense, found.near, found.support)
            assert found.score == pytest.approx(sum(part.points for part in parts if part is not None))
            assert "lists sources" in "\n".join(summary(found))
        monkeypatch.setattr(tuning, "TUNING", replace(tuning.TUNING, listing=0.0))
        assert index.search(QUESTION)[0].document == "sources"
