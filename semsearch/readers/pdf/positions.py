"""Where on its page a line stands, as one would say it: at the top, in the middle, at the bottom; left, right.

A side is told only of pages that are set in columns, where a good part of the lines begins beyond the middle.
"""

from __future__ import annotations

from collections import Counter

from semsearch.readers.pdf.lines import PageLine, Pages

_MIDDLE = 0.45  # of the width from either edge: what begins beyond is on the right, what ends before on the left
_COLUMNS = 0.25  # of a page's lines


class Positions:
    """Knows the pages of a file, so that it can tell of each line."""

    def __init__(self, pages: Pages) -> None:
        self._sizes = pages.sizes
        lines = Counter(line.page for line in pages.lines)
        right = Counter(line.page for line in pages.lines if self._is_right(line))
        self._with_columns = {page for page, count in lines.items() if right[page] >= _COLUMNS * count}

    def of(self, line: PageLine) -> str | None:
        """`top`, `middle left`, `bottom right`: by thirds of the page's height and halves of its width."""
        _, height = self._sizes.get(line.page, (0.0, 0.0))
        if not height:
            return None
        third = "top" if line.bottom > height * 2 / 3 else "middle" if line.bottom > height / 3 else "bottom"
        if line.page not in self._with_columns:
            return third
        return f"{third}{' right' if self._is_right(line) else ' left' if self._is_left(line) else ''}"

    def _is_right(self, line: PageLine) -> bool:
        width, _ = self._sizes.get(line.page, (0.0, 0.0))
        return line.left > _MIDDLE * width

    def _is_left(self, line: PageLine) -> bool:
        width, _ = self._sizes.get(line.page, (0.0, 0.0))
        return line.right < (1 - _MIDDLE) * width
