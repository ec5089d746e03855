"""The commands. A module is imported when its command is called, or when a help text lists all of them."""

from __future__ import annotations

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
