"""Format an explanation as text: the parts of the score, and a small table of word pairs that fits the screen.

    lexical 0.600 + dense 0.173 = 0.773
    lexical 0.6×13.79/13.79: borrow 4.55 + checker 6.41 + references 2.82; absent: complain, moved
    dense   0.4×0.433: topics 0.491×0.4 + passage 0.256×0.3 + sentence 0.535×0.3

Written so short that the last line fits a terminal.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from unicodedata import combining, east_asian_width

from semsearch.results.explanation import Dense, Explanation, Lexical, Pairs, Quoted, TermScore
from semsearch.results.options import ExactPart, Fused

WIDTH = 76  # columns of a table: eighty less the indent
_ROWS = 6  # words of a query that have a row
_LONGEST = 14  # columns of a word
_LEAST = 0.005  # less would be shown as 0.00
_LEAST_SIMILAR = 0.1  # words that are less similar have nothing in common
_NUMBER = 5  # columns of a number: -0.12
_REST, _SUM = "…", "Σ"


@dataclass(frozen=True, slots=True)
class Cell:
    """A cell of a line. `share`: what a pair adds, from -1 to 1 in relation to the largest; None for other cells."""

    text: str
    share: float | None = None


def lines(explanation: Explanation) -> Iterator[str]:
    """All lines of an explanation, for a pipe: the summary and the table."""
    yield from summary(explanation)
    if explanation.pairs is not None:
        yield from ("".join(cell.text for cell in line).rstrip() for line in table(explanation.pairs))


def summary(explanation: Explanation) -> Iterator[str]:
    """The lines on the score as a sum, on its parts, and on words of the query that have no vector."""
    lexical, dense, near, rerank = explanation.lexical, explanation.dense, explanation.near, explanation.rerank
    boosts, exact, support = explanation.boosts or (), explanation.exact, explanation.support
    if explanation.mode == "hybrid" or rerank or boosts or exact:
        parts = [f"lexical {lexical.points:.3f}"] if lexical else []
        parts += [f"dense {dense.points:.3f}"] if dense else []
        parts += [f"near {near.points:.3f}"] if near else []
        parts += [f"document {support.points:.3f}"] if support else []
        parts += [f"boost {boost.points:.3f}" for boost in boosts]
        parts += [f"rerank {rerank.points:.3f}"] if rerank else []
        parts += [f"exact {exact.points:.3f}"] if exact else []
        yield f"{' + '.join(parts) or 'nothing'} = {explanation.score:.3f}"
    if lexical:
        share = f"{lexical.weight:.2g}×{lexical.bm25:.2f}/{lexical.best:.2f}"
        yield f"lexical {share if explanation.mode == 'hybrid' else f'{lexical.bm25:.3f}'}: {_terms(lexical)}"
    if dense:
        share = f"{dense.weight:.2g}×" if explanation.mode == "hybrid" else ""
        yield f"dense   {share}{dense.cosine:.3f}: {_cosines(dense)}"
    if near:
        yield f"near    {near.weight:.2g}×{near.cosine:.3f}: feedback from the best passages"
    if support:
        length = f" - {support.length:.3f} for lengths" if support.length else ""
        together = f" + {support.proximity:.3f} for words side by side" if support.proximity else ""
        yield f"document {support.weight:.2g}×{support.others:.3f}{length}: its other good passages{together}"
    for boost in boosts:
        yield f"boost   {boost.weight:.3g}×{boost.share:.3f}: {boost.boost}"
    if rerank:
        by = f" by {rerank.model}" if rerank.model else ""
        by += "" if rerank.alone is None else f": cosine {rerank.alone:.3f}, and passages like it"
        least = ", not reranked in time: set to the lowest" if rerank.unread else ""
        yield f"rerank  {rerank.weight:.2g}×({rerank.said:.3g} - {rerank.mean:.3g})/{rerank.deviation:.3g}{by}{least}"
    if exact:
        yield f"exact   {', '.join(map(_exact, exact.parts))}: before all other passages"
    if explanation.fused:
        yield f"alone   {_fused(explanation.fused, explanation)}"
    if likely := explanation.relevance:
        parts = [] if likely.cosine is None else [f"cosine {likely.cosine:.3f}×{likely.trust:.2f}"]
        parts += [] if likely.words is None else [f"words {likely.words:.2f}"]
        parts += [
            f"{likely.share:.0%} of the best score",
            *([f"{likely.unknown:.0%} unknown"] if likely.unknown else []),
        ]
        parts += ["all words"] if likely.whole else []
        yield f"answers {likely.probability:.0%} likely: {', '.join(parts)}"
    if explanation.quote:
        yield f"quote   {explanation.quote.score:.3f}: {_aligned(explanation.quote)}"
    if explanation.unknown:
        yield f"unknown {', '.join(explanation.unknown)}"


def _exact(part: ExactPart) -> str:
    case = "" if part.as_typed else " in other case"
    return f"{part.text}{case}, in {part.passages:,} passage{'s' if part.passages > 1 else ''}"


def _fused(fused: Fused, explanation: Explanation) -> str:
    """How the score follows from the one in the hit's own index."""
    lexical, near, changed = explanation.lexical, explanation.near, list[str]()
    if explanation.mode == "hybrid" and lexical and lexical.best != fused.best:
        changed.append(f"BM25 /{lexical.best:.2f} (the best of all indexes) instead of /{fused.best:.2f}")
    if near and fused.near < 1:
        changed.append(f"feedback ×{fused.near:.2f} (another index has a better passage)")
    if explanation.exact and explanation.score != fused.alone:
        changed.append("exact words before the passages of all")
    return f"{fused.alone:.3f} in its own index; with the others: {', '.join(changed) or 'unchanged'}"


def _terms(part: Lexical) -> str:
    there = " + ".join(f"{_named(term)} {term.score:.2f}" for term in part.terms if term.score)
    absent = ", ".join(term.word for term in part.terms if not term.score)
    return f"{there}; absent: {absent}" if absent else there


def _named(term: TermScore) -> str:
    """A word, marked if it occurs only in the adjacent passages."""
    return term.word if term.count else f"{term.word} (beside)"


def _aligned(quote: Quoted) -> str:
    """What the quoted sentence has of the query's words; "<" for each sentence before it in which a word stands."""
    similar = [word for word in quote.words if word.similarity >= _LEAST_SIMILAR]
    there = [
        f"{word.word if word.match == word.word else f'{word.word}→{word.match}'}{'<' * word.before} "
        f"{word.weight:.2f}×{word.similarity:.2g}"
        for word in similar
    ]
    rest = quote.score - sum(word.share for word in similar)
    there += [f"{_REST} {rest:.2f}"] if rest >= _LEAST else []
    absent = ", ".join(word.word for word in quote.words if word.similarity < _LEAST_SIMILAR)
    return (" + ".join(there) or "nothing") + (f"; absent: {absent}" if absent else "")


def _cosines(part: Dense) -> str:
    return " + ".join(f"{cosine.of} {cosine.cosine:.3f}×{cosine.weight:.2g}" for cosine in part.cosines)


def table(pairs: Pairs, *, width: int = WIDTH) -> list[list[Cell]]:
    """The table of what pairs of words add to the cosine, as lines: the query's words down, the sentence's across.

    Words are in their order. Those that add least are left out: the row and the column "…" have their sums, so that row
    and column "Σ" have the sums of all, and the last cell is the cosine. A dot is less than 0.005. Empty if query or
    sentence has no known word.
    """
    if not pairs.question or not pairs.sentence:
        return []
    words, matrix = [_cut(word) for word in pairs.sentence], [list(row) for row in pairs.shares]
    rows = sorted(_largest_rows(matrix)[:_ROWS])
    names = [_cut(pairs.question[index]) for index in rows]
    label = max(map(_columns, [*names, _REST]))
    columns = _that_fit(matrix, [_width(word) for word in words], width - label)
    matrix = _gathered(matrix, rows)
    matrix = _transposed(_gathered(_transposed(matrix), columns))
    names += [_REST] * (len(matrix) - len(names))
    heads = [words[index] for index in columns]
    heads += [_REST] * (len(matrix[0]) - len(heads))
    return _lines(names, heads, matrix, label)


def _lines(names: list[str], heads: list[str], matrix: list[list[float]], label: int) -> list[list[Cell]]:
    widths = [*map(_width, heads), _width(_SUM)]
    largest = max(abs(share) for row in matrix for share in row) or 1.0
    lines = [[Cell(" " * label), *(_right(head, width) for head, width in zip([*heads, _SUM], widths, strict=True))]]
    for name, row in zip(names, matrix, strict=True):
        cells = [_right(_number(share), width, share / largest) for share, width in zip(row, widths, strict=False)]
        lines.append([Cell(_padded(name, label)), *cells, _right(_number(sum(row)), widths[-1])])
    if len(matrix) > 1:
        sums = [*map(sum, _transposed(matrix)), sum(map(sum, matrix))]
        cells = [_right(_number(share), width) for share, width in zip(sums, widths, strict=True)]
        lines.append([Cell(_padded(_SUM, label)), *cells])
    return lines


def _that_fit(matrix: list[list[float]], widths: Sequence[int], room: int) -> list[int]:
    """The largest columns for which there is room next to the column of sums, and that of columns left out, if any."""
    order = _largest_rows(_transposed(matrix))
    room -= _width(_SUM)
    if sum(widths) > room or len(order) < len(widths):
        room -= _width(_REST)
    chosen: list[int] = []
    for index in order:
        room -= widths[index]
        if room < 0:
            break
        chosen.append(index)
    return sorted(chosen)


def _largest_rows(matrix: list[list[float]]) -> list[int]:
    """The indices of the rows that are not negligible, the largest first; of one row if all are."""
    sizes = [sum(map(abs, row)) for row in matrix]
    order = sorted(range(len(sizes)), key=lambda index: -sizes[index])
    return [index for index in order if max(map(abs, matrix[index])) >= _LEAST] or order[:1]


def _gathered(matrix: list[list[float]], rows: Sequence[int]) -> list[list[float]]:
    """The chosen rows, and one more with the sum of the others, if there are any."""
    others = [row for index, row in enumerate(matrix) if index not in set(rows)]
    return [matrix[index] for index in rows] + ([[sum(column) for column in _transposed(others)]] if others else [])


def _transposed(matrix: list[list[float]]) -> list[list[float]]:
    return [list(column) for column in zip(*matrix, strict=True)]


def _number(share: float) -> str:
    return "·" if abs(share) < _LEAST else f"{share:.2f}"


def _width(word: str) -> int:
    """The width of a column with a word above numbers, and a space before."""
    return max(_columns(word), _NUMBER) + 1


def _right(text: str, width: int, share: float | None = None) -> Cell:
    return Cell(" " * (width - _columns(text)) + text, share)


def _padded(text: str, width: int) -> str:
    return text + " " * (width - _columns(text))


def _cut(word: str) -> str:
    """A word, shortened to `_LONGEST` columns."""
    if _columns(word) <= _LONGEST:
        return word
    while _columns(word) >= _LONGEST:
        word = word[:-1]
    return word + _REST


def _columns(text: str) -> int:
    """The number of columns that a text takes on a terminal."""
    return sum(0 if combining(char) else 2 if east_asian_width(char) in "WF" else 1 for char in text)
