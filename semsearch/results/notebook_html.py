"""HTML for notebooks: what results show themselves with, escaped, and in the notebook's own colours, light or dark."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from html import escape

_MARK = "background: rgba(255, 200, 0, .35); color: inherit; padding: 0 .1em"
FAINT = "opacity: .7; font-size: 90%"
_LEFT = "text-align: left; vertical-align: top"


def block(*parts: str) -> str:
    """Parts of HTML as what a result shows."""
    return f'<div class="semsearch" style="color: inherit">{"".join(parts)}</div>'


def table(rows: Iterable[tuple[str, ...]]) -> str:
    """Rows of a name and its values."""
    lines = (
        f'<tr><th style="{_LEFT}">{escape(name)}</th>'
        + "".join(f'<td style="{_LEFT}">{escape(value)}</td>' for value in values)
        + "</tr>"
        for name, *values in rows
    )
    return f"<table>{''.join(lines)}</table>"


def marked(passage: str, sentence: str) -> str:
    """A passage with its sentence marked; the sentence alone where the passage has it in other words."""
    before, middle, after = passage.partition(sentence)
    if not middle or not sentence:
        return f'<mark style="{_MARK}">{escape(sentence)}</mark>'
    return f'{escape(before)}<mark style="{_MARK}">{escape(sentence)}</mark>{escape(after)}'


def heat_map(shares: Sequence[Sequence[float]], left: Sequence[str], above: Sequence[str]) -> str:
    """Shares of pairs of words, in colours: the words of the question at the left, those of the sentence above."""
    most = max((abs(share) for row in shares for share in row), default=0.0) or 1.0
    head = "".join(f'<th style="{_LEFT}">{escape(word)}</th>' for word in above)
    rows = [
        f'<tr><th style="{_LEFT}">{escape(word)}</th>{"".join(_warm(share, most) for share in row)}</tr>'
        for word, row in zip(left, shares, strict=True)
    ]
    return f"<table><tr><th></th>{head}</tr>{''.join(rows)}</table>"


def _warm(share: float, most: float) -> str:
    colour = "255, 160, 0" if share >= 0 else "60, 130, 255"
    return f'<td style="background: rgba({colour}, {0.6 * abs(share) / most:.2f})">{share:.2f}</td>'
