"""The versions of all that a result depends on, which must be the same on every machine that works on it."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from functools import lru_cache
from importlib.metadata import PackageNotFoundError, entry_points, version

import semsearch

_PACKAGES = (
    "numpy", "scipy",  # what sums
    "sentencex", "PyStemmer", "stopwordsiso", "chardet",  # what divides and decodes text
    "pyromark", "docutils", "lxml", "PyYAML", "pygments", "pypdfium2",  # what reads files
    "distributed", "cloudpickle",  # what carries it
)  # fmt: skip
_PLUGINS = "semsearch.readers"  # packages that announce readers of their own by this entry point
_NONE = "none"


@lru_cache(maxsize=1)
def versions_here() -> dict[str, str]:
    """The version of each package in this process, "none" for one that is not installed."""
    python = f"{sys.version_info.major}.{sys.version_info.minor}"
    plugins = {point.dist.name for point in entry_points(group=_PLUGINS) if point.dist is not None}
    names = [*_PACKAGES, *sorted(plugins)]
    return {"semsearch": semsearch.__version__, "Python": python, **{name: _version(name) for name in names}}


def differences(expected: Mapping[str, str], found: Mapping[str, str]) -> str:
    """How the versions found differ from those expected, for people; empty if they do not."""
    names = [*expected, *(name for name in found if name not in expected)]
    return ", ".join(
        f"{name} {found.get(name, _NONE)} where {expected.get(name, _NONE)} is expected"
        for name in names
        if found.get(name, _NONE) != expected.get(name, _NONE)
    )


def _version(name: str) -> str:
    try:
        return version(name)
    except PackageNotFoundError:
        return _NONE
