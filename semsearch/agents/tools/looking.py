"""The tools that look at what there is: read, list_documents, status."""

from __future__ import annotations

from itertools import islice
from typing import TYPE_CHECKING

from semsearch.agents.answers import (
    IndexState,
    IndexStates,
    ListedDocument,
    ListedDocuments,
    ReadDocument,
    ReadPassage,
)
from semsearch.agents.citations import by_citation
from semsearch.agents.cursors import cursor_at, offset_of
from semsearch.agents.reading import cited_passage, read_part
from semsearch.agents.tools.chosen_indexes import choose
from semsearch.agents.tools.shared import CURSOR, FILTERS, INDEX, heading_of, that_fit
from semsearch.agents.tools.tool import Tool
from semsearch.errors import SemsearchError
from semsearch.serve.operations.parameters import Given, Parameter

if TYPE_CHECKING:
    from semsearch.index import Index
    from semsearch.results.contents.passages import DocumentPassages, PlacedPassage
    from semsearch.serve.open_indexes import OpenIndexes

_NONE = "There is no index yet; the user can make one: semsearch index FOLDER."
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
    from semsearch.serve.operations.asking import checked_filters  # start-up time

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
    """List the indexes, or say of one how it is."""
    name, files = given["index"], given["check_files"]
    if name is not None:
        return IndexStates((_state(name, indexes.get(name), files=files),))
    names = indexes.names()
    states = tuple(_state_or_problem(indexes, each, files=files) for each in names[:_MOST_INDEXES])
    more = f"{len(names) - _MOST_INDEXES} more are left out; name one." if len(names) > _MOST_INDEXES else None
    return IndexStates(states, note=more if names else _NONE)


def _state_or_problem(indexes: OpenIndexes, name: str, *, files: bool) -> IndexState:
    try:
        return _state(name, indexes.get(name), files=files)
    except SemsearchError as error:
        return IndexState(name, 0, 0, (), problem=str(error))


def _state(name: str, index: Index, *, files: bool) -> IndexState:
    from semsearch.results.state.problems import endings_in_words  # start-up time

    found = index.status(drift=False, stale=files)
    not_read = endings_in_words(found.not_read) or None
    return IndexState(name, found.documents, found.passages, found.roots, changed_files=found.stale, not_read=not_read)


LOOKING = (
    Tool(
        "read",
        "Read a document",
        "Read a document, or the part of it around a citation; each passage has its own citation.",
        (
            Parameter(
                "citation",
                "text",
                "A citation of a result (notes/keys.md:12-20, report.pdf p. 3), or a document, to read all of it.",
                is_required=True,
                most=4000,
            ),
            INDEX,
            Parameter(
                "around", "whole number", "Passages before and after the cited one.", default=1, least=0, most=50
            ),
            Parameter("max_words", "whole number", "The most words at once.", default=1500, least=50, most=2400),
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
            Parameter("limit", "whole number", "How many at most.", default=50, least=1, most=200),
            CURSOR,
        ),
        ListedDocuments,
        list_documents,
    ),
    Tool(
        "status",
        "Indexes and their state",
        "List the indexes with their size and the folders they are of.",
        (
            Parameter("index", "text", "Only this one.", most=1000),
            Parameter(
                "check_files", "true or false", "Count the files that have changed since; takes longer.", default=False
            ),
        ),
        IndexStates,
        status,
        quotes=False,
    ),
)
