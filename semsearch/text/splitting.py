"""Which way of splitting text into passages and sentences an index has: raised when their boundaries change.

It stands apart from what splits, since a sync that finds nothing to do need not import that.
"""

from __future__ import annotations

SPLITTER_VERSION = "1"
