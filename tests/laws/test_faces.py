"""The law of the faces of an index: each offers what the others do, but for what is listed here with its reason."""

from __future__ import annotations

import json
from contextlib import closing
from dataclasses import fields
from inspect import getattr_static, signature
from pathlib import Path

import pytest
from console import semsearch
from serving import running
from small import write_articles

from semsearch import Index, MultiIndex, Searchable, SearchOptions
from semsearch.errors import UsageError
from semsearch.mcp import Tools, use
from semsearch.remote_index import RemoteIndex
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


@pytest.mark.parametrize("query", ["the captain of a ship", "ship flimnarp", "qwrtzx flimnarp"])
def test_the_verdict_on_a_query_is_the_same_everywhere(query: str, tmp_path: Path, small_vectors: VectorTable) -> None:
    write_articles(tmp_path / "docs", 6)
    place = tmp_path / "indexes" / "docs"
    with Index.create(place, vectors=small_vectors) as index:
        index.sync(tmp_path / "docs")
        hits, context = index.search(query), index.context(query, floor=0)
        assert {"flimnarp", "qwrtzx"} >= set(hits.missing) == set(query.split()) - set("the captain of a ship".split())
        several = MultiIndex({"docs": index})
        said = [several.search(query), several.context(query)]
        with running(OpenIndexes(places={"docs": place})) as asker, Index.connect(asker.url) as remote:
            said += [remote.search(query), remote.search_many([query])[0], remote.context(query)]
            told = [asker.get("/v1/search", query=query).json, asker.get("/v1/context", query=query).json]
        with closing(OpenIndexes(places={"docs": place})) as opened:
            tools = Tools(lambda: opened)
            told += [use(tools.search, query=query)]
        told += [semsearch("query", query, "--index", str(place), "--json").json]
        told += [semsearch("context", query, "--index", str(place), "--json").json]
    for each in (context, *said):
        assert (each.verdict, each.missing) == (hits.verdict, hits.missing)
    for each in told:
        assert (each["verdict"], each["missing"]) == (hits.verdict, [*hits.missing])
    places = [hit.citation for hit in hits]
    for each in told:  # hits are there also where nothing answers: all of them, or the first
        if "citations" in each:
            continue
        cited = [one["citation"] for one in each.get("hits") or each.get("results") or []]
        assert cited == places[: len(cited)]
        assert bool(cited) == bool(places)
        assert each.get("answered", hits.answered) == hits.answered


ASKED = ["the captain of a ship", "ship flimnarp", "a shpi in the storm", "flimnarp qwrtzx", '"no such phrase" ship']


def test_an_answer_has_the_same_fields_and_values_everywhere(tmp_path: Path, small_vectors: VectorTable) -> None:
    write_articles(tmp_path / "docs", 6)
    place = tmp_path / "indexes" / "docs"
    with Index.create(place, vectors=small_vectors) as index:
        index.sync(tmp_path / "docs")
        options = {"k": 5, "filters": ["nosuchkey!=1"]}
        with running(OpenIndexes(places={"docs": place})) as asker, Index.connect(asker.url) as remote:
            for query in ASKED:
                answer = json.loads(json.dumps(index.search(query, **options).to_dict()))
                assert answer == json.loads(json.dumps(remote.search(query, **options).to_dict()))
                over_http = asker.get("/v1/search", query=query, **options).json
                assert answer == {name: over_http[name] for name in answer}
                assert over_http.keys() - answer.keys() == {"index", "mode", "query", "next"}
                on_the_command_line = semsearch(
                    "query", query, "--all", "-k", "5", "--filter", "nosuchkey!=1", "--index", str(place), "--json"
                ).json
                assert answer == {name: on_the_command_line[name] for name in answer}
                assert on_the_command_line.keys() - answer.keys() == {"mode", "query"}
                context = json.loads(json.dumps(index.context(query).to_dict()))
                assert context == {name: asker.get("/v1/context", query=query).json[name] for name in context}
            best = index.search(ASKED[0])[0]
            similar = json.loads(json.dumps(index.similar(best.citation, **options).to_dict()))
            assert similar["warnings"]
            over_http = asker.get("/v1/similar", path=best.citation, **options).json
            assert similar == {name: over_http[name] for name in similar}
            assert similar == json.loads(json.dumps(remote.similar(best.citation, **options).to_dict()))
