"""Fixtures that several test files share."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
import small
from hypothesis import HealthCheck, settings

from semsearch.word_vectors.table import VectorTable

settings.register_profile("all", deadline=None, suppress_health_check=[HealthCheck.too_slow])  # for any machine
settings.register_profile("few", settings.get_profile("all"), max_examples=30)
settings.load_profile("all" if os.environ.get("SEMSEARCH_TESTS") == "all" else "few")


@pytest.fixture(scope="session")
def small_vectors(tmp_path_factory: pytest.TempPathFactory) -> VectorTable:
    """The made-up word vectors of the small world, for tests that only read them."""
    return small.small_vectors(tmp_path_factory.mktemp("vectors"))


@pytest.fixture(autouse=True)
def _cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Nothing that a test computes goes to the user's cache, and nothing comes from there."""
    for name in ("XDG_CACHE_HOME", "WIN_PD_OVERRIDE_LOCAL_APPDATA"):
        monkeypatch.setenv(name, str(tmp_path / "user-cache"))


@pytest.fixture(autouse=True)
def _no_indexes_of_the_user(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """No test finds the indexes of whoever runs it, or makes any there."""
    monkeypatch.setenv("SEMSEARCH_HOME", str(tmp_path / "user-data"))
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "user-config"))
