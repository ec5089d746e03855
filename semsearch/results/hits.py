"""Hits: passages that answer a query. Plain frozen data."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Protocol

from semsearch.errors import UsageError
from semsearch.results.codec import Record
from semsearch.results.origin import Mode as Mode  # where a user looks for it
from semsearch.results.origin import Origin

if TYPE_CHECKING:
    from semsearch.results.explanation import Explanation


@dataclass(frozen=True, slots=True)
class Place(Record):
    """Where a passage stands that says the same as another one."""

    path: str  # these as in a hit
    root: str
    document: str
    title: str
    line: int  # of the passage
    page: int | None
    headings: tuple[str, ...]  # outermost first
    passage_id: int


class Explaining(Protocol):
    """Whatever found a hit and can say why it has its score."""

    def explain_hit(self, hit: Hit) -> Explanation: ...


class Found(Record):
    """A record that remembers, beside its fields, what found it; weakly, so that it keeps no index open.

    A copy, one that was pickled, or one that was made of a dict has been found by nothing.
    """

    __slots__ = ("_finder",)
    _finder: Callable[[], Explaining | None]

    def found_by(self, finder: Callable[[], Explaining | None]) -> None:
        """Remember it, by a weak reference to it."""
        object.__setattr__(self, "_finder", finder)


@dataclass(frozen=True, slots=True)
class Hit(Found):
    """A passage that answers, with the sentence in it that answers best."""

    rank: int  # from 1
    score: float  # of the mode that was asked for; comparable within one answer
    dense: float | None  # mean cosine of passage, best sentence and topics, -1 to 1; None: nothing known, or not asked
    lexical: float | None  # bm25, larger is better; None: no word in common, or not asked
    path: str  # as one would open it from here; the id, for a text that a program added
    root: str  # the root it was found under; "" for a text that a program added
    document: str  # the path below the root, or the id
    title: str  # of the document
    line: int  # of the sentence, the first line is 1
    page: int | None  # where the format has pages
    headings: tuple[str, ...]  # outermost first
    sentence: str  # the one that answers best
    passage: str  # all of its text
    start: int  # of the sentence in the file's text, in characters
    end: int  # one past its last character
    passage_id: int  # never given to another passage of the index
    sentence_id: int  # likewise
    metadata: Mapping[str, Any] = field(default_factory=dict)  # of the document: its front matter and the like
    before: tuple[str, ...] = ()  # sentences of the document just before and after, as many as asked for
    after: tuple[str, ...] = ()  # likewise
    duplicates: tuple[Place, ...] = ()  # passages that say the same and were left out for it, best first
    origin: Origin | None = field(default=None, repr=False, compare=False)  # None: of `similar`, or made by hand

    def explain(self) -> Explanation:
        """Why it has its score: by the words in common, and by the meaning of each word. Asks the index that found it.

        Raises UsageError where that index has changed since, or is not in use any more, and for a hit that no question
        found, or that is a copy: `index.explain(query, hit)` explains those.
        """
        if self.origin is None:
            raise UsageError(
                f"this hit in {self.path} does not know which question it answers: it was made by hand, or found by "
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
        """For JSON; with its `origin` only if that is asked for, as by one who will ask for an explanation later."""
        found = Record.to_dict(self)
        if not origin:
            del found["origin"]
        return found
