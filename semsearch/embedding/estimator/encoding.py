"""Vectors asked for as the sentence-transformers package is asked: `encode`, for one text or many."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from semsearch.embedding.estimator.texts import BATCH, listed
from semsearch.errors import UsageError

if TYPE_CHECKING:
    from semsearch.embedding.components import CommonComponents
    from semsearch.text.ragged import Ragged

Float32 = npt.NDArray[np.float32]


class Encoding:
    """The methods by which programs made for sentence-transformers ask for vectors. Another class makes them."""

    if TYPE_CHECKING:
        common_: CommonComponents

        @property
        def dimension(self) -> int: ...
        def transform(self, texts: Iterable[str]) -> Float32: ...
        def tokenize(self, texts: Sequence[str]) -> Ragged: ...
        def raw(self, texts: Ragged) -> Float32: ...
        def expect_texts(self, count: int) -> None: ...
        def _check_fitted(self) -> None: ...

    def encode(
        self,
        inputs: str | Iterable[str],
        *,
        batch_size: int = BATCH,
        show_progress_bar: bool = False,
        normalize_embeddings: bool = True,
    ) -> Float32:
        """Embed one text, (d,), or several, (n, d), as float32. Needs a fit, as `transform` does.

        Rows have length one; without `normalize_embeddings` they keep the length that they have when the common
        components are removed. `batch_size` texts are embedded at a time; vectors differ by it in the last digits only.
        Raises FitError before `fit`, UsageError for what is no text.
        """
        from semsearch.system.progress_bar import progress_bar  # start-up time: no query is asked so

        if not isinstance(batch_size, int) or batch_size < 1:
            raise UsageError(f"batch_size must be a number of texts from 1 up, not {batch_size!r}")
        self._check_fitted()
        texts = [inputs] if isinstance(inputs, str) else listed(inputs)
        self.expect_texts(len(texts))
        rows = np.empty((len(texts), self.dimension), dtype=np.float32)
        with progress_bar(show_progress_bar) as show:
            for first in range(0, len(texts), batch_size):
                batch = texts[first : first + batch_size]
                rows[first : first + batch_size] = self.transform(batch) if normalize_embeddings else self._rest(batch)
                show("embedding", min(first + batch_size, len(texts)), len(texts))
        return rows[0] if isinstance(inputs, str) else rows

    def encode_query(self, inputs: str | Iterable[str], *, normalize_embeddings: bool = True) -> Float32:
        """Embed questions: as `encode` does, for questions and documents are embedded alike here."""
        return self.encode(inputs, normalize_embeddings=normalize_embeddings)

    def encode_document(
        self,
        inputs: str | Iterable[str],
        *,
        batch_size: int = BATCH,
        show_progress_bar: bool = False,
        normalize_embeddings: bool = True,
    ) -> Float32:
        """Embed documents: as `encode` does, for questions and documents are embedded alike here."""
        return self.encode(
            inputs,
            batch_size=batch_size,
            show_progress_bar=show_progress_bar,
            normalize_embeddings=normalize_embeddings,
        )

    def _rest(self, texts: Sequence[str]) -> Float32:
        """What is left of raw vectors without the common components. n texts -> (n, d)"""
        return self.common_.remove(self.raw(self.tokenize(texts)))
