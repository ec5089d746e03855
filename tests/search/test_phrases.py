"""Phrases decide which passages may answer, exactly on their words, in every mode, in batches and alone."""

from __future__ import annotations

import logging
from collections.abc import Iterator

import pytest

from semsearch.index import Index
from semsearch.readers.document import Text
from semsearch.results.hits import Hit
from semsearch.results.options import Mode
from semsearch.word_vectors.table import VectorTable

TEXTS = {
    "together": "The old ship sails in the storm. A captain waits.",
    "apart": "The ship is old. It sails in a storm, and the captain waits.",
    "forms": "Old ships were sailing in storms; captains waited.",
    "accents": "An óld Ship is in the harbour.",
    "across": "The captain is old.\n\nShip and sailor wait.",
    "none": "A judge in the court.",
    "email": "Send e-mail to the captain of the ship.",
}
MODES: tuple[Mode, ...] = ("hybrid", "dense", "lexical")


@pytest.fixture(scope="module")
def index(tmp_path_factory: pytest.TempPathFactory, small_vectors: VectorTable) -> Iterator[Index]:
    with Index.create(tmp_path_factory.mktemp("phrases") / "index", vectors=small_vectors, adapt=False) as index:
        texts = [Text(name, text) for name, text in TEXTS.items()]
        index.add([*texts, Text("titled", "The harbour is dark.", title="The old ship")])
        index.add([Text("gone", "An old ship in the night.")])  # in a segment of its own
        index.remove("gone")
        yield index


def names(hits: list[Hit]) -> set[str]:
    return {hit.document for hit in hits}


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize(
    ("query", "expected"),
    [
        ('"old ship"', {"together", "forms", "accents", "across", "titled"}),
        ('captain "old ship"', {"together", "forms", "accents", "across", "titled"}),
        ('"ship old"', set()),
        ('"ship is old"', {"apart"}),
        ('"Old SHIPS"', {"together", "forms", "accents", "across", "titled"}),
        ('"in the storm"', {"together"}),
        ('"e-mail" captain', {"email"}),
        ('"e mail to the captain"', {"email"}),
        ('"old ship" "captain waits"', {"together", "forms"}),
        ('"old ship" -harbour', {"together", "forms", "across"}),
        ('ship -"old ship"', {"apart", "email"}),
        ('"ship" -old', {"email"}),
        ('"ship" -old -e-mail', set()),
        ('"harbour" -"old ship"', set()),
    ],
)
def test_phrases_decide_which_passages_answer(query: str, expected: set[str], mode: Mode, index: Index) -> None:
    found = names(index.search(query, 20, mode=mode))
    if query.startswith("ship") and mode != "lexical":
        assert expected <= found
        assert not found & {"together", "forms", "accents", "across", "titled"}
    else:
        assert found == expected
    assert names(index.search_many(["judge", query, query], 20, mode=mode)[2]) == found


@pytest.mark.parametrize("mode", MODES)
def test_a_score_is_that_of_the_query_without_its_syntax(mode: Mode, index: Index) -> None:
    plain = {hit.document: (hit.dense, hit.lexical) for hit in index.search("old ship captain", 20, mode=mode)}
    for hit in index.search('"old ship" captain -harbour', 20, mode=mode):
        assert (hit.dense, hit.lexical) == plain[hit.document]
        assert hit.explain().score == pytest.approx(hit.score)
        assert hit.explain().query == '"old ship" captain -harbour'
        stored = Hit.from_dict(hit.to_dict(origin=True))
        assert index.explain(hit.explain().query, stored) == hit.explain()
        assert index.explain('"old ship" captain -harbour', stored).score == pytest.approx(hit.score)


def test_plain_syntax_takes_quotes_and_hyphens_as_text(index: Index) -> None:
    for query in ('"ship old"', "ship -old"):
        assert index.search(query, syntax="plain") == index.search("ship old")
        assert names(index.search(query, mode="lexical", syntax="plain")) >= {"apart", "email"}


def test_a_phrase_that_no_passage_has_is_said(index: Index, caplog: pytest.LogCaptureFixture) -> None:
    assert index.search('"ship old"') == []
    assert [record.message for record in caplog.records] == ["no passage has the phrase 'ship old'"]
    caplog.clear()
    assert index.search('"old ship"', filters=["path=none"]) == []
    assert caplog.messages == ["no passage that the filters allow has the phrase 'old ship'"]
    assert all(record.levelno == logging.WARNING for record in caplog.records)


def test_a_phrase_that_no_passage_has_is_text_beside_other_words(
    index: Index, caplog: pytest.LogCaptureFixture
) -> None:
    hits = index.search('captain "ship old"')
    assert hits
    assert [hit.path for hit in hits] == [hit.path for hit in index.search("captain ship old")]
    assert caplog.messages == ["no passage has the phrase 'ship old'; its words are searched for one by one"]
    only_phrases = index.search('captain "old ship" "ship old"')
    assert names(only_phrases) == names(index.search('captain "old ship"'))
