"""Documents as a language model sees them: a context for a question, cited places, text without control characters.

Control characters, which steer terminals, and invisible characters that a model reads (Unicode's tags, which mirror
ASCII) or that reverse the order of a line are removed or replaced. All other text stays: instructions in it are for the
model to refuse, as the server's own instructions say.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, NamedTuple

from semsearch.errors import INVISIBLE
from semsearch.results.documents import DocumentPassages, PlacedPassage
from semsearch.results.hits import (
    Citation,
    Context,
    Hit,
    Hits,
    Position,
    above_threshold,
    best_of,
    location,
    source_line,
)
from semsearch.results.options import SearchOptions
from semsearch.storage.find_document import last_line_of
from semsearch.storage.passage_rows import PassageRow
from semsearch.text.text_lengths import count_words, cut_to, heading_text

if TYPE_CHECKING:
    from semsearch.index import Index

# -- Harmless text -----------------------------------------------------------------------------------------------------

_CONTROL = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f]")  # but not tab and line end
_HIDDEN = re.compile(f"[{INVISIBLE}\U000e0000-\U000e0fff]")
_LINE_ENDS = re.compile("\r\n?|[\x0b\x0c\x1c-\x1e\x85\u2028\u2029]")
_SHOWN_CONTROL = "\ufffd"


def harmless(text: str) -> str:
    """A text without control and invisible characters."""
    if text.isascii() and text.isprintable():
        return text
    return _CONTROL.sub(_SHOWN_CONTROL, _HIDDEN.sub("", _LINE_ENDS.sub("\n", text)))


def harmless_values(value: Any) -> Any:
    """A plain value with all its texts harmless."""
    if isinstance(value, str):
        return harmless(value)
    if isinstance(value, Mapping):
        return {key: harmless_values(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [harmless_values(item) for item in value]
    return value


# -- Parts of documents ------------------------------------------------------------------------------------------------

_AT_ONCE = 20


@dataclass(frozen=True, slots=True)
class DocumentPart:
    """Consecutive passages of a document, with its details."""

    of: DocumentPassages
    first: int  # number of the first passage, from 0
    passages: tuple[PlacedPassage, ...]
    next: int | None  # number of the passage to continue at; None: complete


def read_part(index: Index, citation: str, *, around: int, start: int | None, max_words: int) -> DocumentPart:
    """Read a cited place with `around` passages before and after it; without lines or place, the document.

    `start` is the passage where an earlier part ended. Passages are added while they fit. The cited one, of several the
    first, is always included, whole; without one the first passage is, cut if necessary. Raises SourceError for what is
    not in the index.
    """
    of = index.passages(citation, limit=1)
    cited, first, end = of.found, start or 0, of.count
    if cited is not None:
        last_line = last_line_of(citation)
        last = index.passages(of.path, line=last_line, limit=1).found if last_line else None
        end = min(max(last or 0, cited) + around + 1, of.count)
    if cited is not None and start is None:
        first = max(cited - around, 0)
        passages = index.passages(of.path, offset=first, limit=cited - first + 1).passages
        lengths = [count_words(passage.text) for passage in passages]
        while first < cited and sum(lengths[first - cited - 1 :]) > max_words:
            first += 1  # of those before the cited one, as many as leave room for it
    taken: list[PlacedPassage] = []
    room = max_words
    for number, passage in zip(range(first, end), _from(index, of.path, first), strict=False):
        words = count_words(passage.text)
        if words > room and taken:
            return DocumentPart(of, first, tuple(taken), number)
        is_whole = words <= room or number == cited
        taken.append(passage if is_whole else replace(passage, text=f"{cut_to(passage.text, room)} …"))
        room -= words
    return DocumentPart(of, first, tuple(taken), None)


def _from(index: Index, path: str, offset: int | None) -> Iterator[PlacedPassage]:
    while offset is not None:
        some = index.passages(path, offset=offset, limit=_AT_ONCE)
        yield from some.passages
        offset = some.next


def cited_passage(passage: PlacedPassage, path: str, format: str) -> str:
    """A passage as one cites it: `guide.md:10-14`, `report.pdf p. 3`."""
    first, last = passage.sentences[0], passage.sentences[-1]
    last_line = last.line + passage.text[last.start : last.end].count("\n")
    begin, end = Position(first.line, passage.page, first.place), Position(last_line, passage.page, last.place)
    return location(path, format, begin, end)


# -- A context for a question ------------------------------------------------------------------------------------------
#
# The best passages come first, whole, in numbered blocks, then a list of their sources. Passages that follow each other
# in a section become one block. A list gets the passage before it, which announces it by a colon, and a passage that
# announces a list gets that, where there is room. All that is printed counts towards the limit, sources included.

CONTEXT_HITS = 50  # candidates for the passages of a context; more for a long one, by their usual length
_CONTEXT_SHARE, _MOST_CONTEXT_HITS = 50, 1000
_MISFITS = 3  # stop after so many passages that do not fit: far down the list the short ones are scraps


class ContextBlock(NamedTuple):
    """Consecutive passages of one section, and the best hit among them."""

    hit: Hit
    passages: tuple[PassageRow, ...]

    @property
    def text(self) -> str:
        """The texts of the passages."""
        return "\n\n".join(passage.text for passage in self.passages)

    @property
    def positions(self) -> tuple[Position, Position]:
        """Where it begins, and its last line with the page and the place of its last sentence."""
        first, last = self.passages[0], self.passages[-1]
        number = len(last.sentences) - 1
        end = int(last.sentences[number, 4]) + last.sentence(number).count("\n")
        return Position(first.line, first.page, first.place(0)), Position(end, last.page, last.place(number))

    def joins(self, other: ContextBlock) -> bool:
        """Return whether two blocks overlap or adjoin, in the same section."""
        touches = self.passages[0].id <= other.passages[-1].id + 1 and other.passages[0].id <= self.passages[-1].id + 1
        return touches and _same_section(self.passages[0], other.passages[0])


def candidates_for(options: SearchOptions, max_words: int) -> SearchOptions:
    """The options of the search for the candidates of a context: with as many hits as so many words may need."""
    return replace(options, k=min(max(CONTEXT_HITS, max_words // _CONTEXT_SHARE), _MOST_CONTEXT_HITS))


def context_of(hits: Hits, passages: Mapping[int, PassageRow], candidates: SearchOptions, *, max_words: int) -> Context:
    """Assemble as many passages of the hits of `candidates_for` options as fit, best first. `passages` has these and
    their neighbours, by id.

    A passage that does not fit is left out, and later ones may still fit; but of the first there is always as much as
    fits, from its best sentence on, with its source if that leaves half of the room. `max_words` is at least
    semsearch.searchable.LEAST_WORDS. Hits at the end whose relevance is below the floor are left out.
    """
    hits = best_of(hits, replace(candidates, floor=0.0))
    strong = above_threshold(hits, candidates.floor)
    context = _assembled(strong, passages, max_words)
    return replace(
        context,
        weak=len(hits) if hits and not strong else None,
        verdict=hits.verdict,
        missing=None if hits.verdict is None else hits.missing,
        warnings=hits.warnings or None,
    )


def _assembled(hits: Iterable[Hit], passages: Mapping[int, PassageRow], max_words: int) -> Context:
    blocks, misfits = list[ContextBlock](), 0
    for hit in hits:
        passage = passages[hit.passage_id]
        trials = (_added(blocks, ContextBlock(hit, rows)) for rows in (_with_list(passage, passages), (passage,)))
        fitting = next((trial for trial in trials if count_words(_render(trial)) <= max_words), None)
        if fitting is None and not blocks:
            return _beginning(hit, passage, max_words)
        blocks, misfits = fitting or blocks, misfits + (fitting is None)
        if misfits == _MISFITS:
            break
    citations = (
        _citation(number, block.hit, block.text, *block.positions) for number, block in enumerate(blocks, start=1)
    )
    text = _render(blocks)
    return Context(text, count_words(text), tuple(citations))


def _beginning(hit: Hit, passage: PassageRow, max_words: int) -> Context:
    """A context of a passage from its best sentence on, cut to the room there is; its source, if that leaves half."""
    number = hit.sentence_id - passage.first_sentence
    text, place = passage.text[passage.sentences[number, 0] :], passage.place(number)
    line = int(passage.sentences[number, 4])
    position = Position(line, passage.page, place)
    for sources in (f"\n\nSources:\n\n- [1] {source_line(hit, position, position)}", ""):

        def size(n: int, sources: str = sources) -> int:
            return count_words(f"[1] {cut_to(text, n)} …{sources}")

        most = bisect_right(range(1, max_words + 1), max_words, key=size)
        if 2 * most >= max_words:
            break
    shortened = f"{cut_to(text, most)} …"
    shown, last = f"[1] {shortened}{sources}", Position(line + shortened.count("\n"), passage.page, place)
    return Context(shown, count_words(shown), (_citation(1, hit, shortened, position, last),))


def _citation(number: int, hit: Hit, text: str, first: Position, last: Position) -> Citation:
    return Citation(
        number=number,
        index=hit.index,
        path=hit.path,
        line=first.line,
        last_line=last.line,
        page=first.page,
        last_page=last.page,
        place=first.place,
        last_place=last.place,
        headings=hit.headings,
        title=hit.title,
        format=hit.format,
        text=text,
        stale=hit.stale,
    )


def _render(blocks: Sequence[ContextBlock]) -> str:
    """The text of the blocks, with the headings above, and the list of their sources."""
    if not blocks:
        return ""
    texts, sources = list[str](), list[str]()
    for number, block in enumerate(blocks, start=1):
        trail = " > ".join(heading_text(block.hit.title, block.hit.headings).split("\n"))
        texts.append(f"[{number}] {trail}".rstrip() + f"\n\n{block.text}")
        sources.append(f"- [{number}] {source_line(block.hit, *block.positions)}")
    return "\n\n".join([*texts, "Sources:", "\n".join(sources)])


def _added(blocks: Sequence[ContextBlock], new: ContextBlock) -> list[ContextBlock]:
    """The blocks with a new one: at the end, or merged with those that it touches, at the position of the best."""
    touched = [block for block in blocks if block.joins(new)]
    if not touched:
        return [*blocks, new]
    by_id = {passage.id: passage for block in (*touched, new) for passage in block.passages}
    best = min((block.hit for block in (*touched, new)), key=lambda hit: hit.rank)
    merged = ContextBlock(best, tuple(by_id[id_] for id_ in sorted(by_id)))
    return [merged if block is touched[0] else block for block in blocks if block is touched[0] or block not in touched]


def _with_list(passage: PassageRow, passages: Mapping[int, PassageRow]) -> tuple[PassageRow, ...]:
    """A passage with the one before, if that announces it, and the one after, if it announces that."""
    before, after = passages.get(passage.id - 1), passages.get(passage.id + 1)
    has_before = before is not None and _same_section(before, passage) and announces(before.text)
    has_after = after is not None and _same_section(passage, after) and announces(passage.text)
    rows = (before if has_before else None, passage, after if has_after else None)
    return tuple(row for row in rows if row is not None)


def _same_section(one: PassageRow, other: PassageRow) -> bool:
    return one.document_id == other.document_id and one.headings == other.headings


def announces(text: str) -> bool:
    """Return whether a text ends with a colon, that is, announces the next one."""
    return text.rstrip().rstrip("*_\"'”’").endswith((":", "："))
