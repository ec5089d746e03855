"""The answers of searches: hits, their citations, lists and tables of them, and context for a language model.

Citations: `guide.md:10-14`, `report.pdf p. 3, top`, `talk.pptx slide 3`. A file that people open in an editor is cited
by its lines; one without lines of its own by its pages and positions.

The verdict on a query is "answers", "perhaps" or "not here": then the hits are only the nearest passages. The relevance
threshold cuts the end of other answers, whose order never changes: a hit below the threshold stays while one above it
follows, and so does one that has exact words of the query. The hits of `similar`, which answer no question, have
neither verdict nor relevance, and none is left out.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from html import escape
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, SupportsIndex, overload

from semsearch.errors import UsageError, quoted
from semsearch.results.codec import ONLY_IF_SET, Record, to_dict
from semsearch.results.options import Mode as Mode, SearchOptions
from semsearch.results.origin import Correction, Origin

if TYPE_CHECKING:
    from semsearch.results.explanation import Explanation

LINELESS = frozenset(  # formats whose files have no lines, or whose hits are cited by other places
    "pdf picture doc docx ppt pptx xlsx odt ods odp rtf epub fb2 mail msg archive notebook subtitles".split()
)


class Position(NamedTuple):
    """Where a sentence begins."""

    line: int  # the first is 1; of the extracted text, where the file has no lines
    page: int | None
    place: str | None  # in the document's own terms


def location(path: str, format: str, first: Position, last: Position | None = None) -> str:
    """The path with a position in it, or a range of positions."""
    if format in LINELESS:
        return f"{path} {own_terms(first, last)}".rstrip()
    return f"{path}:{first.line}" + (f"-{last.line}" if last is not None and last.line > first.line else "")


def own_terms(first: Position, last: Position | None = None) -> str:
    """`p. 3, top`, `p. 3–4`, `row 3 – row 7`: pages and places, where the document has them."""
    last = last or first
    pages = "" if first.page is None else f"p. {first.page}"
    if pages and last.page not in (None, first.page):
        pages += f"–{last.page}"
    if first.place == last.place or last.place is None:
        return ", ".join(filter(None, (pages, first.place)))
    return pages or " – ".join(filter(None, (first.place, last.place)))


# -- Hits --------------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class DuplicatePassage(Record):
    """The source of a near-duplicate of a hit's passage."""

    # name of its index; this and the next five as in a hit
    index: str | None = field(default=None, kw_only=True, metadata=ONLY_IF_SET)
    path: str
    root: str
    document: str
    title: str
    format: str = field(default="", kw_only=True)
    line: int  # line of the passage
    page: int | None
    place: str | None = field(default=None, kw_only=True)
    headings: tuple[str, ...]  # outermost first
    passage_id: int

    @property
    def position(self) -> Position:
        """Line, page and place of the passage."""
        return Position(self.line, self.page, self.place)


class FoundRecord(Record):
    """A record with a weak reference to its finder, which therefore keeps no index open.

    A copy, an unpickled record and one made from a dict have no finder.
    """

    __slots__ = ("_finder",)
    _finder: Callable[[], Any]

    def found_by(self, finder: Callable[[], Any]) -> None:
        """Remember the finder of this record, given by a weak reference."""
        object.__setattr__(self, "_finder", finder)


@dataclass(frozen=True, slots=True)
class Hit(FoundRecord):
    """A passage that answers a query, with its sentence that answers best."""

    rank: int  # position in the answer, from 1
    score: float  # score in the chosen mode; comparable within one answer
    occurrences: int | None = field(default=None, kw_only=True, metadata=ONLY_IF_SET)  # in the passage, in mode "exact"
    # mean cosine of topics, passage, best sentence and title, -1 to 1; None: no known word, or another mode
    dense: float | None
    lexical: float | None  # BM25, larger is better; None: no word in common, or another mode
    relevance: float | None = field(default=None, kw_only=True)  # how likely it answers, 0 to 1; None: of `similar`
    # name of its index, in a multi-index search
    index: str | None = field(default=None, kw_only=True, metadata=ONLY_IF_SET)
    # path and place as one cites them: "notes/keys.md:12", "report.pdf p. 3"; understood wherever a path is
    citation: str = field(init=False, default="", repr=False, compare=False)
    path: str  # path as one would open it from here; the id, for a text that a program added
    root: str  # root it was found under; "" for a text that a program added
    document: str  # path below the root, or the id
    title: str  # title of the document
    format: str = field(default="", kw_only=True)  # format of the document: markdown, pdf, ...
    line: int  # line of the sentence, from 1; of the extracted text, where the file has no lines
    page: int | None  # page of the sentence, where the format has pages
    # place of the sentence, in the document's own terms: "slide 3"
    place: str | None = field(default=None, kw_only=True)
    headings: tuple[str, ...]  # headings above it, outermost first
    sentence: str  # sentence that answers best; with what follows it, if it ends in a colon
    # the date or number in it that answers: where it begins and ends; None where none is sure
    answer_span: tuple[int, int] | None = field(default=None, kw_only=True, metadata=ONLY_IF_SET)
    passage: str  # all of the passage's text
    start: int  # first character of the sentence in the file's text
    end: int  # one past its last character
    passage_id: int  # never given to another passage of the index
    sentence_id: int  # never given to another sentence of the index
    # metadata of the document, such as its front matter, and of the record
    metadata: Mapping[str, Any] = field(default_factory=dict)
    before: tuple[str, ...] = ()  # sentences of the document just before it, as many as requested
    after: tuple[str, ...] = ()  # sentences just after it
    duplicates: tuple[DuplicatePassage, ...] = ()  # near-duplicates that were left out, best first
    # its file was changed or deleted since it was indexed
    stale: bool = field(default=False, kw_only=True, compare=False)
    # true: the file of a stale hit is no longer there
    deleted: bool | None = field(default=None, kw_only=True, compare=False, metadata=ONLY_IF_SET)
    # ISO 639-1 code of the passage's language, where it is not the question's
    language: str | None = field(default=None, kw_only=True, metadata=ONLY_IF_SET)
    origin: Origin | None = field(default=None, repr=False, compare=False)  # None: of `similar`, or made by hand

    def __post_init__(self) -> None:
        object.__setattr__(self, "citation", location(self.path, self.format, self.position))

    @property
    def position(self) -> Position:
        """Where the sentence begins."""
        return Position(self.line, self.page, self.place)

    def explain(self) -> Explanation:
        """Explain the hit's score: by the words in common, and by the meaning of each word, as `index.explain` does.

        Uses the index that found the hit. Raises UsageError if that was closed, and for a hit that no query found, or
        that is a copy: `index.explain(query, hit)` explains those.
        """
        if self.origin is None:
            raise UsageError(
                f"this hit in {self.path} has no query: it was created by hand, or found by "
                "similar; use index.explain(query, hit)"
            )
        finder = self._finder() if hasattr(self, "_finder") else None
        if finder is None:
            raise UsageError(
                f"this hit in {self.path} has no index: it is a copy, or the index was closed; "
                "use index.explain(query, hit)"
            )
        explanation: Explanation = finder.explain(self.origin.query, self)
        return explanation

    def to_dict(self, *, origin: bool = False) -> dict[str, Any]:
        """Convert to a plain dict, as for JSON. `origin` is needed only to explain the hit later."""
        return to_dict(self, without=None if origin else "origin")

    def __str__(self) -> str:
        """A line to print: place, score and the best sentence."""
        return f"{self.citation}  {self.score:.3f}  {' '.join(self.sentence.split())}"

    def _repr_html_(self) -> str:
        return _html_of_hit(self)


def _html_of_hit(hit: Hit) -> str:
    """A hit in a notebook: place, score and headings; the passage, with its sentence marked."""
    passage, sentence = escape(hit.passage), escape(hit.sentence)
    marked = passage.replace(sentence, f"<mark>{sentence}</mark>", 1) if sentence else passage
    headings = " › ".join((f"{hit.score:.3f}", *hit.headings))
    return (
        f"<div><strong>{hit.rank}. {escape(hit.citation)}</strong> "
        f'<em>{escape(headings)}</em><div style="white-space: pre-wrap">{marked}</div></div>'
    )


# -- Hit list ----------------------------------------------------------------------------------------------------------

Verdict = Literal["answers", "perhaps", "not here"]


@dataclass(frozen=True, slots=True)
class Occurrences(Record):
    """The number of occurrences of a text in an index, in mode "exact"."""

    occurrences: int
    passages: int  # number of passages in which it stands
    documents: int

    def __str__(self) -> str:
        parts = [
            f"{number:,} {noun}{'' if number == 1 else 's'}"
            for number, noun in (
                (self.occurrences, "occurrence"),
                (self.passages, "passage"),
                (self.documents, "document"),
            )
        ]
        return f"{parts[0]} in {parts[1]} of {parts[2]}"


class Hits(list[Hit]):
    """The hits of an answer, best first. A list, whose slices are `Hits` too.

    `verdict` says of the query whether the index "answers" it, "perhaps" does, or "not here": then the hits are only
    the nearest passages. It is None for hits of `similar`, and in mode "exact", where `total` counts the occurrences in
    the whole index, and hits are in the order of the documents. `missing` are the words of the query that no document
    has. `corrected` are its misspelt words, with what was searched for instead; `notices` what else the index cannot
    know of the query, such as a filter or a phrase that matches nothing.
    """

    __slots__ = ("corrected", "missing", "notices", "total", "verdict")

    def __init__(
        self,
        hits: Iterable[Hit] = (),
        *,
        verdict: Verdict | None = None,
        missing: tuple[str, ...] = (),
        corrected: tuple[Correction, ...] = (),
        notices: tuple[str, ...] = (),
        total: Occurrences | None = None,
    ) -> None:
        super().__init__(hits)
        self.verdict, self.missing, self.corrected, self.notices = verdict, missing, corrected, notices
        self.total = total

    def instead(self, hits: Iterable[Hit], *, notices: tuple[str, ...] | None = None) -> Hits:
        """Other hits of the same answer, perhaps with other notices."""
        return Hits(
            hits,
            verdict=self.verdict,
            missing=self.missing,
            corrected=self.corrected,
            notices=self.notices if notices is None else notices,
            total=self.total,
        )

    @property
    def warnings(self) -> tuple[str, ...]:
        """The corrections and notices, each as a sentence for people."""
        return tuple(dict.fromkeys((*(correction.sentence for correction in self.corrected), *self.notices)))

    @property
    def answered(self) -> bool:
        """Whether there are hits, and the verdict on the query is not "not here"."""
        return bool(self) and self.verdict != "not here"

    def to_dict(self, *, origin: bool = False) -> dict[str, Any]:
        """Convert to a plain dict, as for JSON: the hits, and what is said of the query. `origin` as for a hit."""
        plain: dict[str, Any] = {}
        if self.verdict is not None or self.total is not None:  # not of `similar`
            plain = {"verdict": self.verdict, "answered": self.answered, "missing": [*self.missing]}
        plain["hits"] = [hit.to_dict(origin=origin) for hit in self]
        if self.total is not None:
            plain["total"] = self.total.to_dict()
        if self.corrected:
            plain["corrected"] = [correction.to_dict() for correction in self.corrected]
        if self.warnings:
            plain["warnings"] = [*self.warnings]
        return plain

    @overload
    def __getitem__(self, index: SupportsIndex) -> Hit: ...
    @overload
    def __getitem__(self, index: slice) -> Hits: ...
    def __getitem__(self, index: SupportsIndex | slice) -> Hit | Hits:
        """One hit, or some of them as `Hits`."""
        return (
            self.instead(list.__getitem__(self, index)) if isinstance(index, slice) else list.__getitem__(self, index)
        )

    def __str__(self) -> str:
        """A line for each hit, below one for a verdict that the command line shows too."""
        heading = str(self.total or heading_of(self.verdict, self.missing)) if self else nothing_answers(self.missing)
        return "\n".join(filter(None, (heading, *map(str, self))))

    def _repr_html_(self) -> str:
        heading = heading_of(self.verdict, self.missing) if self else "no hits"
        return f"<div><em>{escape(heading)}</em>{''.join(map(_html_of_hit, self))}</div>"


# -- Relevance threshold -----------------------------------------------------------------------------------------------

FLOOR = 0.02  # of hits at the end; Measurements, "Relevance"
NOT_ANSWERED = "nothing answers this"
NEAREST = 3  # hits that are shown, apart, where nothing answers


def nothing_answers(missing: Sequence[str], query: str | None = None) -> str:
    """`nothing answers this (no document has: sourdough, bread)`"""
    said = NOT_ANSWERED if query is None else f"nothing answers {quoted(query)}"
    return said + _no_document_has(missing)


def _no_document_has(missing: Sequence[str]) -> str:
    return f" (no document has: {', '.join(missing)})" if missing else ""


def heading_of(verdict: Verdict | None, missing: Sequence[str]) -> str:
    """The line above hits that do not answer, or perhaps; "" where they answer."""
    if verdict == "not here":
        return f"{nothing_answers(missing)}; nearest:"
    return f"perhaps among these{_no_document_has(missing)}:" if verdict == "perhaps" else ""


def above_threshold(hits: Hits, floor: float = FLOOR) -> Hits:
    """The hits up to the last one that is not below the relevance threshold; none if nothing answers.

    A threshold of 0 leaves nothing out.
    """
    if floor and not hits.answered:
        return hits[:0]
    strong = len(hits)
    while strong and _is_weak(hits[strong - 1], floor):
        strong -= 1
    return hits[:strong]


def best_of(hits: Hits, options: SearchOptions) -> Hits:
    """The hits that an answer has of all in order: as `options` say, at most k, none below the least score, and none
    below the relevance threshold at the end. Their ranks begin with 1."""
    least = -math.inf if options.min_score is None else options.min_score
    chosen = above_threshold(hits.instead([hit for hit in hits if hit.score >= least][: options.k]), options.floor)
    ranks = enumerate(chosen, start=1)
    return chosen.instead(hit if hit.rank == rank else replace(hit, rank=rank) for rank, hit in ranks)


def _is_weak(hit: Hit, floor: float) -> bool:
    is_exact = hit.origin is not None and hit.origin.exact is not None
    return not is_exact and hit.relevance is not None and hit.relevance < floor


# -- Context -----------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Citation(Record):
    """The source of one numbered passage of a context."""

    number: int  # number in the context, from 1
    index: str | None = field(default=None, kw_only=True, metadata=ONLY_IF_SET)  # name of its index, as in a hit
    # path and lines, pages or places as one cites them: "notes/keys.md:12-14", "report.pdf p. 3–4"
    citation: str = field(init=False, default="", repr=False, compare=False)
    path: str  # path, as in a hit
    line: int  # first line
    last_line: int
    page: int | None  # page of the first sentence
    last_page: int | None = field(default=None, kw_only=True)  # page of the last sentence
    place: str | None = field(default=None, kw_only=True)  # place of the first sentence, in the document's own terms
    last_place: str | None = field(default=None, kw_only=True)  # place of the last sentence
    headings: tuple[str, ...]  # headings above it, outermost first
    title: str  # title of the document
    format: str = field(default="", kw_only=True)  # format of the document
    text: str  # text that is quoted
    stale: bool = field(default=False, kw_only=True)  # the file was changed or deleted since it was indexed

    def __post_init__(self) -> None:
        object.__setattr__(self, "citation", location(self.path, self.format, *self._positions))

    @property
    def source(self) -> str:
        """The line of a list of sources: `guide.md:10-14, Ships`, `a.ipynb:10 (cell 3)`, `report.pdf p. 3 [notes]`."""
        return source_line(self, *self._positions)

    @property
    def _positions(self) -> tuple[Position, Position]:
        last = Position(self.last_line, self.last_page, self.last_place)
        return Position(self.line, self.page, self.place), last


def source_line(of: Hit | Citation, first: Position, last: Position) -> str:
    """The line of a list of sources for positions in a document: where they are, the heading above, the index."""
    beside = own_terms(first, last) if of.format not in LINELESS else ""
    heading = of.headings[-1] if of.headings else of.title
    index = f" [{of.index}]" if of.index else ""
    return (
        location(of.path, of.format, first, last)
        + (f" ({beside})" if beside else "")
        + (f", {heading}" if heading else "")
        + index
    )


@dataclass(frozen=True, slots=True)
class Context(Record):
    """Numbered passages for a language model's prompt, followed by a list of their sources.

    The text is empty, and there are no citations, if no hit reaches the relevance threshold.
    """

    text: str
    words: int  # number of words of the whole text, as semsearch.text.text_lengths counts them
    citations: tuple[Citation, ...]
    # the number of passages that were found, where nothing answers
    weak: int | None = field(default=None, metadata=ONLY_IF_SET)
    # verdict and missing words, as in hits
    verdict: Verdict | None = field(default=None, metadata=ONLY_IF_SET, kw_only=True)
    missing: tuple[str, ...] | None = field(default=None, metadata=ONLY_IF_SET, kw_only=True)
    # as `Hits.warnings`, if there are any
    warnings: tuple[str, ...] | None = field(default=None, metadata=ONLY_IF_SET, compare=False)
