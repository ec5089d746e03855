"""The write path: from changed files to a new generation. A file is imported when something of it is first used."""

from __future__ import annotations

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
