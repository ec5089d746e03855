"""Operations that search an index: search, search/batch, similar, explain, context; embeddings in OpenAI's form."""

from __future__ import annotations

from base64 import b64encode
from collections.abc import Sequence
from typing import Any

from semsearch.errors import UsageError
from semsearch.results.explanation import Explanation
from semsearch.results.hits import FLOOR, Hit, corrections_in
from semsearch.results.options import SearchOptions
from semsearch.search.boosts import parse_boost
from semsearch.search.filters import FilterChoice, parse
from semsearch.search.query import parse_queries
from semsearch.search.search_warnings import SearchWarning, about, logged_warnings
from semsearch.serve.answers import BatchAnswer, ContextAnswer, EmbeddingsAnswer, SearchAnswer, SimilarAnswer
from semsearch.serve.open_indexes import OpenIndexes
from semsearch.serve.operation import Operation
from semsearch.serve.request_parameters import Given, Parameter
from semsearch.text.tokens import words

# -- Searches ----------------------------------------------------------------------------------------------------------

_MODES = ("hybrid", "dense", "lexical")
_MOST_WILD = 4  # wildcards of a filter: matching takes a power of the path's length
_MOST_WORDS = 100_000
_MOST_PASSAGES = 250_000  # that a search may be restricted to: about as many as fit into a body
_MOST_MODELS = 1000  # passages that an origin names; a search names ten

INDEX = Parameter("index", "text", "The name of an index; optional if the server has only one.", most=1000)
INDEXES = Parameter(
    "index",
    "text or texts",
    "The name of an index, or the names of several to search as one; optional if the server has only one.",
    least=1,
    most=100,
)
QUERY = Parameter("query", "text", "The query, in any words.", is_required=True, most=10_000)
MODE = Parameter(
    "mode", "text", "dense (by meaning), lexical (by words), or hybrid (both).", default="hybrid", choices=_MODES
)
FILTERS = Parameter(
    "filters",
    "texts",
    "Only documents that match all filters: globs on paths (guide/*.md), conditions (author=Ada); a|b: either; "
    "!a: not a.",
    default=(),
    most=50,
    longest=1000,
)
SYNTAX = Parameter(
    "syntax",
    "text",
    'full: "phrases" are required and -words excluded; plain: all is text.',
    default="full",
    choices=("full", "plain"),
)
OPTIONS = (
    Parameter("k", "whole number", "Maximum number of hits.", default=10, least=1, most=1000),
    MODE,
    Parameter("min_score", "number", "Drop hits with a lower score."),
    FILTERS,
    Parameter("context", "whole number", "Number of sentences before and after.", default=0, least=0, most=100),
    Parameter("duplicates", "true or false", "Return near-duplicates as hits of their own.", default=False),
    SYNTAX,
    Parameter("per_document", "whole number", "Maximum number of hits per document.", least=1, most=1000),
    Parameter(
        "boosts",
        "texts",
        "Add to the scores of documents that match (guide/^0.1) or are recent (recent:30d^0.1).",
        default=(),
        most=20,
        longest=1000,
    ),
    Parameter("floor", "number", "Relevance threshold: drop hits at the end below it.", default=0.0, least=0, most=1),
)
ORIGIN = Parameter(
    "origin", "true or false", "Include each hit's origin, which explain needs to reproduce its score.", default=False
)
PASSAGES = Parameter(
    "passages",
    "whole numbers",
    "Search only these passages, by their ids in hits and in the map.",
    most=_MOST_PASSAGES,
)
_SEARCH = (QUERY, INDEXES, *OPTIONS, ORIGIN)
_SIMILAR = (
    Parameter("path", "text", "The path or id of a document; or send a hit.", most=4000),
    Parameter("line", "whole number", "The line of the passage; default: the whole document.", least=1),
    INDEXES,
    *OPTIONS,
)
_HIT = Parameter("hit", "object", "A hit as returned, with its origin if possible.", of=Hit)
_CONTEXT = (
    QUERY,
    INDEXES,
    Parameter("max_words", "whole number", "Maximum number of words.", default=800, least=1, most=_MOST_WORDS),
    *(each for each in OPTIONS if each.name not in ("k", "context", "floor")),
    Parameter(
        "floor",
        "number",
        "Relevance threshold: drop passages at the end below it; 0: none.",
        default=FLOOR,
        least=0,
        most=1,
    ),
)


def checked_filters(given: Given) -> tuple[str, ...]:
    """The filters of a request. Raises UsageError for one with too many wildcards, which would be slow."""
    filters: tuple[str, ...] = given["filters"]
    for text in filters:
        _check_wildcards(text, parse(text))
    return filters


def _checked_boosts(given: Given) -> tuple[str, ...]:
    """The boosts of a request. Raises UsageError as `checked_filters`."""
    boosts: tuple[str, ...] = given["boosts"]
    for text in boosts:
        if (choice := parse_boost(text).filter) is not None:
            _check_wildcards(text, choice)
    return boosts


def _check_wildcards(text: str, choice: FilterChoice) -> None:
    if any(_wildcards(each.value) > _MOST_WILD for each in choice.comparisons):
        raise UsageError(f"the filter {text!r} has more than {_MOST_WILD} wildcards; use several filters")


def _wildcards(glob: str) -> int:
    return glob.replace("[*]", "").replace("**", "*").count("*")


def _options(given: Given) -> SearchOptions:
    values = given.only(parameter.name for parameter in OPTIONS if parameter.name in given.values)
    only = {"passages": given.values.get("passages")}  # not in a query string: too many
    checked = {"filters": checked_filters(given), "boosts": _checked_boosts(given)}
    return SearchOptions.from_dict(values | only | checked)


def _dicts(hits: list[Hit], *, origin: bool = False) -> list[dict[str, Any]]:
    return [hit.to_dict(origin=origin) for hit in hits]


def _asked(indexes: OpenIndexes, given: Given) -> dict[str, Any]:
    """The part of an answer that names the searched index or indexes."""
    names = [*dict.fromkeys(given["index"] or ())]
    if len(names) > 1:
        return {"index": None, "indexes": names}
    return {"index": indexes.name_of(names[0] if names else None)}


def search(indexes: OpenIndexes, given: Given) -> dict[str, Any]:
    """Find the best passages for a query."""
    (answer,) = search_together(indexes, [given])
    return answer


def search_together(indexes: OpenIndexes, several: Sequence[Given]) -> list[dict[str, Any]]:
    """Answer searches that differ in their query only."""
    first = several[0]
    queries = [given["query"] for given in several]
    with logged_warnings() as warnings:
        answers = indexes.together(first["index"]).search_many(queries, options=_options(first))
    return [
        {
            **_asked(indexes, first),
            "query": given["query"],
            "mode": given["mode"],
            "answered": hits.answered,
            "hits": _dicts(hits, origin=given["origin"]),
            **_warnings(given, warnings),
            **corrections_in(hits),
        }
        for given, hits in zip(several, answers, strict=True)
    ]


def _warnings(given: Given, warnings: Sequence[SearchWarning]) -> dict[str, Any]:
    """The part of an answer with warnings, if there are any."""
    if not warnings:
        return {}
    (syntax,) = parse_queries([given["query"]], given["syntax"])
    told = about(warnings, given["query"] if syntax is None else syntax.text)
    return {"warnings": list(told)} if told else {}


def search_batch(indexes: OpenIndexes, given: Given) -> dict[str, Any]:
    """Find the best passages for each of several queries."""
    answers = indexes.together(given["index"]).search_many(given["queries"], options=_options(given))
    return {
        **_asked(indexes, given),
        "mode": given["mode"],
        "answers": [
            {
                "query": query,
                "answered": hits.answered,
                "hits": _dicts(hits, origin=given["origin"]),
                **corrections_in(hits),
            }
            for query, hits in zip(given["queries"], answers, strict=True)
        ],
    }


def similar(indexes: OpenIndexes, given: Given) -> dict[str, Any]:
    """Find the passages most similar to a passage or document."""
    values = given.values
    if (values["path"] is None) == (values.get("hit") is None):
        raise UsageError("give either the path of a document or a hit")
    like = values["path"] if values.get("hit") is None else Hit.from_dict(values["hit"])
    hits = indexes.together(given["index"]).similar(like, given["line"], options=_options(given))
    return {**_asked(indexes, given), "mode": given["mode"], "hits": _dicts(hits)}


def explain(indexes: OpenIndexes, given: Given) -> dict[str, Any]:
    """Explain the score of a hit for a query. The default index is the one that the hit names."""
    hit = Hit.from_dict(given["hit"])
    index = indexes.get(hit.index if given["index"] is None else given["index"])
    if given["own"]:
        if hit.origin is None:
            raise UsageError("this hit has no origin; search with origin=true")
        check_origin(hit)
        return index.explain_hit(hit).to_dict()
    if given["query"] is None:
        raise UsageError("the parameter query is missing: the query to explain the score for")
    if hit.origin is not None:
        check_origin(hit)
    return index.explain(given["query"], hit, mode=given["mode"]).to_dict()


def check_origin(hit: Hit) -> None:
    """Raise UsageError for an origin that no search returns."""
    origin = hit.origin
    assert origin is not None  # only such hits are checked
    given = [origin.weights, *([origin.relative] if origin.relative else [])]
    numbers = [number for each in given for number in (each.dense, each.lexical, each.near)]
    if not all(0 < each.best < 1e9 for each in given) or not all(0 <= number < 1e9 for number in numbers):
        raise UsageError("the origin of this hit has invalid weights; send the hit as returned")
    if len(origin.models) > _MOST_MODELS:
        raise UsageError(f"the origin of this hit names {len(origin.models)} passages; send the hit as returned")


def context(indexes: OpenIndexes, given: Given) -> dict[str, Any]:
    """Gather the best passages for a query as text for a language model, with numbered citations."""
    with logged_warnings() as warnings:
        made = indexes.together(given["index"]).context(
            given["query"], max_words=given["max_words"], options=_options(given)
        )
    asked = {**_asked(indexes, given), "query": given["query"], "mode": given["mode"]}
    return asked | made.to_dict() | _warnings(given, warnings)


_EXAMPLE = {"query": "how do I rotate the keys?", "k": 3}
_EXAMPLE_CONTEXT = {"query": "how do I rotate the keys?", "max_words": 300}
ASKING = (
    Operation(
        "GET",
        "/v1/search",
        "search",
        search.__doc__ or "",
        search,
        SearchAnswer,
        _SEARCH,
        _EXAMPLE,
        together=search_together,
    ),
    Operation(
        "POST",
        "/v1/search",
        "search_by_body",
        search.__doc__ or "",
        search,
        SearchAnswer,
        (*_SEARCH, PASSAGES),
        _EXAMPLE | {"filters": ["guide/*.md", "year>=2020"], "mode": "hybrid"},
        together=search_together,
    ),
    Operation(
        "POST",
        "/v1/search/batch",
        "search_batch",
        search_batch.__doc__ or "",
        search_batch,
        BatchAnswer,
        (
            Parameter("queries", "texts", "The queries.", is_required=True, most=1000, longest=10_000),
            INDEXES,
            *OPTIONS,
            ORIGIN,
            PASSAGES,
        ),
        {"queries": ["how do I rotate the keys?", "why does the printer jam?"]},
    ),
    Operation(
        "GET",
        "/v1/similar",
        "similar",
        similar.__doc__ or "",
        similar,
        SimilarAnswer,
        _SIMILAR,
        {"path": "notes/keys.md", "line": 8},
    ),
    Operation(
        "POST",
        "/v1/similar",
        "similar_to_hit",
        similar.__doc__ or "",
        similar,
        SimilarAnswer,
        (*_SIMILAR, PASSAGES, _HIT),
        {"path": "notes/keys.md"},
    ),
    Operation(
        "POST",
        "/v1/explain",
        "explain",
        explain.__doc__ or "",
        explain,
        Explanation,
        (
            Parameter("hit", "object", "A hit as returned, with its origin.", is_required=True, of=Hit),
            Parameter("query", "text", "The query; needed unless own is true.", most=10_000),
            INDEX,
            Parameter("mode", "text", "Default: the hit's mode.", choices=_MODES),
            Parameter(
                "own",
                "true or false",
                "Explain the hit's own score; fails if the index has changed since.",
                default=False,
            ),
        ),
    ),
    Operation(
        "GET", "/v1/context", "context", context.__doc__ or "", context, ContextAnswer, _CONTEXT, _EXAMPLE_CONTEXT
    ),
    Operation(
        "POST",
        "/v1/context",
        "context_by_body",
        context.__doc__ or "",
        context,
        ContextAnswer,
        (*_CONTEXT, PASSAGES),
        _EXAMPLE_CONTEXT,
    ),
)


# -- Embeddings --------------------------------------------------------------------------------------------------------

_MOST_TEXTS = 2048


def embed(indexes: OpenIndexes, given: Given) -> dict[str, Any]:
    """Return the vectors of texts, as an index embeds sentences. The model is the name of the index."""
    texts: tuple[str, ...] = given["input"]
    vectors = indexes.get(given["model"]).embed(texts)
    if given["dimensions"] not in (None, vectors.shape[1]):
        raise UsageError(f"this index has {vectors.shape[1]} dimensions, not {given['dimensions']}")
    as_text = given["encoding_format"] == "base64"
    found = [b64encode(row.astype("<f4").tobytes()).decode() if as_text else row.tolist() for row in vectors]
    tokens = sum(len(words(text)) for text in texts)
    return {
        "object": "list",
        "data": [{"object": "embedding", "index": number, "embedding": each} for number, each in enumerate(found)],
        "model": indexes.name_of(given["model"]),
        "usage": {"prompt_tokens": tokens, "total_tokens": tokens},
    }


EMBEDDING = (
    Operation(
        "POST",
        "/v1/embeddings",
        "embed",
        embed.__doc__ or "",
        embed,
        EmbeddingsAnswer,
        (
            Parameter(
                "input", "text or texts", "One or more texts.", is_required=True, most=_MOST_TEXTS, longest=100_000
            ),
            Parameter("model", "text", "The name of an index; optional if there is only one.", most=1000),
            Parameter(
                "encoding_format",
                "text",
                "Numbers (float), or their bytes (base64).",
                default="float",
                choices=("float", "base64"),
            ),
            Parameter("dimensions", "whole number", "Must equal the dimensions of the index.", least=1),
            Parameter("user", "text", "Ignored.", most=1000),
        ),
        {"input": ["how do I rotate the keys?"]},
    ),
)
