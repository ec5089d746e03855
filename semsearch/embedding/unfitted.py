"""The error of an embedder that is not fitted, for programs that use scikit-learn. Imported only where that is."""

from __future__ import annotations

from sklearn.exceptions import NotFittedError

from semsearch.errors import FitError


class Unfitted(FitError, NotFittedError):  # type: ignore[misc]  # scikit-learn has no types
    """Vectors were requested before `fit`: a FitError, and a NotFittedError as scikit-learn knows it."""
