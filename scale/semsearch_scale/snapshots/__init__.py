"""Published snapshots of an index: immutable, in a shared store, fetched and followed by any number of readers."""

from __future__ import annotations
