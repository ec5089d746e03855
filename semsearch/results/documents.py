"""The documents of an index: entries of a list, texts, passages, pages of PDFs, facets, a map. Plain frozen data.

Each value of a facet has the filter that selects it. To select it, replace the facet's own filters by that one:

    filters = [text for text in filters if text not in facet.own] + [value.filter]
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

from semsearch.results.codec import ONLY_IF_SET, Record


@dataclass(frozen=True, slots=True)
class IndexedDocument(Record):
    """A document of an index."""

    path: str  # path as one would open it from here; the id, for a text that a program added
    root: str  # root it was found under; "" for a text that a program added
    document: str  # path below the root, or the id
    title: str
    format: str  # text, markdown, rst, html, pdf, ...


@dataclass(frozen=True, slots=True)
class DocumentInfo(IndexedDocument):
    """An entry in the list of an index's documents."""

    passages: int
    sentences: int
    words: int  # running words, about
    size: int  # bytes of its file; characters of a text that a program added
    modified: str | None  # date and time of its file when it was read; None for a text that a program added
    indexed: str  # date and time when it was indexed
    metadata: Mapping[str, Any]  # front matter and the like


@dataclass(frozen=True, slots=True)
class DocumentText(IndexedDocument):
    """A document of an index, with its text as it is searched.

    The text is that of its passages, in order: paragraphs and headings, separated by blank lines, without markup and
    front matter, which is metadata. A paragraph too long for one passage is divided where a passage ends, and headings
    that two consecutive sections share are not repeated.
    """

    metadata: Mapping[str, Any]  # front matter and the like
    text: str


# -- Passages ----------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class PlacedSentence(Record):
    """A sentence of a passage."""

    sentence_id: int
    start: int  # first character in the passage's text, from 0
    end: int  # one past its last character
    line: int  # line in the file, as in a hit
    place: str | None  # place in the document's own terms, as in a hit


@dataclass(frozen=True, slots=True)
class PlacedPassage(Record):
    """A passage of a document, with its sentences."""

    passage_id: int
    headings: tuple[str, ...]  # outermost first
    page: int | None  # page of all its sentences, where the format has pages
    text: str
    sentences: tuple[PlacedSentence, ...]


@dataclass(frozen=True, slots=True)
class DocumentPassages(IndexedDocument):
    """Some consecutive passages of a document. `next` is the offset of those after them; None at the end."""

    metadata: Mapping[str, Any]  # front matter and the like
    stale: bool  # its file was changed or deleted since it was indexed
    count: int  # number of all its passages
    offset: int  # number of passages before these
    passages: tuple[PlacedPassage, ...]
    next: int | None
    found: int | None  # the number, from 0, of the passage that was sought; None: none was, or it no longer exists
    deleted: bool | None = field(default=None, kw_only=True, metadata=ONLY_IF_SET)  # true: its file is no longer there


# -- Pages -------------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class TextBox(Record):
    """A rectangle around text on a page: shares of the page's width and height, from its upper left corner."""

    left: float
    top: float
    width: float
    height: float


@dataclass(frozen=True, slots=True)
class PageSentence(Record):
    """A sentence that lies on a page, or ends there. It has no boxes if it was not located."""

    sentence_id: int
    passage_id: int
    text: str
    boxes: tuple[TextBox, ...]  # one for each line


@dataclass(frozen=True, slots=True)
class PdfPage(Record):
    """A page of an indexed PDF."""

    path: str  # path as one would open it from here
    page: int  # number of the page; the first is 1
    pages: int  # number of the document's pages
    label: str  # the document's own page number, such as "iv"; empty if it has none
    width: float  # width in points, as it is shown
    height: float
    sentences: tuple[PageSentence, ...]  # sentences as they are searched, in order


# -- Facets -----------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class FacetValue(Record):
    """A value of a facet, and the number of documents that have it."""

    value: str  # text as people read it
    count: int  # documents that pass all filters but the facet's own
    filter: str  # filter that selects these documents


@dataclass(frozen=True, slots=True)
class Facet(Record):
    """The most frequent values of one key. A document with several values counts for each of them."""

    key: str  # name as filters write it
    own: tuple[str, ...]  # the given filters on this key, which do not apply here
    values: tuple[FacetValue, ...]  # most frequent first
    more: int  # the number of further values


@dataclass(frozen=True, slots=True)
class FolderFacet(Record):
    """The folders one level below the present one, which the filters choose; by default the top."""

    own: tuple[str, ...]  # the given filters on the path
    path: tuple[FacetValue, ...]  # the folders from the top down to the present one, which comes last
    here: int  # documents directly in the present folder
    values: tuple[FacetValue, ...]  # most documents first
    more: int


@dataclass(frozen=True, slots=True)
class DateFacet(Record):
    """The documents by year, and by month of the year that the filters choose."""

    key: str  # name as filters write it; "modified" is the time of the last change
    own: tuple[str, ...]
    years: tuple[FacetValue, ...]  # latest first
    more: int  # the number of earlier years
    year: str | None  # the chosen year
    months: tuple[FacetValue, ...]  # months of that year, in order


@dataclass(frozen=True, slots=True)
class Facets(Record):
    """The facets of an index under some filters. A mailbox or table is one document, whatever its records."""

    documents: int  # number of documents that pass all filters
    folders: FolderFacet
    formats: Facet
    dates: tuple[DateFacet, ...]
    metadata: tuple[Facet, ...]  # keys with repeated values first
    more_keys: int  # the number of further metadata keys


# -- The map -----------------------------------------------------------------------------------------------------------

MapState = Literal["absent", "running", "outdated", "ready"]
MapPhase = Literal["reading", "comparing", "arranging", "naming", "writing"]


@dataclass(frozen=True, slots=True)
class MapProgress(Record):
    """The progress of making a map: its phase, and the finished part of it."""

    phase: MapPhase
    done: int = 0
    total: int = 0  # 0: unknown


@dataclass(frozen=True, slots=True)
class MapRegion(Record):
    """A region of a map, with the words that characterise its passages."""

    x: float
    y: float
    words: tuple[str, ...]
    passages: int
    level: int  # 0 for the few largest regions; higher ones are parts of these


@dataclass(frozen=True, slots=True)
class MapStatus(Record):
    """The state of the map of an index.

    It is outdated if the index was written to since: removed passages are left out, new ones are not in it.
    """

    state: MapState
    passages: int  # number of passages on the map; 0 if there is none
    of: int  # number of passages in the index
    generation: int | None  # generation of the index when the map was made
    progress: MapProgress | None = None  # set while the map is being made


@dataclass(frozen=True, slots=True)
class MapPassage(Record):
    """A passage of an index, found by its id."""

    passage_id: int
    path: str  # path as one would open it from here; the id, for a text that a program added
    root: str  # root it was found under; "" for a text that a program added
    document: str  # path below the root, or the id
    title: str  # title of the document
    format: str
    headings: tuple[str, ...]  # outermost first
    line: int  # line of its first sentence, as page, place, start and end
    page: int | None
    place: str | None
    start: int
    end: int
    text: str  # all of its text
