"""Queries over HTTP are answered as the index itself answers them."""

from __future__ import annotations

from pathlib import Path

import pytest
from serving import Asker, running

from semsearch.index import Index
from semsearch.results.hits import Hit
from semsearch.results.origin import Correction
from semsearch.server.open_indexes import OpenIndexes

OPTIONS = {"k": 3, "mode": "dense", "filters": ["sea*"], "context": 1, "duplicates": True, "min_score": -1.0}


def hits(found: list[dict[str, object]]) -> list[Hit]:
    return [Hit.from_dict(hit) for hit in found]


@pytest.mark.parametrize("method", ["GET", "POST"])
def test_every_option_of_a_search_counts(method: str, asker: Asker, docs: Index) -> None:
    given = {"index": "docs", "query": "ship", **OPTIONS}
    reply = asker.get("/v1/search", **given) if method == "GET" else asker.post("/v1/search", given)
    assert hits(reply.json["hits"]) == docs.search("ship", **OPTIONS)  # type: ignore[arg-type]  # of many types
    assert len(reply.json["hits"]) == 3


def test_similar_takes_a_path_with_a_line_or_a_hit(asker: Asker, docs: Index) -> None:
    (hit,) = docs.search("a ship", 1)
    by_path = asker.get("/v1/similar", index="docs", path=hit.path, line=hit.line, k=4).json["hits"]
    by_hit = asker.post("/v1/similar", {"index": "docs", "hit": hit.to_dict(), "k": 4}).json["hits"]
    assert hits(by_hit) == docs.similar(hit, k=4)
    assert hits(by_path) == docs.similar(hit.path, hit.line, 4)
    assert asker.post("/v1/similar", {"index": "docs"}).detail == "give either the path of a document or a hit"


def test_an_origin_that_no_search_gives_is_refused(asker: Asker, docs: Index) -> None:
    (hit,) = docs.search("a ship", 1)
    for change in ({"best": 0.0}, {"best": -1.0}, {"near": 1e300}):
        sent = hit.to_dict(origin=True)
        sent["origin"]["weights"] |= change
        reply = asker.post("/v1/explain", {"index": "docs", "hit": sent, "query": "a ship"})
        assert (reply.status, "invalid weights" in reply.detail) == (400, True)


def test_all_indexes_are_asked_where_none_is_named(asker: Asker, folder: Path) -> None:
    named = {"index": ["docs", "notes"]}
    assert asker.get("/v1/search", query="ship", **named).json == asker.get("/v1/search", query="ship").json
    assert asker.post("/v1/context", {"query": "ship", **named}).json == asker.get("/v1/context", query="ship").json
    reply = asker.get("/v1/status")  # of one index
    assert (reply.status, reply.json["error"]) == (400, "UsageError")
    assert "the server has 2 indexes: docs, notes" in reply.detail
    with Index.connect(asker.url) as remote:
        assert {hit.index for hit in remote.search("the judge and a ship")} == {"docs", "notes"}
    unknown = asker.get("/v1/search", query="ship", index="../indexes/docs")
    assert (unknown.status, unknown.json["error"]) == (404, "IndexNotFound")
    with running(OpenIndexes(places={"only": folder / "indexes" / "notes"})) as other:
        assert other.get("/v1/search", query="ship").json["index"] == "only"


def test_an_index_that_cannot_be_opened_is_told_of_and_the_others_are_asked(folder: Path, tmp_path: Path) -> None:
    (tmp_path / "index.sqlite").write_bytes(b"no database" * 100)
    places = {"docs": folder / "indexes" / "docs", "broken": tmp_path}
    with running(OpenIndexes(places=places)) as asker:
        answer = asker.get("/v1/search", query="ship").json
        assert (answer["index"], answer["warnings"]) == ("docs", ["not searched: broken; see the status of each"])
        assert asker.get("/v1/search", query="ship", index="broken").status == 500


@pytest.mark.parametrize("method", ["GET", "POST"])
def test_pages_are_one_list(method: str, asker: Asker, docs: Index) -> None:
    pages: list[Hit] = []
    offset: int | None = 0
    while offset is not None:
        given = {"index": "docs", "query": "a ship in the storm", "k": 4, "offset": offset}
        answer = (asker.get("/v1/search", **given) if method == "GET" else asker.post("/v1/search", given)).json
        assert len(answer["hits"]) <= 4
        pages += hits(answer["hits"])
        offset = answer["next"]
    assert len(pages) > 4
    assert pages == docs.search("a ship in the storm", 100)


@pytest.mark.parametrize(
    ("given", "detail"),
    [
        ({}, "query is missing"),
        ({"query": ""}, "has no words"),
        ({"query": "ship", "k": 0}, "k: Input should be greater than or equal to 1, not 0"),
        ({"query": "ship", "k": 10**30}, "k: Input should be less than or equal to 1000"),
        ({"query": "ship", "k": 1.5}, "k: Input should be a valid integer"),
        ({"query": "ship", "k": "ten"}, "k: Input should be a valid integer, not 'ten'"),
        ({"query": "ship", "mode": "best"}, "mode: Input should be 'hybrid', 'dense', 'lexical' or 'exact'"),
        ({"query": "ship", "filters": "a=b"}, "filters: Input should be a valid list"),
        ({"query": "ship", "filters": [""]}, "the filter is empty"),
        ({"query": "ship", "limit": 3}, "unknown parameter 'limit'"),
        ({"query": "ship" * 10_000}, "query: String should have at most 10000 characters"),
        ([], "the body: Input should be a valid dictionary"),
    ],
)
def test_what_makes_no_sense_is_a_400_that_says_so(given: object, detail: str, asker: Asker) -> None:
    reply = asker.post("/v1/search", {"index": "docs", **given} if isinstance(given, dict) else given)
    assert reply.status in (400, 422)
    assert detail in reply.detail


@pytest.mark.parametrize(
    ("body", "detail"),
    [
        (b"", "the body is missing"),
        (b"{", "not valid JSON"),
        (b'{"query": NaN}', ""),
        (b'{"index": "docs", "query": "ship", "min_score": 1e999}', "min_score: Input should be a finite number"),
        (b'{"query": "\\ud800"}', "query: Input should be a valid string"),
        (b"\xff", ""),
        (b"[" * 100_000, ""),
        (b'{"k": ' + b"9" * 5000 + b"}", ""),
    ],
)
def test_what_is_no_json_or_no_number_is_a_400(body: bytes, detail: str, asker: Asker) -> None:
    reply = asker.ask("POST", "/v1/search", body)
    assert reply.status in (400, 422)
    assert detail in reply.detail


def test_an_answer_says_what_the_index_warns_of(asker: Asker) -> None:
    told = asker.get("/v1/search", index="docs", query='"ship of the storm" again', filters=["yaer=2021"]).json
    assert "no document has the key 'yaer'; did you mean year?" in told["warnings"]
    assert any("the phrase 'ship of the storm'" in warning for warning in told["warnings"])
    assert "warnings" not in asker.get("/v1/search", index="docs", query="ship").json
    with Index.connect(asker.url, index="docs") as remote:
        hits = remote.search("ship", filters=["yaer=2021"])
        assert (hits, hits.warnings) == ([], ("no document has the key 'yaer'; did you mean year?",))
        assert remote.context("the capatin").warnings == (
            'no passage has “capatin”: searched for “captain”; to search for exactly that, quote it: "capatin"',
        )
    context = asker.get("/v1/context", index="docs", query="ship", filters=["yaer=2021"]).json
    assert (context["text"], context["warnings"]) == ("", ["no document has the key 'yaer'; did you mean year?"])
    assert "warnings" not in asker.get("/v1/context", index="docs", query="ship").json


def test_a_parameter_beside_a_body_is_refused_by_its_name(asker: Asker) -> None:
    refused = asker.post("/v1/search?k=3", {"query": "ship", "index": "docs"})
    assert (refused.status, "'k' must be in the body" in refused.detail) == (422, True)


def test_an_answer_says_what_was_corrected(asker: Asker) -> None:
    corrected = [{"asked": "capatin", "instead": "captain"}]
    found = asker.get("/v1/search", index="docs", query="the capatin").json
    assert found["corrected"] == corrected
    assert found["warnings"] == [
        'no passage has “capatin”: searched for “captain”; to search for exactly that, quote it: "capatin"'
    ]
    batch = asker.post("/v1/search/batch", {"index": ["docs"], "queries": ["captain", "capatin"]}).json["answers"]
    assert "corrected" not in batch[0]
    assert batch[1]["corrected"] == corrected
    assert batch[1]["hits"] == batch[0]["hits"]
    with Index.connect(asker.url, index="docs") as remote:
        assert remote.search("the capatin").corrected == (Correction("capatin", "captain"),)
