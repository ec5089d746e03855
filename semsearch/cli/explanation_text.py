"""Format an explanation as text: the points of each part of the score, and a table of the word pairs that matter most.

    lexical 0.600 + dense 0.173 = 0.773
    lexical 0.6×13.79/13.79: borrow 4.55 + checker 6.41 + references 2.82; absent: complain, moved
    dense   0.4×0.433: topics 0.491×0.4 + passage 0.256×0.3 + sentence 0.535×0.3

The JSON of an explanation has all words and pairs.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from rich.cells import cell_len

from semsearch.cli.printing import aligned

if TYPE_CHECKING:
    from semsearch.results.explanation import Explanation, Lexical, Pairs, Quoted

WIDTH = 76  # columns of a table: eighty less the indent
_ROWS = 6  # words of a query that have a row
_LEAST = 0.005  # less would be shown as 0.00
_LEAST_SIMILAR = 0.1  # words that are less similar have nothing in common
_NARROWEST = 6  # columns of a number with the space before it


def lines(explanation: Explanation, *, width: int = WIDTH) -> Iterator[str]:
    """The lines on the score as a sum, on its parts and on words without a vector, and the table of pairs."""
    lexical, dense, near, rerank = explanation.lexical, explanation.dense, explanation.near, explanation.rerank
    boosts, is_hybrid = explanation.boosts or (), explanation.mode == "hybrid"
    parts = {"lexical": lexical, "dense": dense, "near": near, "document": explanation.support}
    points = [f"{name} {part.points:.3f}" for name, part in parts.items() if part]
    points += [f"boost {boost.points:.3f}" for boost in boosts]
    points += [f"{name} {part.points:.3f}" for name, part in (("rerank", rerank), ("exact", explanation.exact)) if part]
    if len(points) != 1:
        yield f"{' + '.join(points) or 'nothing'} = {explanation.score:.3f}"
    if lexical:
        share = f"{lexical.weight:.2g}×{lexical.bm25:.2f}/{lexical.best:.2f}" if is_hybrid else f"{lexical.bm25:.3f}"
        yield f"lexical {share}: {_terms(lexical)}"
    if dense:
        cosines = " + ".join(f"{cosine.of} {cosine.cosine:.3f}×{cosine.weight:.2g}" for cosine in dense.cosines)
        yield f"dense   {f'{dense.weight:.2g}×' if is_hybrid else ''}{dense.cosine:.3f}: {cosines}"
    if near:
        yield f"near    {near.weight:.2g}×{near.cosine:.3f}: feedback from the best passages"
    if explanation.support:
        yield f"document {explanation.support.points:.3f}: its other good passages, less for its length"
    for boost in boosts:
        yield f"boost   {boost.weight:.3g}×{boost.share:.3f}: {boost.boost}"
    if rerank:
        by = f" by {rerank.model}" if rerank.model else ""
        by += "" if rerank.alone is None else f": cosine {rerank.alone:.3f}, and passages like it"
        unread = ", not reranked in time: set to the lowest" if rerank.unread else ""
        yield f"rerank  {rerank.weight:.2g}×({rerank.said:.3g} - {rerank.mean:.3g})/{rerank.deviation:.3g}{by}{unread}"
    if explanation.exact:
        literal = (
            f"{part.text}{'' if part.as_typed else ' in other case'}, in {part.passages:,} "
            f"passage{'s' if part.passages > 1 else ''}"
            for part in explanation.exact.parts
        )
        yield f"exact   {', '.join(literal)}: before all other passages"
    if explanation.fused:
        yield f"alone   {explanation.fused.alone:.3f} in its own index, before it was compared with the others"
    if likely := explanation.relevance:
        yield f"answers {likely.probability:.0%} likely: {likely.share:.0%} of the best score"
    if explanation.quote:
        yield f"quote   {explanation.quote.score:.3f}: {_aligned(explanation.quote)}"
    if explanation.unknown:
        yield f"unknown {', '.join(explanation.unknown)}"
    if explanation.pairs is not None:
        yield from table(explanation.pairs, width=width)


def _terms(part: Lexical) -> str:
    """The terms with their scores; "(beside)" where a word occurs in the adjacent passages only."""
    there = " + ".join(
        f"{term.word if term.count else f'{term.word} (beside)'} {term.score:.2f}" for term in part.terms if term.score
    )
    absent = ", ".join(term.word for term in part.terms if not term.score)
    return f"{there}; absent: {absent}" if absent else there


def _aligned(quote: Quoted) -> str:
    """What the quoted sentence has of the query's words; "<" for each sentence before it in which a word stands."""
    there = [
        f"{word.word if word.match == word.word else f'{word.word}→{word.match}'}{'<' * word.before} "
        f"{word.weight:.2f}×{word.similarity:.2g}"
        for word in quote.words
        if word.similarity >= _LEAST_SIMILAR
    ]
    absent = ", ".join(word.word for word in quote.words if word.similarity < _LEAST_SIMILAR)
    return (" + ".join(there) or "nothing") + (f"; absent: {absent}" if absent else "")


def table(pairs: Pairs, *, width: int = WIDTH) -> list[str]:
    """What pairs of words add to the cosine, as lines: the query's words down, the sentence's across, in their order.

    Only the words that add most are shown, as many as fit. A dot is less than 0.005. Empty if query or sentence has no
    known word.
    """
    if not pairs.question or not pairs.sentence:
        return []
    rows = sorted(_largest(pairs.shares)[:_ROWS])
    columns = _largest([*zip(*pairs.shares, strict=True)])[: width // _NARROWEST]
    while True:
        shown = sorted(columns)
        cells = [[pairs.question[row], *(_number(pairs.shares[row][column]) for column in shown)] for row in rows]
        lines = aligned([["", *(pairs.sentence[column] for column in shown)], *cells], left=(0,))
        if len(columns) == 1 or max(map(cell_len, lines)) <= width:
            return lines
        columns.pop()


def _largest(shares: Sequence[Sequence[float]]) -> list[int]:
    """The numbers of the rows that are not negligible, the largest first; of one if all are."""
    sizes = [max(map(abs, row)) for row in shares]
    order = sorted(range(len(sizes)), key=lambda row: -sizes[row])
    return [row for row in order if sizes[row] >= _LEAST] or order[:1]


def _number(share: float) -> str:
    return "·" if abs(share) < _LEAST else f"{share:.2f}"
