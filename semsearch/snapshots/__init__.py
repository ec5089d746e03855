"""Published snapshots of an index: immutable, in a shared snapshot store, fetched and followed by readers.

Published indexes: immutable snapshots in a shared place, which any number of readers fetch and follow.
"""

from __future__ import annotations
