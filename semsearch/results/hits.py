"""What an index answers: hits, and reports on its own state and work. Plain frozen data."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass, field
from typing import TYPE_CHECKING, Any, Literal

from semsearch.errors import UsageError

if TYPE_CHECKING:
    from semsearch.results.explanation import Explanation


Mode = Literal["hybrid", "dense", "lexical"]


@dataclass(frozen=True, slots=True)
class Place:
    """Where a passage stands that says the same as another one."""

    path: str  # these as in a hit
    root: str
    document: str
    title: str
    line: int  # of the passage
    page: int | None
    headings: tuple[str, ...]  # outermost first
    passage_id: int


class Bound:
    """What a hit knows of the answer that it is from. No field of it: not compared, shown, copied or written."""

    __slots__ = ("_explain",)
    _explain: Callable[[Hit], Explanation]

    def bind(self, explain: Callable[[Hit], Explanation]) -> None:
        """Remember how it is explained."""
        object.__setattr__(self, "_explain", explain)


@dataclass(frozen=True, slots=True)
class Hit(Bound):
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

    def explain(self) -> Explanation:
        """Why it has its score: by the words in common, and by the meaning of each word. Asks the index that found it.

        Raises UsageError where that index has changed since, and for a hit that no question found: one of `similar`,
        or a copy.
        """
        explain: Callable[[Hit], Explanation] | None = getattr(self, "_explain", None)
        if explain is None:
            raise UsageError(
                f"this hit in {self.path} does not know which question it answers: it is a copy, or was found by "
                "similar; use index.explain(query, hit)"
            )
        return explain(self)

    def to_dict(self) -> dict[str, Any]:
        """For JSON."""
        return asdict(self)
