"""Hits: passages that answer a query. Plain frozen data."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Protocol

from semsearch.errors import UsageError
from semsearch.results.codec import ONLY_IF_SET, Record
from semsearch.results.location import Position
from semsearch.results.origin import (
    Mode as Mode,  # where a user looks for it
    Origin,
)

if TYPE_CHECKING:
    from semsearch.results.explanation import Explanation


@dataclass(frozen=True, slots=True)
class DuplicatePassage(Record):
    """The source of a passage that says the same as a hit's passage."""

    index: str | None = field(default=None, kw_only=True, metadata=ONLY_IF_SET)  # these as in a hit
    path: str
    root: str
    document: str
    title: str
    format: str = field(default="", kw_only=True)
    line: int  # of the passage
    page: int | None
    place: str | None = field(default=None, kw_only=True)
    headings: tuple[str, ...]  # outermost first
    passage_id: int

    @property
    def position(self) -> Position:
        """Line, page and place of the passage."""
        return Position(self.line, self.page, self.place)


class HitExplainer(Protocol):
    """The protocol of whatever found a hit and can explain its score."""

    def explain_hit(self, hit: Hit) -> Explanation:
        """Explain the score of a hit that this finder found."""


class FoundRecord(Record):
    """A record that remembers what found it, by a weak reference, so that it keeps no index open.

    A copy, a record that was pickled, or one that was made from a dict has no finder.
    """

    __slots__ = ("_finder",)
    _finder: Callable[[], HitExplainer | None]

    def found_by(self, finder: Callable[[], HitExplainer | None]) -> None:
        """Remember the finder of this record, given by a weak reference."""
        object.__setattr__(self, "_finder", finder)


@dataclass(frozen=True, slots=True)
class Hit(FoundRecord):
    """A passage that answers a query, with its sentence that answers best."""

    rank: int  # from 1
    score: float  # of the mode that was asked for; comparable within one answer
    dense: float | None  # mean cosine of passage, best sentence and topics, -1 to 1; None: nothing known, or not asked
    lexical: float | None  # bm25, larger is better; None: no word in common, or not asked
    relevance: float | None = field(default=None, kw_only=True)  # how likely it answers, 0 to 1; None: cannot be told
    index: str | None = field(default=None, kw_only=True, metadata=ONLY_IF_SET)  # its name, where several were asked
    path: str  # as one would open it from here; the id, for a text that a program added
    root: str  # the root it was found under; "" for a text that a program added
    document: str  # the path below the root, or the id
    title: str  # of the document
    format: str = field(default="", kw_only=True)  # of the document: markdown, pdf, ...
    line: int  # of the sentence, the first line is 1; of the text that was taken out, where the file has no lines
    page: int | None  # of the sentence, where the format has pages
    place: str | None = field(default=None, kw_only=True)  # of the sentence, in the document's own terms: "slide 3"
    headings: tuple[str, ...]  # outermost first
    sentence: str  # the one that answers best
    passage: str  # all of its text
    start: int  # of the sentence in the file's text, in characters
    end: int  # one past its last character
    passage_id: int  # never given to another passage of the index
    sentence_id: int  # likewise
    metadata: Mapping[str, Any] = field(
        default_factory=dict
    )  # of the document: its front matter and the like; and of the record
    before: tuple[str, ...] = ()  # sentences of the document just before and after, as many as asked for
    after: tuple[str, ...] = ()  # likewise
    duplicates: tuple[DuplicatePassage, ...] = ()  # passages that say the same and were left out for it, best first
    stale: bool = field(default=False, kw_only=True, compare=False)  # its file has changed or gone since it was indexed
    origin: Origin | None = field(default=None, repr=False, compare=False)  # None: of `similar`, or made by hand

    @property
    def position(self) -> Position:
        """Where the sentence begins, for `semsearch.results.location.location`."""
        return Position(self.line, self.page, self.place)

    def explain(self) -> Explanation:
        """Explain the hit's score: by the words in common, and by the meaning of each word.

        Asks the index that found the hit. Raises UsageError if that index has changed since, or is not in use any more;
        and for a hit that no query found, or that is a copy: `index.explain(query, hit)` explains those.
        """
        if self.origin is None:
            raise UsageError(
                f"this hit in {self.path} does not know which query it answers: it was made by hand, or found by "
                "similar; use index.explain(query, hit)"
            )
        finder = self._finder() if hasattr(self, "_finder") else None
        if finder is None:
            raise UsageError(
                f"this hit in {self.path} does not know its index: it is a copy, or the index is not in use any more; "
                "use index.explain(query, hit)"
            )
        return finder.explain_hit(self)

    def to_dict(self, *, origin: bool = False) -> dict[str, Any]:
        """Convert to a plain dict, as for JSON. `origin` is needed only to ask for an explanation later."""
        found = Record.to_dict(self)
        if not origin:
            del found["origin"]
        return found

    def _repr_html_(self) -> str:
        from semsearch.results.notebook import html_of_hit  # start-up time: only notebooks ask

        return html_of_hit(self)
