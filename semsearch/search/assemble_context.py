"""Assemble a context for a language model from hits: passages in numbered blocks, and a list of their sources.

The best passages come first. Passages that follow each other in a section become one block, without a sentence twice. A
passage that depends on the sentences before it gets up to three of them, and one that ends by announcing a list gets
the passage after it, where there is room. All that is printed counts towards the limit, sources included, in words as
semsearch.text.passages counts them, so that the limit also holds for text without spaces. Pure.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import chain

from semsearch.results.hits import Citation, Context, Hit, Hits, Position, above_threshold, source_line
from semsearch.results.options import SearchOptions
from semsearch.storage.passage_rows import PassageRow
from semsearch.text.text_lengths import count_words, cut_to, heading_text

CONTEXT_HITS = 50  # candidates for the passages of a context; more for a long one, by their usual length
_CONTEXT_SHARE, _MOST_CONTEXT_HITS = 50, 1000
_BEFORE = 3  # sentences that are taken from the passage before, at most
_MISFITS = 3  # stop after so many passages that do not fit: far down the list the short ones are scraps


@dataclass(frozen=True, slots=True)
class ContextBlock:
    """Consecutive sentences of one section: those with ids from `first` to below `end`, all in these passages."""

    hit: Hit  # the best one in it
    passages: tuple[PassageRow, ...]  # consecutive
    first: int
    end: int

    @property
    def parts(self) -> list[tuple[PassageRow, int, int]]:
        """The passages that have sentences in the block, with the numbers of the first and the last of these."""
        numbers = (
            (passage, self.first - passage.first_sentence, self.end - passage.first_sentence - 1)
            for passage in self.passages
        )
        inside = ((passage, max(first, 0), min(last, len(passage.sentences) - 1)) for passage, first, last in numbers)
        return [(passage, first, last) for passage, first, last in inside if first <= last]

    @property
    def text(self) -> str:
        """The sentences as they stand in the passages."""
        return "\n\n".join(
            row.text[row.sentences[first, 0] : row.sentences[last, 1]] for row, first, last in self.parts
        )

    @property
    def positions(self) -> tuple[Position, Position]:
        """Where it begins, and its last line with the page and the place of its last sentence."""
        lines: list[int] = []
        for passage, first, last in self.parts:
            for number in range(first, last + 1):
                line = int(passage.sentences[number, 4])
                lines += [line, line + passage.sentence(number).count("\n")]
        (begin, number, _), (end, _, last) = self.parts[0], self.parts[-1]
        return (
            Position(min(lines), begin.page, begin.place(number)),
            Position(max(lines), end.page, end.place(last)),
        )

    def joins(self, other: ContextBlock) -> bool:
        """Return whether two blocks overlap or adjoin, in the same section."""
        touches = self.first <= other.end and other.first <= self.end
        return touches and _same_section(self.passages[0], other.passages[0])

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
    the beginning of its best sentence, whose source only the citation names then. `max_words` is at least
    semsearch.searchable.LEAST_WORDS. Hits at the end whose relevance is below the floor are left out.
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
    blocks: list[ContextBlock] = []
    misfits = 0
    for hit in hits:
        passage = passages[hit.passage_id]
        whole = ContextBlock(hit, (passage,), passage.first_sentence, passage.first_sentence + len(passage.sentences))
        least = (len(passage.sentences) + 1) // 2 if blocks else 1
        parts = (part for part in _windows(whole) if part.end - part.first >= least)
        tried = (_added(blocks, choice) for choice in chain((_with_neighbours(whole, passages), whole), parts))
        fitting = next((trial for trial in tried if count_words(_render(trial)) <= max_words), None)
        if fitting is None and not blocks:
            return _beginning(whole, max_words)
        blocks, misfits = fitting or blocks, misfits + (fitting is None)
        if misfits == _MISFITS:
            break
    return _context(blocks, _render(blocks))


def _beginning(block: ContextBlock, max_words: int) -> Context:
    """A context of the best sentence alone, shortened to the room there is; only the citation names its source."""
    *_, sentence = _windows(block)
    most = bisect_right(
        range(1, max_words + 1), max_words, key=lambda n: count_words(f"[1] {cut_to(sentence.text, n)} …")
    )
    shortened = f"{cut_to(sentence.text, most)} …"
    context = _context([sentence], f"[1] {shortened}")
    return replace(context, citations=tuple(replace(citation, text=shortened) for citation in context.citations))


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
    for block in touched:
        new = block.joined(new) if block.hit.rank <= new.hit.rank else new.joined(block)
    return [new if block is touched[0] else block for block in blocks if block is touched[0] or block not in touched]


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
    for earlier in reversed(before[-_BEFORE:]):
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


# -- Dependent sentences -----------------------------------------------------------------------------------------------
#
# A passage that begins with "It" or "However" has lost what it speaks of; a list has lost its point without the line
# that ends in a colon. A sentence that refers back is known by its first words, in English.

_BACK = r"""[\s"'“‘(\[*_>-]*(?:
    it|its|it['’]s|he|his|she|her|they|their|them|they['’](?:re|ve)
    |this|that|that['’]s|these|those|such|both|neither|either|the\ (?:former|latter|same|other|others|above)|here|there
    |however|but|and|or|nor|so|yet|also|too|then|thus|hence|therefore|consequently|accordingly|instead|otherwise
    |moreover|furthermore|additionally|besides|likewise|similarly|conversely|nevertheless|nonetheless|still|rather
    |meanwhile|afterwards?|finally|indeed|in\ (?:addition|contrast|particular|other\ words|fact|turn|short|that\ case)
    |in\ (?:this|these|those|such|both)|on\ the\ (?:other\ hand|contrary)|as\ a\ (?:result|consequence)|as\ such
    |for\ (?:example|instance|this|that|these|those)|because\ of\ (?:this|that|these)|after\ (?:this|that)
    |at\ (?:this|that)|with\ (?:this|that|these|those)|to\ do\ (?:so|this|that)|if\ (?:so|not|this|that)
    |once\ (?:this|that)|secondly|thirdly|another|even\ so|unlike\ (?:this|that)
    )(?![\w'’-])"""  # compiled for the first context, which takes 2 ms


def goes_back(sentence: str) -> bool:
    """Return whether a sentence begins with a word that refers to what was said before."""
    return re.match(_BACK, sentence, re.IGNORECASE | re.VERBOSE) is not None


def announces(sentence: str) -> bool:
    """Return whether a sentence ends with a colon, that is, announces the next one."""
    return sentence.rstrip().rstrip("*_\"'”’").endswith((":", "："))
