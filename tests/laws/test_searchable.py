"""The laws of everything that can be searched: an index, one behind a server, with an empty one beside."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path

import pytest
from serving import running
from small import write_articles

from semsearch.errors import SourceError, UsageError
from semsearch.index import Index
from semsearch.multi_index import MultiIndex
from semsearch.readers.document import Text
from semsearch.remote_index import RemoteIndex
from semsearch.results.explanation import Explanation
from semsearch.results.hits import FLOOR, Context, Hit
from semsearch.results.options import SearchOptions
from semsearch.searchable import Searchable
from semsearch.server.open_indexes import OpenIndexes
from semsearch.word_vectors.table import VectorTable

QUERIES = ["a ship in the storm", "the judge and the jury", "bread"]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory, small_vectors: VectorTable) -> Path:
    folder = tmp_path_factory.mktemp("searchable")
    write_articles(folder / "docs", 12)
    with Index.create(folder / "index", vectors=small_vectors) as index:
        index.sync(folder / "docs")
        index.add([Text("twice", "A ship in the storm."), Text("again", "A ship in the storm.")])
    Index.create(folder / "empty", vectors=small_vectors).close()
    return folder


@pytest.fixture(scope="module")
def here(folder: Path) -> Iterator[Index]:
    with Index.open(folder / "index") as index:
        yield index


@pytest.fixture(scope="module", params=["index", "server", "several", "several on a server"])
def searchable(request: pytest.FixtureRequest, folder: Path, here: Index) -> Iterator[Searchable]:
    if request.param == "index":
        yield here
        return
    if request.param == "several":
        with MultiIndex.open(folder / "empty", folder / "index") as several:
            yield several
        return
    pytest.importorskip("uvicorn", reason="an optional dependency")
    names = ["index"] if request.param == "server" else ["empty", "index"]
    served = OpenIndexes(places={name: folder / name for name in names})
    with running(served) as asker, Index.connect(asker.url, index=names) as remote:
        yield remote


def alone(hits: Sequence[Hit]) -> list[Hit]:
    """Hits without what is said of them only where several indexes are asked."""
    return [
        replace(hit, index=None, duplicates=tuple(replace(each, index=None) for each in hit.duplicates)) for hit in hits
    ]


def explained_alone(explanation: Explanation) -> Explanation:
    return replace(explanation, fused=None)


def context_alone(context: Context) -> Context:
    text = context.text.replace(" [index]", "")
    return replace(
        context, text=text, words=0, citations=tuple(replace(each, index=None) for each in context.citations)
    )


def test_hits_come_best_first_and_no_more_than_asked_for(searchable: Searchable) -> None:
    hits = searchable.search(QUERIES[0], 4)
    assert [hit.rank for hit in hits] == [1, 2, 3, 4]
    assert sorted((hit.score for hit in hits), reverse=True) == [hit.score for hit in hits]
    assert len(searchable.search(QUERIES[0])) == 10


@pytest.mark.parametrize("mode", ["hybrid", "dense", "lexical"])
def test_hits_are_those_of_the_index(mode: str, searchable: Searchable, here: Index) -> None:
    for query in QUERIES:
        options = SearchOptions(mode=mode, context=1)  # type: ignore[arg-type]  # one of the modes
        found, expected = searchable.search(query, options=options), here.search(query, options=options)
        assert alone(found) == expected
        origins = [replace(hit.origin, fused=None) for hit in found if hit.origin]
        assert origins == [hit.origin for hit in expected]
        assert [hit.stale for hit in found] == [hit.stale for hit in expected]


def test_keywords_win_over_options(searchable: Searchable) -> None:
    options = SearchOptions(k=5, filters=("sea*",))
    assert len(searchable.search("ship", 1, options=options)) == 1
    assert all(Path(hit.path).name.startswith("sea") for hit in searchable.search("ship", options=options))
    assert {Path(hit.path).name[:3] for hit in searchable.search("ship", options=options, filters=["law*"])} == {"law"}


def test_phrases_boosts_and_hits_per_document_are_those_of_the_index(searchable: Searchable, here: Index) -> None:
    options = SearchOptions(k=5, per_document=1, boosts=("sea*^0.2", "recent^0.1"))
    for query in ('"ship"', "ship -harbour"):
        found, expected = searchable.search(query, options=options), here.search(query, options=options)
        assert [hit.document for hit in found] == [hit.document for hit in expected]
        assert len({(hit.index, hit.document) for hit in found}) == len(found) > 0
        for hit in found:
            assert hit.explain().score == pytest.approx(hit.score)
    plain = searchable.context("ship -harbour", syntax="plain")
    assert plain == searchable.context("ship harbour")


def test_duplicates_are_one_hit_unless_asked_for(searchable: Searchable) -> None:
    (first, *_) = searchable.search(QUERIES[0])
    assert len(first.duplicates) == 1
    one_by_one = searchable.search(QUERIES[0], duplicates=True)
    assert [hit.path for hit in one_by_one[:2]] == [first.path, first.duplicates[0].path]


def told(hits: Sequence[Hit]) -> list[tuple[int, int, float]]:
    """The ids and score of each hit."""
    return [(hit.passage_id, hit.sentence_id, hit.score) for hit in hits]


def nearly(hits: Sequence[Hit]) -> list[tuple[int, int, object]]:
    """Like `told`, but equal to what differs in the last digits, as several queries at once do from each alone."""
    return [(passage, sentence, pytest.approx(score, abs=1e-6)) for passage, sentence, score in told(hits)]


def test_several_queries_have_the_hits_of_each(searchable: Searchable) -> None:
    found = searchable.search_many(QUERIES, 3)
    assert list(map(told, found)) == [nearly(searchable.search(query, 3)) for query in QUERIES]
    assert searchable.search_many([]) == []


def test_similar_passages_are_those_of_the_index(searchable: Searchable, here: Index) -> None:
    (hit,) = searchable.search("a ship", 1, filters=["*.md"])
    assert alone(searchable.similar(hit, k=3)) == here.similar(hit, k=3)
    assert alone(searchable.similar(hit.path, hit.line, 3)) == here.similar(hit.path, hit.line, 3)
    assert alone(searchable.similar(Path(hit.path), k=3, mode="dense")) == here.similar(hit.path, k=3, mode="dense")


def test_a_hit_explains_its_own_score(searchable: Searchable, here: Index) -> None:
    for hit, same in zip(searchable.search(QUERIES[0], 3), here.search(QUERIES[0], 3), strict=True):
        explanation = hit.explain()
        assert explained_alone(explanation) == same.explain()
        assert explanation.score == pytest.approx(hit.score)


def test_a_hit_that_was_stored_is_explained_for_any_query(searchable: Searchable, here: Index) -> None:
    (hit,) = searchable.search(QUERIES[0], 1)
    stored = Hit.from_dict(hit.to_dict(origin=True))
    assert searchable.explain(QUERIES[0], stored).score == pytest.approx(hit.score)
    assert explained_alone(searchable.explain("the judge", stored, mode="dense")) == here.explain(
        "the judge", hit, mode="dense"
    )


def test_a_context_is_that_of_the_index(searchable: Searchable, here: Index) -> None:
    context = searchable.context(QUERIES[0], max_words=90, filters=["*.md"])
    expected = here.context(QUERIES[0], max_words=90, filters=["*.md"])
    assert context_alone(context) == replace(expected, words=0)
    assert context.citations


@pytest.mark.parametrize(
    "options",
    [
        SearchOptions(mode="lexical", filters=("sea*",)),
        SearchOptions(per_document=1, boosts=("law*^0.3",)),
        SearchOptions(duplicates=True),
        SearchOptions(min_score=0.95),
    ],
)
def test_a_context_takes_the_options_of_a_search(options: SearchOptions, searchable: Searchable, here: Index) -> None:
    context, expected = (one.context(QUERIES[0], max_words=4000, options=options) for one in (searchable, here))
    assert context_alone(context) == replace(expected, words=0)
    assert [cited.path for cited in expected.citations] != [
        cited.path for cited in here.context(QUERIES[0], max_words=4000).citations
    ]
    plain = searchable.context(QUERIES[0], max_words=4000, options=options, mode="dense", boosts=())
    assert context_alone(plain) == replace(
        here.context(QUERIES[0], max_words=4000, options=replace(options, mode="dense", boosts=())), words=0
    )


def test_a_context_has_a_floor_of_its_own_unless_options_are_given_whole(searchable: Searchable) -> None:
    assert searchable.context(QUERIES[0]) == searchable.context(QUERIES[0], floor=FLOOR)
    assert searchable.context(QUERIES[0], options=SearchOptions()) == searchable.context(QUERIES[0], floor=0)


def test_contents_and_state_are_those_of_the_index(searchable: Searchable, here: Index) -> None:
    if not isinstance(searchable, RemoteIndex) or isinstance(searchable.name, tuple):
        pytest.skip("several indexes have them each")
    documents = [*here]
    assert [*searchable.documents()] == documents
    assert [*searchable.documents(["sea*"])] == [*here.documents(["sea*"])]
    for name in (documents[0].path, Path(documents[-1].path)):
        assert searchable.document(name) == here.document(name)
    assert searchable.status(stale=False).passages == here.status().passages
    for ask in (lambda: searchable.documents("sea"), lambda: searchable.document(3)):
        with pytest.raises(UsageError):
            ask()
    with pytest.raises(SourceError, match="not in the index"):
        searchable.document("nowhere.md")


@pytest.mark.parametrize(
    "ask",
    [
        lambda one: one.facets(values=-1),
        lambda one: one.documents("sea"),
        lambda one: one.document(3),
        lambda one: one.passages("a", limit=0),
        lambda one: one.page_picture("a", 1, width=0),
    ],
)
def test_what_makes_no_sense_of_contents_is_a_usage_error(ask: Callable[[Index], object], here: Index) -> None:
    with pytest.raises(UsageError):
        ask(here)


@pytest.mark.parametrize(
    "ask",
    [
        lambda one: one.search(""),
        lambda one: one.search("ship", 0),
        lambda one: one.search("ship", mode="best"),
        lambda one: one.search("ship", filters=["="]),
        lambda one: one.search("ship", filters="sea"),
        lambda one: one.search("ship", limit=3),
        lambda one: one.search(["ship"]),
        lambda one: one.search_many("ship"),
        lambda one: one.similar(3),
        lambda one: one.context("ship", max_words=1),
        lambda one: one.context("ship", max_words="many"),
        lambda one: one.context("ship", limit=3),
        lambda one: one.context("ship", options={"mode": "dense"}),
        lambda one: one.context(""),
        lambda one: one.explain("ship", None),
    ],
)
def test_what_makes_no_sense_is_a_usage_error(ask: object, searchable: Searchable) -> None:
    with pytest.raises(UsageError):
        ask(searchable)  # type: ignore[operator]  # one of the lambdas above


def test_a_document_that_is_not_there_is_a_source_error(searchable: Searchable) -> None:
    with pytest.raises(SourceError, match="not in the index"):
        searchable.similar("nowhere.md")


def test_threads_may_share_it(searchable: Searchable) -> None:
    expected = searchable.search_many(QUERIES, 3)
    with ThreadPoolExecutor(6) as pool:
        found = list(pool.map(lambda number: searchable.search(QUERIES[number % 3], 3), range(24)))
    assert list(map(told, found)) == [nearly(expected[number % 3]) for number in range(24)]
