"""Whatever a client sends, the server does not fail: no answer is a 5xx, and every refusal is a problem."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any
from urllib.parse import quote, urlencode

import pytest
from hypothesis import given, settings, strategies as st
from operations import Operation, operations
from serving import Asker, running
from small import write_articles

from semsearch.index import Index
from semsearch.server.open_indexes import OpenIndexes
from semsearch.word_vectors.table import VectorTable

SCALARS = st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(max_size=20)
VALUES = st.recursive(
    SCALARS, lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3)
)
SENSIBLE: dict[str, st.SearchStrategy[Any]] = {
    "index": st.just("docs"),
    "query": st.sampled_from(["a ship", "xyzzy", "the \x00 judge"]),
    "queries": st.lists(st.sampled_from(["a ship", "of the"]), max_size=3),
    "path": st.sampled_from(["added", "sea-0.md"]),
    "id": st.sampled_from(["added", "sea-0.md", "."]),
    "filters": st.lists(st.sampled_from(["*.md", "year>=2020", "[", "a~[z-a]", "title~*", "=", "a=\x00"]), max_size=2),
    "mode": st.sampled_from(["hybrid", "dense", "lexical"]),
    "input": st.sampled_from(["a ship", ["a ship", ""]]),
    "model": st.just("docs"),
    "paths": st.lists(st.sampled_from(["docs", "/", "\x00", ""]), max_size=1),
    "metadata": st.dictionaries(st.text(max_size=3), VALUES, max_size=2),
    "format": st.sampled_from(["text", "markdown", "html", "rst", "jsonl", "pdf", "ipynb"]),
    "title": st.text(max_size=5),
    "text": st.sampled_from(["A ship.", "", "# \x00"]),
}
READING = [operation for operation in operations() if not operation.is_write]


def given_to(operation: Operation, hit: dict[str, Any]) -> st.SearchStrategy[dict[str, Any]]:
    """Sensible parameters of an operation, of which one at most is anything at all."""
    broken = st.builds(lambda key, value: hit | {key: value}, st.sampled_from(sorted(hit)), VALUES)
    kinds = {"boolean": st.booleans(), "number": st.floats(-2, 2), "integer": st.integers(1, 40)}
    known = {
        name: st.just(hit) | broken if name == "hit" else SENSIBLE.get(name, kinds.get(schema.get("type", ""), VALUES))
        for name, schema in operation.parameters.items()
    } | ({"id": SENSIBLE["id"]} if operation.in_path else {})
    needed = [name for name in known if name in operation.required or name in ("index", "id")]
    names = [*known, "other"]
    sensible = st.fixed_dictionaries({name: known.pop(name) for name in needed}, optional=known)
    return st.builds(dict.__or__, sensible, st.dictionaries(st.sampled_from(names), VALUES, max_size=1))


def as_query(value: Any) -> list[str]:
    return [str(each) for each in value] if isinstance(value, list) else [str(value)]


def send(asker: Asker, operation: Operation, values: dict[str, Any]) -> int:
    """Send a request, and look at its answer; the status."""
    path = operation.path
    if operation.in_path:
        path = path.replace("{id}", quote(str(values.pop("id", "added")).encode("utf-8", "replace"), safe=""))
    if operation.has_body:
        reply = asker.ask(operation.method, path, json.dumps(values).encode())
    else:
        texts = {key: [each.encode("utf-8", "replace") for each in as_query(value)] for key, value in values.items()}
        reply = asker.ask(operation.method, f"{path}?{urlencode(texts, doseq=True)}")
    assert reply.status < 500, reply.body
    if reply.status != 200:
        assert reply.detail
    return reply.status


@settings(max_examples=40)
@given(data=st.data())
def test_nothing_that_is_asked_makes_the_server_fail(asker: Asker, docs: Index, data: st.DataObject) -> None:
    hit = docs.search("a ship in the storm", 1)[0].to_dict(origin=True)
    operation = data.draw(st.sampled_from(READING))
    send(asker, operation, data.draw(given_to(operation, hit)))


@settings(max_examples=20)
@given(data=st.data())
def test_a_hit_that_was_tampered_with_makes_no_failure(asker: Asker, docs: Index, data: st.DataObject) -> None:
    hit = docs.search("a ship in the storm", 1)[0].to_dict(origin=True)
    numbers = st.integers(-(10**20), 10**20) | st.floats(allow_nan=False, allow_infinity=False)
    hit[data.draw(st.sampled_from(["passage_id", "sentence_id", "line", "page", "score", "rank"]))] = data.draw(numbers)
    hit["sentence"] = data.draw(st.sampled_from([hit["sentence"], "", "xyzzy", "\x00"]))
    part = data.draw(st.sampled_from(["weights", "generation", "mode", "query", "rerank"]))
    drawn = {"weights": st.dictionaries(st.sampled_from(["best", "near"]), numbers)}
    hit["origin"][part] = data.draw(drawn.get(part, VALUES))
    given = {"index": "docs", "hit": hit, "query": "a ship in the storm"}
    send(asker, next(one for one in operations() if one.name == "explain"), given)


@pytest.fixture(scope="module")
def writer(tmp_path_factory: pytest.TempPathFactory, small_vectors: VectorTable) -> Iterator[Asker]:
    """A client that may write to an index, docs, of its own."""
    folder = tmp_path_factory.mktemp("written")
    write_articles(folder / "docs", 1)
    with Index.create(folder / "indexes" / "docs", vectors=small_vectors) as index:
        index.sync(folder / "docs")
    with running(OpenIndexes(folder=folder / "indexes")) as asker:
        yield asker.writer


@settings(max_examples=20)
@given(data=st.data())
def test_nothing_that_is_written_makes_the_server_fail(writer: Asker, data: st.DataObject) -> None:
    operation = data.draw(st.sampled_from([one for one in operations() if one.is_write]))
    send(writer, operation, data.draw(given_to(operation, {"path": "a"})))


@pytest.mark.parametrize("number", [-(2**63) - 1, 10**400])
@pytest.mark.parametrize("name", ["passage_id", "sentence_id", "line", "page", "generation"])
def test_numbers_that_no_index_can_have_are_a_bad_request(asker: Asker, docs: Index, name: str, number: int) -> None:
    hit = docs.search("a ship in the storm", 1)[0].to_dict(origin=True)
    target = hit if name in hit else hit["origin"]
    target[name] = number
    explain = next(one for one in operations() if one.name == "explain")
    assert send(asker, explain, {"index": "docs", "hit": hit, "query": "a ship in the storm"}) == 400
