"""Assemble a context for a language model from hits: passages in numbered blocks, and a list of their sources.

The best passages come first, whole. Those that follow each other in a section become one block. A list gets the passage
before it, which announces it by a colon, and a passage that announces a list gets that, where there is room. All that
is printed counts towards the limit, sources included, in words as semsearch.text.passages counts them, so that the
limit also holds for text without spaces. Pure.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import NamedTuple

from semsearch.results.hits import Citation, Context, Hit, Hits, Position, above_threshold, best_of, source_line
from semsearch.results.options import SearchOptions
from semsearch.storage.passage_rows import PassageRow
from semsearch.text.text_lengths import count_words, cut_to, heading_text

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
