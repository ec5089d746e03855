"""The largest file that is read. A module of its own: every index names it, and few programs read files."""

from __future__ import annotations

MAX_BYTES = 100_000_000  # by default; a larger file is rarely prose
