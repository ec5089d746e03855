"""Hits to a context for a language model: what answers, in numbered blocks, and a list of what the numbers stand for.

The best passages come first. Those that follow each other in a section become one block, without a sentence twice. One
that leans on what stands before it gets up to three sentences of that (semsearch.text.dependent_sentences), and one
that ends by announcing a list gets the passage after it, where there is room. All that is printed counts towards the
limit, sources included, in words as semsearch.text.length counts them, so that it holds for text that has no spaces
too. Pure.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import chain

from semsearch.results.context import Citation, Context
from semsearch.results.hits import Hit
from semsearch.storage.catalogue import PassageRow
from semsearch.text.dependent_sentences import announces, goes_back
from semsearch.text.headings import heading_text
from semsearch.text.length import count_words, cut_to

LEAST_WORDS = 3  # a number, a word, and a sign that there are more
_BEFORE = 3  # sentences that are taken from the passage before, at most
_MISFITS = 3  # passages that do not fit until no more are tried: far down the list the short ones are scraps
_LEAST_CUT = 5  # words of a sentence that are worth the words of their source


@dataclass(frozen=True, slots=True)
class Block:
    """Consecutive sentences of one section: those with ids from `first` to below `end`, all in these passages."""

    hit: Hit  # the best one in it
    passages: tuple[PassageRow, ...]  # consecutive
    first: int
    end: int
    most: int | None = None  # words, where not even one sentence is to be shown whole

    @property
    def text(self) -> str:
        parts: list[str] = []
        for passage in self.passages:
            numbers = self._numbers(passage)
            if numbers:
                parts.append(passage.text[passage.sentences[numbers[0], 0] : passage.sentences[numbers[-1], 1]])
        text = "\n\n".join(parts)
        return text if self.most is None else f"{cut_to(text, self.most)} …"

    @property
    def lines(self) -> tuple[int, int]:
        """The first and the last one."""
        lines: list[int] = []
        for passage in self.passages:
            for number in self._numbers(passage):
                line = int(passage.sentences[number, 4])
                lines += [line, line + (passage.sentence(number).count("\n") if self.most is None else 0)]
        return min(lines), max(lines)

    def _numbers(self, passage: PassageRow) -> range:
        """Which of a passage's sentences belong to it."""
        first, count = passage.first_sentence, len(passage.sentences)
        return range(max(self.first - first, 0), min(self.end - first, count))

    def joins(self, other: Block) -> bool:
        """Whether the two overlap, or one goes on with the other, in the same section."""
        return (
            _same_section(self.passages[0], other.passages[0]) and self.first <= other.end and other.first <= self.end
        )

    def joined(self, other: Block) -> Block:
        """Both as one."""
        passages = {passage.id: passage for passage in (*self.passages, *other.passages)}
        rising = tuple(passages[id_] for id_ in sorted(passages))
        return Block(self.hit, rising, min(self.first, other.first), max(self.end, other.end))


def assemble(hits: Iterable[Hit], passages: Mapping[int, PassageRow], *, max_words: int) -> Context:
    """The hits' passages, as many as fit, the best first. `passages` has theirs and those around them, by id.

    Of a passage that does not fit, the sentences around its best one are taken, if at least half of them do. If not, it
    is left out, and others soon after it may come in; but of the very first one there is always a part, be it the
    beginning of its best sentence. Where there is not even room for its source, that is only among the citations.
    `max_words` is at least `LEAST_WORDS`.
    """

    def fits(blocks: Sequence[Block]) -> bool:
        return count_words(_render(blocks)) <= max_words

    blocks: list[Block] = []
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


def _beginning(own: Block, max_words: int) -> Context:
    """A context of the best sentence alone, cut to the room there is, with its source if that leaves some."""
    sentence = list(_windows(own))[-1]
    render = _render if _most(sentence, _render, max_words) >= _LEAST_CUT else _render_bare
    cut = [replace(sentence, most=_most(sentence, render, max_words))]
    return _context(cut, render(cut))


def _most(sentence: Block, render: Callable[[Sequence[Block]], str], max_words: int) -> int:
    """How many of its words can be shown."""
    return bisect_right(
        range(1, max_words + 1), max_words, key=lambda n: count_words(render([replace(sentence, most=n)]))
    )


def _context(blocks: Sequence[Block], text: str) -> Context:
    citations: list[Citation] = []
    for number, block in enumerate(blocks, start=1):
        hit, (line, last) = block.hit, block.lines
        page = block.passages[0].page
        citations.append(Citation(number, hit.path, line, last, page, hit.headings, hit.title, block.text))
    return Context(text, count_words(text), tuple(citations))


def _render(blocks: Sequence[Block]) -> str:
    """The blocks, and their sources."""
    if not blocks:
        return ""
    sources = "\n".join(f"- [{number}] {_source(block)}" for number, block in enumerate(blocks, start=1))
    return f"{_render_blocks(blocks)}\n\nSources:\n\n{sources}"


def _render_blocks(blocks: Sequence[Block]) -> str:
    parts: list[str] = []
    for number, block in enumerate(blocks, start=1):
        trail = " > ".join(heading_text(block.hit.title, block.hit.headings).split("\n"))
        parts.append(f"[{number}] {trail}".rstrip() + f"\n\n{block.text}")
    return "\n\n".join(parts)


def _render_bare(blocks: Sequence[Block]) -> str:
    return "\n\n".join(f"[{number}] {block.text}" for number, block in enumerate(blocks, start=1))


def _source(block: Block) -> str:
    """`guide.md:10-14 (page 2), Ships`."""
    first, last = block.lines
    page = block.passages[0].page
    place = f"{block.hit.path}:{first}" + (f"-{last}" if last > first else "")
    heading = block.hit.headings[-1] if block.hit.headings else block.hit.title
    return place + (f" (page {page})" if page is not None else "") + (f", {heading}" if heading else "")


def _added(blocks: Sequence[Block], new: Block) -> list[Block]:
    """The blocks with another one: at the end, or joined with those that it touches, in the place of the best."""
    touched = [block for block in blocks if block.joins(new)]
    if not touched:
        return [*blocks, new]
    for block in touched:
        new = block.joined(new) if block.hit.rank <= new.hit.rank else new.joined(block)
    return [new if block is touched[0] else block for block in blocks if block is touched[0] or block not in touched]


def _block(hit: Hit, passages: Mapping[int, PassageRow]) -> Block:
    """A hit's passage, whole."""
    passage = passages[hit.passage_id]
    return Block(hit, (passage,), passage.first_sentence, passage.first_sentence + len(passage.sentences))


def _with_neighbours(block: Block, passages: Mapping[int, PassageRow]) -> Block:
    """The block of one passage with what it leans on."""
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
    """How many sentences from the end of what stands before a sentence belong to it."""
    count = 0
    while count < min(_BEFORE, len(before)):
        earlier = before[-1 - count]
        if not announces(earlier) and not goes_back(sentence):
            break
        sentence, count = earlier, count + 1
    return count


def _windows(block: Block) -> Iterator[Block]:
    """Ever fewer of a block's sentences, down to the best one; what follows it goes before what comes before."""
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
