"""The law of the faces of an index: each offers what the others do, but for what is listed here with its reason."""

from __future__ import annotations

import json
from contextlib import closing
from dataclasses import fields
from inspect import getattr_static, signature
from pathlib import Path
from typing import Any

import pytest
from console import semsearch
from serving import running
from small import write_articles

from semsearch import Index, MultiIndex, Searchable, SearchOptions
from semsearch.errors import UsageError
from semsearch.mcp import Tools, use
from semsearch.remote_index import RemoteIndex
from semsearch.results.codec import Record
from semsearch.results.hits import Hits
from semsearch.server.open_indexes import OpenIndexes
from semsearch.server.operations import Parameters
from semsearch.server.search_routes import (
    BatchBody,
    ContextParameters,
    SearchParameters,
    SimilarBody,
    SimilarParameters,
)
from semsearch.word_vectors.table import VectorTable


def public(cls: type) -> set[str]:
    return {name for name in dir(cls) if not name.startswith("_")}


@pytest.mark.parametrize("cls", [Index, RemoteIndex, MultiIndex])
def test_searches_are_declared_once(cls: type[Searchable]) -> None:
    own = {name for name in public(Searchable) if getattr_static(cls, name) is not getattr_static(Searchable, name)}
    assert own == {"close"}


def test_each_class_has_searches_and_what_is_listed_here() -> None:
    assert public(MultiIndex) == public(Searchable) | {"open"}
    assert public(RemoteIndex) == public(Searchable) | {"documents", "document", "status"}
    assert public(RemoteIndex) < public(Index)


@pytest.mark.parametrize("name", ["documents", "document", "status"])
def test_a_server_is_asked_with_the_parameters_of_an_index(name: str) -> None:
    assert signature(getattr(RemoteIndex, name)) == signature(getattr(Index, name))


def test_what_is_of_one_index_is_an_error_of_several_on_a_server() -> None:
    remote = RemoteIndex("http://127.0.0.1:9", index=["one", "two"])
    for ask in (remote.documents, lambda: remote.document("a"), remote.status):
        with pytest.raises(UsageError, match="needs a single index, not one, two together"):
            ask()


@pytest.mark.parametrize(
    "model",
    [SearchParameters, BatchBody, SimilarParameters, SimilarBody, ContextParameters],
)
def test_a_server_takes_all_options_of_a_search(model: type[Parameters]) -> None:
    options = {field.name for field in fields(SearchOptions)}
    if issubclass(model, ContextParameters):
        options -= {"k", "context"}  # follow from max_words
    assert options <= model.model_fields.keys()


def plain(answer: Record | Hits) -> Any:
    """An answer as JSON has it."""
    return json.loads(json.dumps(answer.to_dict()))


@pytest.mark.parametrize(
    "query",
    ["the captain of a ship", "ship flimnarp", "qwrtzx flimnarp", "a shpi in the storm", '"no such phrase" ship'],
)
def test_an_answer_has_the_same_fields_and_values_everywhere(
    query: str, tmp_path: Path, small_vectors: VectorTable
) -> None:
    write_articles(tmp_path / "docs", 6)
    place = tmp_path / "indexes" / "docs"
    options: dict[str, Any] = {"k": 5, "filters": ["nosuchkey!=1"]}
    command = (query, "--all", "--filter", "nosuchkey!=1", "--index", str(place), "--json")
    with Index.create(place, vectors=small_vectors) as index:
        index.sync(tmp_path / "docs")
        hits, context = index.search(query, **options), index.context(query, filters=options["filters"], floor=0)
        cited_place = index.search("a ship in the storm")[0].citation
        similar = index.similar(cited_place, **options)
        several = MultiIndex({"docs": index})
        assert set(hits.missing) == {"flimnarp", "qwrtzx", "phrase"} & {*query.replace('"', " ").split()}
        for answer in (context, several.search(query), several.context(query)):
            assert (answer.verdict, answer.missing) == (hits.verdict, hits.missing)
        with running(OpenIndexes(places={"docs": place})) as asker, Index.connect(asker.url) as remote:
            assert plain(remote.search(query, **options)) == plain(hits)
            assert plain(remote.search_many([query], **options)[0]) == plain(hits)
            assert plain(remote.similar(cited_place, **options)) == plain(similar)
            assert plain(remote.context(query, filters=options["filters"], floor=0)) == plain(context)
            searched = asker.get("/v1/search", query=query, **options).json
            gathered = asker.get("/v1/context", query=query, filters=options["filters"], floor=0).json
            alike = asker.get("/v1/similar", path=cited_place, **options).json
        with closing(OpenIndexes(places={"docs": place})) as opened:
            tools = Tools(lambda: opened)
            used = use(tools.search, query=query, filters=options["filters"])
    assert plain(hits)["warnings"]
    assert searched == plain(hits) | {"index": "docs", "mode": "hybrid", "query": query, "next": searched["next"]}
    assert alike == plain(similar) | {"index": "docs", "mode": "hybrid", "next": alike["next"]}
    assert gathered == plain(context) | {"index": "docs", "mode": "hybrid", "query": query}
    assert semsearch("query", *command, "-k", 5).json == plain(hits) | {"mode": "hybrid", "query": query}
    assert semsearch("context", *command).json == plain(context) | {"mode": "hybrid", "query": query}
    cited = [result["citation"] for result in used["results"]]  # of all hits, or of the nearest
    assert (used["verdict"], used["missing"]) == (hits.verdict, [*hits.missing])
    assert cited == [hit.citation for hit in hits][: len(cited)]
    assert bool(cited) == bool(hits)
