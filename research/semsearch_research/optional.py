"""Packages that are imported where they are used, since each takes seconds: scikit-learn, and gensim, an extra."""

from __future__ import annotations

from typing import Any

from semsearch_research.evaluate.inputs import import_extra


def import_scikit_learn(module: str) -> Any:
    """Import a module of scikit-learn. Raises MissingExtra."""
    return import_extra(module, package="scikit-learn")


def import_gensim(module: str) -> Any:
    """Import a module of gensim. Raises MissingExtra, which names the extra to install."""
    return import_extra(module, package="gensim", extra="papers")
