"""Packages that are imported where they are used, since each takes seconds: scikit-learn, and gensim, an extra."""

from __future__ import annotations

from typing import Any

from semsearch.evaluate.inputs import import_extra


def import_scikit_learn(module: str) -> Any:
    """Import a module of scikit-learn. Raises MissingExtra."""
    return _imported(module, "scikit-learn")


def import_gensim(module: str) -> Any:
    """Import a module of gensim. Raises MissingExtra, which names the extra to install."""
    return _imported(module, "gensim")


def _imported(module: str, package: str) -> Any:
    return import_extra(module, package=package, extra="papers", distribution="semsearch-research")
