"""What several test files share."""

from __future__ import annotations

import pytest
import small

from semsearch.vectors.table import VectorTable


@pytest.fixture(scope="session")
def small_vectors(tmp_path_factory: pytest.TempPathFactory) -> VectorTable:
    """The made-up word vectors of the small world, for tests that only read them."""
    return small.small_vectors(tmp_path_factory.mktemp("vectors"))
