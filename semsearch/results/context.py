"""Passages for a language model's prompt, with numbered citations. Plain frozen data."""

from __future__ import annotations

from dataclasses import dataclass, field

from semsearch.results.codec import ONLY_IF_SET, Record


@dataclass(frozen=True, slots=True)
class Citation(Record):
    """The source of one numbered piece of a context."""

    number: int  # from 1
    index: str | None = field(default=None, kw_only=True, metadata=ONLY_IF_SET)  # as in a hit
    path: str  # likewise
    line: int  # the first one
    last_line: int
    page: int | None  # of the first sentence
    last_page: int | None = field(default=None, kw_only=True)  # of the last one
    place: str | None = field(default=None, kw_only=True)  # of the first sentence, in the document's own terms
    last_place: str | None = field(default=None, kw_only=True)  # of the last one
    headings: tuple[str, ...]  # outermost first
    title: str  # of the document
    format: str = field(default="", kw_only=True)  # of the document
    text: str  # what is quoted
    stale: bool = field(default=False, kw_only=True)  # the file has changed or gone since it was indexed


@dataclass(frozen=True, slots=True)
class Context(Record):
    """Numbered passages for a language model's prompt, followed by a list of their sources.

    The text is empty, and there are no citations, if nothing was found, or nothing that is likely to answer.
    """

    text: str
    words: int  # of all of the text, as semsearch.text.length counts them
    citations: tuple[Citation, ...]
    weak: int | None = field(default=None, metadata=ONLY_IF_SET)  # passages, where all found are unlikely to answer

    def _repr_html_(self) -> str:
        from semsearch.results.notebook import html_of_context  # start-up time: only notebooks ask

        return html_of_context(self)
