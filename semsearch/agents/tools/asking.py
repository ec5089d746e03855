"""The tools that ask an index: search, similar, context."""

from __future__ import annotations

from typing import TYPE_CHECKING

from semsearch.agents.answers import CitedSource, FoundPassage, FoundPassages, GatheredContext
from semsearch.agents.citations import by_citation
from semsearch.agents.cursors import cursor_at, offset_of
from semsearch.agents.tools.chosen_indexes import ChosenIndexes, choose
from semsearch.agents.tools.shared import CURSOR, FILTERS, INDEX, heading_of, shortened, that_fit
from semsearch.agents.tools.tool import Tool
from semsearch.serve.operations.parameters import Given, Parameter

if TYPE_CHECKING:
    from semsearch.results.context import Citation
    from semsearch.results.hits import Hit
    from semsearch.results.options import SearchOptions
    from semsearch.serve.open_indexes import OpenIndexes

_MOST_RESULTS = 1000  # that cursors lead to
_OF_SEVERAL = 60
_QUERY = Parameter(
    "query",
    "text",
    'What is looked for, in any words. A "phrase" in quotes must be there, a -word must not.',
    is_required=True,
    most=10_000,
)
_PER_DOCUMENT = Parameter("per_document", "whole number", "Results of one document at most.", least=1, most=50)
_LIMIT = Parameter("limit", "whole number", "How many results at most.", default=5, least=1, most=50)
_MODE = Parameter(
    "mode",
    "text",
    "lexical for exact words, dense for meaning alone.",
    default="hybrid",
    choices=("hybrid", "lexical", "dense"),
)
_ALL = Parameter("all", "true or false", "Passages too that are unlikely to answer.", default=False)
_BRIEF = Parameter("brief", "true or false", "Only the best sentence of each passage.", default=False)
_NOTHING = "Nothing was found. If other words find nothing either, say that the documents do not answer this."
_NONE_ANSWERS = "Nothing here answers this well. If other words find nothing either, say that the documents do not."
_WEAK = f"{_NONE_ANSWERS} With all=true there are the nearest passages."
_EMPTY = "The index is empty; its owner can fill it: semsearch index FOLDER."


def search(indexes: OpenIndexes, given: Given) -> FoundPassages:
    """Find passages that answer a query."""
    from semsearch.results.floor import strong_part  # start-up time

    chosen = choose(indexes, given["index"])
    every = chosen.together.search(given["query"], options=_options(chosen, given))
    hits = every if given["all"] else strong_part(every)
    return _found(chosen, given, hits, weak=len(every) - len(hits))


def similar(indexes: OpenIndexes, given: Given) -> FoundPassages:
    """Find passages similar to a cited one, or to a document."""
    chosen = choose(indexes, given["index"])
    asked, options = chosen.together, _options(chosen, given)
    hits = by_citation(given["citation"], lambda place: asked.similar(place.path, place.line, options=options))
    return _found(chosen, given, hits)


def _options(chosen: ChosenIndexes, given: Given) -> SearchOptions:
    from semsearch.results.options import SearchOptions  # start-up time, here and below
    from semsearch.serve.operations.asking import checked_filters

    k = offset_of(given.values) + given["limit"] + 1
    if chosen.are_several:  # their ranking may change a little with k: all pages of an answer are to be of one
        k = -(-k // _OF_SEVERAL) * _OF_SEVERAL
    k = min(k, _MOST_RESULTS)
    return SearchOptions(
        k,
        given.values.get("mode") or "hybrid",
        filters=checked_filters(given),
        per_document=given["per_document"],
    )


def _found(chosen: ChosenIndexes, given: Given, hits: list[Hit], *, weak: int = 0) -> FoundPassages:
    offset, limit = offset_of(given.values), given["limit"]
    page = that_fit([_passage(hit, brief=given["brief"]) for hit in hits[offset : offset + limit]])
    end = offset + len(page)
    return FoundPassages(
        results=tuple(page),
        note=chosen.note if hits else _WEAK if weak else _why_nothing(chosen),
        next_cursor=cursor_at(end, given.values) if end < len(hits) else None,
    )


def _passage(hit: Hit, *, brief: bool) -> FoundPassage:
    from semsearch.results.location import location

    return FoundPassage(
        citation=location(hit.path, hit.format, hit.position),
        heading=heading_of(hit.title, hit.headings),
        sentence=shortened(" ".join(hit.sentence.split())),  # on one line, to be quoted
        score=round(hit.score, 3),
        relevance=None if hit.relevance is None else round(hit.relevance, 3),
        passage=None if brief or hit.passage == hit.sentence else shortened(hit.passage),
        index=hit.index,
        changed=hit.stale or None,
    )


def _why_nothing(chosen: ChosenIndexes) -> str:
    return " ".join(filter(None, (_EMPTY if chosen.are_empty else _NOTHING, chosen.note)))


def context(indexes: OpenIndexes, given: Given) -> GatheredContext:
    """Gather passages that answer a question."""
    from semsearch.serve.operations.asking import checked_filters

    chosen = choose(indexes, given["index"])
    made = chosen.together.context(
        given["query"],
        max_words=given["max_words"],
        filters=checked_filters(given),
        mode=given["mode"],
        per_document=given["per_document"],
    )
    return GatheredContext(
        text=made.text,
        sources=tuple(_source(citation) for citation in made.citations),
        note=chosen.note if made.text else _NONE_ANSWERS if made.weak else _why_nothing(chosen),
    )


def _source(cited: Citation) -> CitedSource:
    from semsearch.results.location import Position, location

    first = Position(cited.line, cited.page, cited.place)
    last = Position(cited.last_line, cited.last_page, cited.last_place)
    citation = location(cited.path, cited.format, first, last)
    return CitedSource(cited.number, citation, index=cited.index, changed=cited.stale or None)


ASKING = (
    Tool(
        "search",
        "Search documents",
        "Find passages of the user's documents that answer a query, by meaning and by words. Each has a citation (file "
        "and place) and the sentence that answers best.",
        (_QUERY, INDEX, _LIMIT, _PER_DOCUMENT, FILTERS, _MODE, _ALL, _BRIEF, CURSOR),
        FoundPassages,
        search,
    ),
    Tool(
        "context",
        "Gather context",
        "Gather the passages of the user's documents that a question needs: numbered, with their sources, to be cited "
        "by them.",
        (
            _QUERY,
            INDEX,
            Parameter("max_words", "whole number", "The most words in all.", default=800, least=50, most=2400),
            _PER_DOCUMENT,
            FILTERS,
            _MODE,
        ),
        GatheredContext,
        context,
    ),
    Tool(
        "similar",
        "Find similar passages",
        "Find passages similar to one that was cited, or to a whole document.",
        (
            Parameter("citation", "text", "A citation of a result, or a document.", is_required=True, most=4000),
            INDEX,
            _LIMIT,
            _PER_DOCUMENT,
            FILTERS,
            _BRIEF,
            CURSOR,
        ),
        FoundPassages,
        similar,
    ),
)
