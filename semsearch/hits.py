"""What an index answers: hits, and reports on its own state and work. Plain frozen data."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, Protocol

from semsearch.errors import UsageError

if TYPE_CHECKING:
    from semsearch.explanation import Explanation
    from semsearch.scanning import Scan

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
    headings: tuple[str, ...]
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
    title: str
    line: int  # of the sentence, the first line is 1
    page: int | None
    headings: tuple[str, ...]
    sentence: str
    passage: str
    start: int  # of the sentence in the file's text, in characters
    end: int
    passage_id: int
    sentence_id: int
    metadata: Mapping[str, Any] = field(default_factory=dict)
    before: tuple[str, ...] = ()  # sentences of the document just before and after, as many as asked for
    after: tuple[str, ...] = ()
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


@dataclass(frozen=True, slots=True)
class Citation:
    """The source of one numbered piece of a context."""

    number: int  # from 1
    path: str  # as in a hit
    line: int  # the first one
    last_line: int
    page: int | None
    headings: tuple[str, ...]
    title: str
    text: str  # what is quoted


@dataclass(frozen=True, slots=True)
class Context:
    """Passages for a language model's prompt under numbers, then a list of what the numbers stand for.

    Empty, without citations, where nothing was found.
    """

    text: str
    words: int  # of all of the text, as semsearch.size counts them
    citations: tuple[Citation, ...]

    def to_dict(self) -> dict[str, Any]:
        """For JSON."""
        return asdict(self)


class Searchable(Protocol):
    """Whatever can be asked: an index here, one elsewhere, several as one."""

    def search(
        self,
        query: str,
        k: int = 10,
        *,
        mode: Mode = "hybrid",
        min_score: float | None = None,
        filters: Sequence[str] = (),
        context: int = 0,
        duplicates: bool = False,
    ) -> list[Hit]: ...

    def search_many(
        self,
        queries: Sequence[str],
        k: int = 10,
        *,
        mode: Mode = "hybrid",
        min_score: float | None = None,
        filters: Sequence[str] = (),
        context: int = 0,
        duplicates: bool = False,
    ) -> list[list[Hit]]: ...

    def similar(
        self,
        like: Hit | str | Path,
        line: int | None = None,
        k: int = 10,
        *,
        mode: Mode = "hybrid",
        min_score: float | None = None,
        filters: Sequence[str] = (),
        context: int = 0,
        duplicates: bool = False,
    ) -> list[Hit]: ...

    def context(
        self, query: str, *, max_words: int = 800, mode: Mode = "hybrid", filters: Sequence[str] = ()
    ) -> Context: ...


@dataclass(frozen=True, slots=True)
class Text:
    """A document that is in no file. `metadata` and a non-empty `title` override what the text says of itself."""

    id: str
    text: str
    title: str = ""
    metadata: Mapping[str, Any] = field(default_factory=dict)
    format: str = "text"


@dataclass(frozen=True, slots=True)
class SkippedFile:
    """A file or folder that could not be read, and why."""

    path: str
    reason: str


@dataclass(frozen=True, slots=True)
class Progress:
    """How far a write has come."""

    phase: Literal["looking", "reading", "embedding", "writing"]
    files: int = 0  # done
    total_files: int = 0
    sentences: int = 0  # done in this phase
    total_sentences: int = 0  # known from the embedding on
    path: str = ""


@dataclass(frozen=True, slots=True)
class SyncReport:
    """What a write did."""

    added: int = 0
    changed: int = 0
    moved: int = 0
    removed: int = 0
    unchanged: int = 0
    skipped: tuple[SkippedFile, ...] = ()
    warnings: tuple[str, ...] = ()
    passages: int = 0  # written
    sentences: int = 0
    seconds: float = 0.0
    refitted: bool = False

    def to_dict(self) -> dict[str, Any]:
        """For JSON."""
        return asdict(self)


@dataclass(frozen=True, slots=True)
class Adapted:
    """What an index has learned from its text about its words."""

    topics: int  # dimensions that vectors of passages have for them
    terms: int
    passages: int  # that they were learned from


@dataclass(frozen=True, slots=True)
class Status:
    """What an index is, now."""

    path: str
    created: str
    generation: int
    roots: tuple[str, ...]
    documents: int
    passages: int
    sentences: int
    words: int
    vectors: int  # in segments, those of removed documents included
    removed: int  # of these
    segments: int
    size_bytes: int
    dimension: int
    method: str
    a: float | None
    components: int
    frequencies: str
    adapted: Adapted | None  # None: not wanted, or too few passages
    vectors_name: str
    vectors_digest: str
    drift: float | None  # degrees; None while there is nothing fitted
    stale: int | None  # files that a sync would look at; None: not asked for
    scans: tuple[Scan, ...] = ()  # segments of passages of which not all are compared as they are, and what that finds
    target_recall: float | None = None  # that new segments of many passages get; None where the index shall be exact

    def to_dict(self) -> dict[str, Any]:
        """For JSON."""
        return asdict(self)
