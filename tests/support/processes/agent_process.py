"""What a process of a test needs to find."""

from __future__ import annotations

import os
import sys


def environment() -> dict[str, str]:
    """The environment of a process of a test: what the test has set, and where its packages are."""
    return {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
