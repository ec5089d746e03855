"""What several test files share."""

from __future__ import annotations

from pathlib import Path

import pytest
import small
from hypothesis import HealthCheck, settings

from semsearch.word_vectors.table import VectorTable

settings.register_profile("any machine", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("any machine")  # no test fails for being slow


@pytest.fixture(scope="session")
def small_vectors(tmp_path_factory: pytest.TempPathFactory) -> VectorTable:
    """The made-up word vectors of the small world, for tests that only read them."""
    return small.small_vectors(tmp_path_factory.mktemp("vectors"))


@pytest.fixture(autouse=True)
def _cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Nothing that a test computes goes to the user's cache, and nothing comes from there."""
    for name in ("XDG_CACHE_HOME", "WIN_PD_OVERRIDE_LOCAL_APPDATA"):
        monkeypatch.setenv(name, str(tmp_path / "user-cache"))
