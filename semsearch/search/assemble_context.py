"""Assemble a context for a language model from hits: passages in numbered blocks, and a list of their sources.

The best passages come first. Passages that follow each other in a section become one block, without a sentence twice. A
passage that depends on the sentences before it gets up to three of them, and one that ends by announcing a list gets
the passage after it, where there is room. All that is printed counts towards the limit, sources included, in words as
semsearch.text.passages counts them, so that the limit also holds for text without spaces. Pure.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import chain

from semsearch.results.hits import Citation, Context, Hit, Hits, Position, above_threshold, source_line
from semsearch.results.options import SearchOptions
from semsearch.storage.catalogue import PassageRow
from semsearch.text.text_lengths import announces, count_words, cut_to, goes_back, heading_text

CONTEXT_HITS = 50  # candidates for the passages of a context; more for a long one, by their usual length
_CONTEXT_SHARE, _MOST_CONTEXT_HITS = 50, 1000
_BEFORE = 3  # sentences that are taken from the passage before, at most
_MISFITS = 3  # stop after so many passages that do not fit: far down the list the short ones are scraps
_LEAST_CUT = 5  # words of a sentence that are worth the words of their source


@dataclass(frozen=True, slots=True)
class ContextBlock:
    """Consecutive sentences of one section: those with ids from `first` to below `end`, all in these passages."""

    hit: Hit  # the best one in it
    passages: tuple[PassageRow, ...]  # consecutive
    first: int
    end: int
    most: int | None = None  # words, where not even one sentence is to be shown whole

    @property
    def text(self) -> str:
        """The sentences as they stand in the passages, or the first `most` words of them."""
        parts: list[str] = []
        for passage in self.passages:
            numbers = self._numbers(passage)
            if numbers:
                parts.append(passage.text[passage.sentences[numbers[0], 0] : passage.sentences[numbers[-1], 1]])
        text = "\n\n".join(parts)
        return text if self.most is None else f"{cut_to(text, self.most)} …"

    @property
    def lines(self) -> tuple[int, int]:
        """The first and the last line in the file."""
        lines: list[int] = []
        for passage in self.passages:
            for number in self._numbers(passage):
                line = int(passage.sentences[number, 4])
                lines += [line, line + (passage.sentence(number).count("\n") if self.most is None else 0)]
        return min(lines), max(lines)

    @property
    def positions(self) -> tuple[Position, Position]:
        """Where it begins, and its last line with the page and the place of its last sentence."""
        (line, last_line), shown = self.lines, [passage for passage in self.passages if self._numbers(passage)]
        first, last = shown[0], shown[-1]
        return (
            Position(line, first.page, first.place(self._numbers(first)[0])),
            Position(last_line, last.page, last.place(self._numbers(last)[-1])),
        )

    def _numbers(self, passage: PassageRow) -> range:
        """The numbers of a passage's sentences that are in the block."""
        first, count = passage.first_sentence, len(passage.sentences)
        return range(max(self.first - first, 0), min(self.end - first, count))

    def joins(self, other: ContextBlock) -> bool:
        """Return whether two blocks overlap or adjoin, in the same section."""
        return (
            _same_section(self.passages[0], other.passages[0]) and self.first <= other.end and other.first <= self.end
        )

    def joined(self, other: ContextBlock) -> ContextBlock:
        """Merge two blocks that overlap or adjoin; the result has the hit of this one."""
        passages = {passage.id: passage for passage in (*self.passages, *other.passages)}
        rising = tuple(passages[id_] for id_ in sorted(passages))
        return ContextBlock(self.hit, rising, min(self.first, other.first), max(self.end, other.end))


def candidates_for(options: SearchOptions, max_words: int) -> SearchOptions:
    """The options of the search for the candidates of a context: with as many hits as so many words may need."""
    return replace(options, k=min(max(CONTEXT_HITS, max_words // _CONTEXT_SHARE), _MOST_CONTEXT_HITS))


def assemble(hits: Hits, passages: Mapping[int, PassageRow], *, max_words: int, floor: float = 0.0) -> Context:
    """Assemble as many of the hits' passages as fit, best first. `passages` has these and their neighbours, by id.

    Of a passage that does not fit, the sentences around its best one are taken, if at least half of its sentences fit.
    If not, it is left out, and later ones may still fit; but the first passage is always there in part, if only with
    the beginning of its best sentence. Where there is no room for its source, only the citation names it. `max_words`
    is at least semsearch.searchable.LEAST_WORDS. Hits at the end whose relevance is below the floor are left out.
    """
    strong = above_threshold(hits, floor)
    context = _assembled(strong, passages, max_words)
    return replace(
        context,
        weak=len(hits) if hits and not strong else None,
        verdict=hits.verdict,
        missing=None if hits.verdict is None else hits.missing,
        warnings=hits.warnings or None,
    )


def _assembled(hits: Iterable[Hit], passages: Mapping[int, PassageRow], max_words: int) -> Context:
    def fits(blocks: Sequence[ContextBlock]) -> bool:
        return count_words(_render(blocks)) <= max_words

    blocks: list[ContextBlock] = []
    misfits = 0
    for hit in hits:
        own = _block(hit, passages)
        least = (own.end - own.first + 1) // 2 if blocks else 1
        parts = (part for part in _windows(own) if part.end - part.first >= least)
        choices = chain((_with_neighbours(own, passages), own), parts)
        tried = (_added(blocks, choice) for choice in choices)
        more = next((trial for trial in tried if fits(trial)), None)
        if more is None and not blocks:
            return _beginning(own, max_words)
        blocks, misfits = more or blocks, misfits + (more is None)
        if misfits == _MISFITS:
            break
    return _context(blocks, _render(blocks))


def _beginning(own: ContextBlock, max_words: int) -> Context:
    """A context of the best sentence alone, shortened to the room there is, with its source if that leaves some."""
    sentence = list(_windows(own))[-1]
    render = _render if _most(sentence, _render, max_words) >= _LEAST_CUT else _render_bare
    shortened = [replace(sentence, most=_most(sentence, render, max_words))]
    return _context(shortened, render(shortened))


def _most(sentence: ContextBlock, render: Callable[[Sequence[ContextBlock]], str], max_words: int) -> int:
    """The number of words of a sentence that fit."""
    return bisect_right(
        range(1, max_words + 1), max_words, key=lambda n: count_words(render([replace(sentence, most=n)]))
    )


def _context(blocks: Sequence[ContextBlock], text: str) -> Context:
    citations: list[Citation] = []
    for number, block in enumerate(blocks, start=1):
        hit, (first, last) = block.hit, block.positions
        citations.append(
            Citation(
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
                text=block.text,
                stale=hit.stale,
            )
        )
    return Context(text, count_words(text), tuple(citations))


def _render(blocks: Sequence[ContextBlock]) -> str:
    """The text of the blocks and the list of their sources."""
    if not blocks:
        return ""
    sources = "\n".join(
        f"- [{number}] {source_line(block.hit, *block.positions)}" for number, block in enumerate(blocks, start=1)
    )
    return f"{_render_blocks(blocks)}\n\nSources:\n\n{sources}"


def _render_blocks(blocks: Sequence[ContextBlock]) -> str:
    parts: list[str] = []
    for number, block in enumerate(blocks, start=1):
        trail = " > ".join(heading_text(block.hit.title, block.hit.headings).split("\n"))
        parts.append(f"[{number}] {trail}".rstrip() + f"\n\n{block.text}")
    return "\n\n".join(parts)


def _render_bare(blocks: Sequence[ContextBlock]) -> str:
    return "\n\n".join(f"[{number}] {block.text}" for number, block in enumerate(blocks, start=1))


def _added(blocks: Sequence[ContextBlock], new: ContextBlock) -> list[ContextBlock]:
    """The blocks with a new one: at the end, or merged with those that it touches, at the position of the best."""
    touched = [block for block in blocks if block.joins(new)]
    if not touched:
        return [*blocks, new]
    for block in touched:
        new = block.joined(new) if block.hit.rank <= new.hit.rank else new.joined(block)
    return [new if block is touched[0] else block for block in blocks if block is touched[0] or block not in touched]


def _block(hit: Hit, passages: Mapping[int, PassageRow]) -> ContextBlock:
    """The block of a hit's whole passage."""
    passage = passages[hit.passage_id]
    return ContextBlock(hit, (passage,), passage.first_sentence, passage.first_sentence + len(passage.sentences))


def _with_neighbours(block: ContextBlock, passages: Mapping[int, PassageRow]) -> ContextBlock:
    """The block of one passage with the neighbouring sentences that it depends on."""
    (passage,) = block.passages
    before, after = passages.get(passage.id - 1), passages.get(passage.id + 1)
    if before is not None and _same_section(before, passage):
        count = _lead_in(before.sentence_texts, passage.sentence(0))
        if count:
            block = replace(block, passages=(before, *block.passages), first=block.first - count)
    if after is not None and _same_section(passage, after) and announces(passage.sentence(len(passage.sentences) - 1)):
        block = replace(block, passages=(*block.passages, after), end=block.end + len(after.sentences))
    return block


def _lead_in(before: Sequence[str], sentence: str) -> int:
    """The number of sentences just before a sentence that are needed to understand it."""
    count = 0
    while count < min(_BEFORE, len(before)):
        earlier = before[-1 - count]
        if not announces(earlier) and not goes_back(sentence):
            break
        sentence, count = earlier, count + 1
    return count


def _windows(block: ContextBlock) -> Iterator[ContextBlock]:
    """Ever fewer of a block's sentences, down to the best one, which stays about in the middle."""
    first, end, best = block.first, block.end, block.hit.sentence_id
    while end - first > 1:
        if first < best and best - first >= end - 1 - best:
            first += 1
        else:
            end -= 1
        yield replace(block, first=first, end=end)
    yield replace(block, first=best, end=best + 1)


def _same_section(one: PassageRow, other: PassageRow) -> bool:
    return one.document_id == other.document_id and one.headings == other.headings
