"""An explanation as text: what the score is made of, and a small table of word pairs that fits the screen.

    lexical 0.600 + dense 0.173 = 0.773
    lexical 0.6×13.79/13.79: borrow 4.55 + checker 6.41 + references 2.82; not there: complain, moved
    dense   0.4×0.433: topics 0.491×0.4 + passage 0.256×0.3 + sentence 0.535×0.3

Written so short that the last line fits a terminal.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from unicodedata import combining, east_asian_width

from semsearch.results.explanation import Dense, Explanation, Lexical, Pairs, TermScore

WIDTH = 76  # columns of a table: eighty less the indent
_ROWS = 6  # words of a question that have a row
_LONGEST = 14  # columns of a word
_LEAST = 0.005  # what would be shown as 0.00
_NUMBER = 5  # columns of a number: -0.12
_REST, _SUM = "…", "Σ"


@dataclass(frozen=True, slots=True)
class Cell:
    """Some columns of a line. `share`: what a pair adds, the largest of the table being 1 or -1; None for others."""

    text: str
    share: float | None = None


def lines(explanation: Explanation) -> Iterator[str]:
    """All of it, for a pipe."""
    yield from summary(explanation)
    if explanation.pairs is not None:
        yield from ("".join(cell.text for cell in line).rstrip() for line in table(explanation.pairs))


def summary(explanation: Explanation) -> Iterator[str]:
    """The score as a sum, what each part is made of, and the words of the question that have no vector."""
    lexical, dense, near = explanation.lexical, explanation.dense, explanation.near
    if explanation.mode == "hybrid":
        parts = [f"lexical {lexical.points:.3f}"] if lexical else []
        parts += [f"dense {dense.points:.3f}"] if dense else []
        parts += [f"near {near.points:.3f}"] if near else []
        yield f"{' + '.join(parts) or 'nothing'} = {explanation.score:.3f}"
    if lexical:
        share = f"{lexical.weight:.2g}×{lexical.bm25:.2f}/{lexical.best:.2f}"
        yield f"lexical {share if explanation.mode == 'hybrid' else f'{lexical.bm25:.3f}'}: {_terms(lexical)}"
    if dense:
        share = f"{dense.weight:.2g}×" if explanation.mode == "hybrid" else ""
        yield f"dense   {share}{dense.cosine:.3f}: {_cosines(dense)}"
    if near:
        yield f"near    {near.weight:.2g}×{near.cosine:.3f}: the passages that answer best"
    if explanation.unknown:
        yield f"unknown {', '.join(explanation.unknown)}"


def _terms(part: Lexical) -> str:
    there = " + ".join(f"{_named(term)} {term.score:.2f}" for term in part.terms if term.score)
    absent = ", ".join(term.word for term in part.terms if not term.score)
    return f"{there}; not there: {absent}" if absent else there


def _named(term: TermScore) -> str:
    """A word, and that only the passages beside have it where that is so."""
    return term.word if term.count else f"{term.word} (beside)"


def _cosines(part: Dense) -> str:
    return " + ".join(f"{cosine.of} {cosine.cosine:.3f}×{cosine.weight:.2g}" for cosine in part.cosines)


def table(pairs: Pairs, *, width: int = WIDTH) -> list[list[Cell]]:
    """The question's words down, the sentence's across, and what each pair adds to their cosine; a list of lines.

    Words stand in order. Those that say least are left out: the row and the column "…" have their sums, so that row and
    column "Σ" have the sums of all, and the last cell is the cosine. A dot is less than 0.005. Empty where one of the
    two has no known word.
    """
    if not pairs.question or not pairs.sentence:
        return []
    words, matrix = [_cut(word) for word in pairs.sentence], [list(row) for row in pairs.shares]
    rows = sorted(_telling(matrix)[:_ROWS])
    names = [_cut(pairs.question[place]) for place in rows]
    label = max(map(_columns, [*names, _REST]))
    columns = _that_fit(matrix, [_width(word) for word in words], width - label)
    matrix = _gathered(matrix, rows)
    matrix = _transposed(_gathered(_transposed(matrix), columns))
    names += [_REST] * (len(matrix) - len(names))
    heads = [words[place] for place in columns]
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
    """The most telling columns for which there is room beside that of sums, and that of what is left out, if any is."""
    order = _telling(_transposed(matrix))
    room -= _width(_SUM)
    if sum(widths) > room or len(order) < len(widths):
        room -= _width(_REST)
    chosen: list[int] = []
    for place in order:
        room -= widths[place]
        if room < 0:
            break
        chosen.append(place)
    return sorted(chosen)


def _telling(matrix: list[list[float]]) -> list[int]:
    """The places of the rows that say something, the most telling first; of one where none does."""
    sizes = [sum(map(abs, row)) for row in matrix]
    order = sorted(range(len(sizes)), key=lambda place: -sizes[place])
    return [place for place in order if max(map(abs, matrix[place])) >= _LEAST] or order[:1]


def _gathered(matrix: list[list[float]], rows: Sequence[int]) -> list[list[float]]:
    """The chosen rows, and the sum of the others as one more, where there are any."""
    others = [row for place, row in enumerate(matrix) if place not in set(rows)]
    return [matrix[place] for place in rows] + ([[sum(column) for column in _transposed(others)]] if others else [])


def _transposed(matrix: list[list[float]]) -> list[list[float]]:
    return [list(column) for column in zip(*matrix, strict=True)]


def _number(share: float) -> str:
    return "·" if abs(share) < _LEAST else f"{share:.2f}"


def _width(word: str) -> int:
    """Columns for a word with numbers below it, and a space before."""
    return max(_columns(word), _NUMBER) + 1


def _right(text: str, width: int, share: float | None = None) -> Cell:
    return Cell(" " * (width - _columns(text)) + text, share)


def _padded(text: str, width: int) -> str:
    return text + " " * (width - _columns(text))


def _cut(word: str) -> str:
    """A word in at most so many columns."""
    if _columns(word) <= _LONGEST:
        return word
    while _columns(word) >= _LONGEST:
        word = word[:-1]
    return word + _REST


def _columns(text: str) -> int:
    """How many columns a terminal takes for it."""
    return sum(0 if combining(char) else 2 if east_asian_width(char) in "WF" else 1 for char in text)
