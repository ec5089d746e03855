"""The tools that a model may use: search, context, similar, read, list_documents, status."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from itertools import islice
from typing import TYPE_CHECKING, TypeVar

from semsearch.agents.citations import by_citation, cited_passage, cursor_at, offset_of, read_part
from semsearch.agents.jsonrpc import to_line
from semsearch.agents.tool_answers import (
    CitedSource,
    FoundPassage,
    FoundPassages,
    GatheredContext,
    IndexState,
    IndexStates,
    ListedDocument,
    ListedDocuments,
    ReadDocument,
    ReadPassage,
)
from semsearch.agents.tool_declaration import Tool
from semsearch.errors import SemsearchError, SourceError
from semsearch.frozen import dataclass
from semsearch.results.codec import to_dict
from semsearch.serve.request_parameters import Given, Parameter

if TYPE_CHECKING:
    from collections.abc import Callable

    from semsearch.index import Index
    from semsearch.multi_index import MultiIndex
    from semsearch.rerankers.reranker import Reranker
    from semsearch.results.documents import DocumentPassages, PlacedPassage
    from semsearch.results.hits import Citation, Hit
    from semsearch.results.options import SearchOptions
    from semsearch.serve.open_indexes import OpenIndexes

# -- The chosen indexes ------------------------------------------------------------------------------------------------

_MOST = 50  # indexes that are searched at once
Found = TypeVar("Found")


@dataclass(frozen=True, slots=True)
class ChosenIndexes:
    """One or more indexes by name, and a note about those that are left out."""

    by_name: Mapping[str, Index]
    note: str | None = None
    reranker: Reranker | None = None  # for a joint search

    @property
    def are_several(self) -> bool:
        """Return whether results must name their index."""
        return len(self.by_name) > 1

    @property
    def together(self) -> Index | MultiIndex:
        """All of them, as one."""
        from semsearch.multi_index import MultiIndex  # start-up time

        return (
            MultiIndex(self.by_name, reranker=self.reranker) if self.are_several else next(iter(self.by_name.values()))
        )

    @property
    def are_empty(self) -> bool:
        """Return whether none has a document."""
        return not any(index.status(drift=False, stale=False).documents for index in self.by_name.values())

    def first_that_has(self, ask: Callable[[Index], Found]) -> tuple[str, Found]:
        """The answer of the first index that has one, with its name. Raises SourceError if none has."""
        failed: SourceError | None = None
        for name, index in self.by_name.items():
            try:
                return name, ask(index)
            except SourceError as error:
                failed = failed or error
        assert failed is not None  # there is one index at least
        raise failed


def choose(indexes: OpenIndexes, name: str | None) -> ChosenIndexes:
    """The index of a name, or all that can be opened. Raises IndexNotFound, and what opening them raises."""
    names = indexes.names()
    if name is not None or len(names) < 2:
        return ChosenIndexes({indexes.name_of(name): indexes.get(name)})
    opened: dict[str, Index] = {}
    failed: dict[str, SemsearchError] = {}
    for each in names[:_MOST]:
        try:
            opened[each] = indexes.get(each)
        except SemsearchError as error:
            failed[each] = error
    if not opened:
        raise next(iter(failed.values()))
    left = [*failed, *names[_MOST:]]
    return ChosenIndexes(
        opened, f"Not searched: {', '.join(left[:20])}; see status." if left else None, indexes.reranker
    )


# -- Shared by several tools -------------------------------------------------------------------------------------------

MOST_CHARACTERS = 24_000  # of an answer: about 6,000 tokens; clients cut or refuse answers of more than 25,000
PASSAGE_CHARACTERS = 4_000  # of one passage

INDEX = Parameter("index", "text", "Only this index; default: all.", most=1000)
FILTERS = Parameter(
    "filters",
    "texts",
    "Only documents that match all: globs on paths (guide/*.md), conditions (year>=2024, author=Ada); a|b for either, "
    "!a for all others.",
    default=(),
    most=50,
    longest=1000,
)
CURSOR = Parameter("cursor", "text", "next_cursor of an answer, to continue with the same arguments.", most=100)
Item = TypeVar("Item")


def that_fit(items: Sequence[Item]) -> list[Item]:
    """The first items that fit into one answer; at least one."""
    room, taken = MOST_CHARACTERS, list[Item]()
    for item in items:
        room -= len(to_line(to_dict(item)))
        if room < 0 and taken:
            break
        taken.append(item)
    return taken


def shortened(text: str) -> str:
    """A text, cut if it is too long for one result of several."""
    return text if len(text) <= PASSAGE_CHARACTERS else f"{text[:PASSAGE_CHARACTERS].rstrip()} …"


def heading_of(title: str, headings: Sequence[str]) -> str:
    """The title of a document and headings in it as one text, outermost first."""
    from semsearch.text.text_lengths import heading_text  # start-up time

    return " > ".join(heading_text(title, headings).split("\n"))


# -- search, similar, context ------------------------------------------------------------------------------------------

_MOST_RESULTS = 1000  # that cursors lead to
_OF_SEVERAL = 60
_QUERY = Parameter(
    "query",
    "text",
    'What to find, in any words. A quoted "phrase" must occur, a -word must not.',
    is_required=True,
    most=10_000,
)
_PER_DOCUMENT = Parameter("per_document", "whole number", "Maximum results per document.", least=1, most=50)
_LIMIT = Parameter("limit", "whole number", "Maximum number of results.", default=5, least=1, most=50)
_MODE = Parameter(
    "mode",
    "text",
    "lexical: exact words; dense: meaning only.",
    default="hybrid",
    choices=("hybrid", "lexical", "dense"),
)
_ALL = Parameter("all", "true or false", "Include all passages that are unlikely to answer.", default=False)
_BRIEF = Parameter("brief", "true or false", "Only the best sentence of each passage.", default=False)
_NOTHING = "Nothing found. If other words find nothing either, say that the documents do not answer this."
_NONE_ANSWERS = "Nothing answers this. If other words find no answer either, say that the documents do not answer it."
_NEAREST = f"{_NONE_ANSWERS} The passages are only the nearest ones."
_EMPTY = "The index is empty; the user can add documents: semsearch index FOLDER."


def search(indexes: OpenIndexes, given: Given) -> FoundPassages:
    """Find passages that answer a query; if none does, the nearest ones."""
    from semsearch.results.hits import NEAREST, above_threshold  # start-up time

    chosen = choose(indexes, given["index"])
    every = chosen.together.search(given["query"], options=_options(chosen, given))
    hits = every if given["all"] else above_threshold(every)
    found = _found(chosen, given, hits)
    if not every or every.answered:
        return found
    nearest = None if given["all"] else tuple(_passage(hit, brief=given["brief"]) for hit in every[:NEAREST])
    return replace(found, nearest=nearest, note=" ".join(filter(None, (_NEAREST, chosen.note))))


def similar(indexes: OpenIndexes, given: Given) -> FoundPassages:
    """Find passages similar to a cited one, or to a document."""
    chosen = choose(indexes, given["index"])
    asked, options = chosen.together, _options(chosen, given)
    hits = by_citation(given["citation"], lambda place: asked.similar(place.path, place.line, options=options))
    return _found(chosen, given, hits)


def _options(chosen: ChosenIndexes, given: Given) -> SearchOptions:
    from semsearch.results.options import SearchOptions  # start-up time, here and below
    from semsearch.serve.search_routes import checked_filters

    k = offset_of(given.values) + given["limit"] + 1
    if chosen.are_several:  # their ranking may change slightly with k: all pages of an answer must use the same
        k = -(-k // _OF_SEVERAL) * _OF_SEVERAL
    k = min(k, _MOST_RESULTS)
    return SearchOptions(
        k,
        given.values.get("mode") or "hybrid",
        filters=checked_filters(given),
        per_document=given["per_document"],
    )


def _found(chosen: ChosenIndexes, given: Given, hits: list[Hit]) -> FoundPassages:
    offset, limit = offset_of(given.values), given["limit"]
    page = that_fit([_passage(hit, brief=given["brief"]) for hit in hits[offset : offset + limit]])
    end = offset + len(page)
    return FoundPassages(
        results=tuple(page),
        note=chosen.note if hits else _why_nothing(chosen),
        next_cursor=cursor_at(end, given.values) if end < len(hits) else None,
    )


def _passage(hit: Hit, *, brief: bool) -> FoundPassage:
    from semsearch.results.hits import location

    return FoundPassage(
        citation=location(hit.path, hit.format, hit.position),
        heading=heading_of(hit.title, hit.headings),
        sentence=shortened(" ".join(hit.sentence.split())),  # on one line, to be quoted
        score=round(hit.score, 3),
        relevance=None if hit.relevance is None else round(hit.relevance, 3),
        passage=None if brief or hit.passage == hit.sentence else shortened(hit.passage),
        index=hit.index,
        changed=hit.stale or None,
        language=hit.language,
    )


def _why_nothing(chosen: ChosenIndexes) -> str:
    return " ".join(filter(None, (_EMPTY if chosen.are_empty else _NOTHING, chosen.note)))


def context(indexes: OpenIndexes, given: Given) -> GatheredContext:
    """Gather passages that answer a question."""
    from semsearch.serve.search_routes import checked_filters

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
    from semsearch.results.hits import Position, location

    first = Position(cited.line, cited.page, cited.place)
    last = Position(cited.last_line, cited.last_page, cited.last_place)
    citation = location(cited.path, cited.format, first, last)
    return CitedSource(cited.number, citation, index=cited.index, changed=cited.stale or None)


ASKING = (
    Tool(
        "search",
        "Search documents",
        "Find passages of the user's documents that answer a query, by meaning and by words. Each has a citation (file "
        "and place) and its best sentence.",
        (_QUERY, INDEX, _LIMIT, _PER_DOCUMENT, FILTERS, _MODE, _ALL, _BRIEF, CURSOR),
        FoundPassages,
        search,
    ),
    Tool(
        "context",
        "Gather context",
        "Gather the passages of the user's documents that a question needs, numbered for citing, with their sources.",
        (
            _QUERY,
            INDEX,
            Parameter("max_words", "whole number", "Maximum number of words.", default=800, least=50, most=2400),
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
        "Find passages similar to a cited one, or to a whole document.",
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


# -- read, list_documents, status --------------------------------------------------------------------------------------

_NONE = "There is no index yet; the user can create one: semsearch index FOLDER."
_MOST_INDEXES = 100


def read(indexes: OpenIndexes, given: Given) -> ReadDocument:
    """Read a document, or the part of it around a citation."""
    options = given.only(("around", "max_words")) | {"start": offset_of(given.values) or None}
    name, part = choose(indexes, given["index"]).first_that_has(
        lambda index: by_citation(given["citation"], lambda place: read_part(index, place, **options))
    )
    of = part.of
    shown = that_fit([_shown(passage, of) for passage in part.passages])
    after = part.first + len(shown) if len(shown) < len(part.passages) else part.next
    return ReadDocument(
        index=name,
        document=of.path,
        title=of.title,
        format=of.format,
        passages=tuple(shown),
        changed=of.stale or None,
        note=None if of.count else "This document has no text.",
        next_cursor=None if after is None else cursor_at(after, given.values),
    )


def _shown(passage: PlacedPassage, of: DocumentPassages) -> ReadPassage:
    return ReadPassage(cited_passage(passage, of.path, of.format), heading_of(of.title, passage.headings), passage.text)


def list_documents(indexes: OpenIndexes, given: Given) -> ListedDocuments:
    """List the documents of an index."""
    from semsearch.serve.search_routes import checked_filters  # start-up time

    offset, limit = offset_of(given.values), given["limit"]
    chosen, filters = choose(indexes, given["index"]), checked_filters(given)
    found = (
        ListedDocument(
            each.path,
            each.title,
            each.format,
            each.words,
            modified=each.modified,
            index=name if chosen.are_several else None,
        )
        for name, index in chosen.by_name.items()
        for each in index.documents(filters)
    )
    page = list(islice(found, offset, offset + limit + 1))
    shown = that_fit(page[:limit])
    return ListedDocuments(
        documents=tuple(shown),
        note=chosen.note if page or offset else "No document matches.",
        next_cursor=cursor_at(offset + len(shown), given.values) if len(shown) < len(page) else None,
    )


def status(indexes: OpenIndexes, given: Given) -> IndexStates:
    """List the indexes, or the state of one."""
    name, files = given["index"], given["check_files"]
    if name is not None:
        return IndexStates((_state(name, indexes.get(name), files=files),))
    names = indexes.names()
    states = tuple(_state_or_problem(indexes, each, files=files) for each in names[:_MOST_INDEXES])
    more = f"{len(names) - _MOST_INDEXES} more are not listed; name one." if len(names) > _MOST_INDEXES else None
    return IndexStates(states, note=more if names else _NONE)


def _state_or_problem(indexes: OpenIndexes, name: str, *, files: bool) -> IndexState:
    try:
        return _state(name, indexes.get(name), files=files)
    except SemsearchError as error:
        return IndexState(name, 0, 0, (), problem=str(error))


def _state(name: str, index: Index, *, files: bool) -> IndexState:
    from semsearch.results.omissions import endings_in_words  # start-up time

    found = index.status(drift=False, stale=files)
    not_read = endings_in_words(found.not_read) or None
    return IndexState(
        name,
        found.documents,
        found.passages,
        found.roots,
        changed_files=found.stale,
        about=found.description or None,
        not_read=not_read,
    )


LOOKING = (
    Tool(
        "read",
        "Read a document",
        "Read a document, or the part around a citation; each passage has its own citation.",
        (
            Parameter(
                "citation",
                "text",
                "A citation of a result (notes/keys.md:12-20, report.pdf p. 3), or a document.",
                is_required=True,
                most=4000,
            ),
            INDEX,
            Parameter(
                "around", "whole number", "Passages before and after the cited one.", default=1, least=0, most=50
            ),
            Parameter("max_words", "whole number", "Maximum words per answer.", default=1500, least=50, most=2400),
            CURSOR,
        ),
        ReadDocument,
        read,
    ),
    Tool(
        "list_documents",
        "List documents",
        "List the documents of an index with title, format and length.",
        (
            INDEX,
            FILTERS,
            Parameter("limit", "whole number", "Maximum number of documents.", default=50, least=1, most=200),
            CURSOR,
        ),
        ListedDocuments,
        list_documents,
    ),
    Tool(
        "status",
        "Indexes and their state",
        "List the indexes with their sizes and folders.",
        (
            Parameter("index", "text", "Only this index.", most=1000),
            Parameter("check_files", "true or false", "Count changed files; slower.", default=False),
        ),
        IndexStates,
        status,
        quotes=False,
    ),
)


# -- All tools ---------------------------------------------------------------------------------------------------------

TOOLS: dict[str, Tool] = {tool.name: tool for tool in (*ASKING, *LOOKING)}
