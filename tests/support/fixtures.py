"""Fixtures that several test files share."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from itertools import count
from pathlib import Path

import pytest
import small
from hypothesis import HealthCheck, settings
from processes.crashing import FEW_STEPS, Deaths

from semsearch.mapping import arrange_passages
from semsearch.readers import read, registry
from semsearch.word_vectors.table import VectorTable

settings.register_profile("all", deadline=None, suppress_health_check=[HealthCheck.too_slow])  # for any machine
settings.register_profile("few", settings.get_profile("all"), max_examples=15)
settings.load_profile("all" if os.environ.get("SEMSEARCH_TESTS") == "all" else "few")

_numbers = count()


@pytest.fixture(scope="session")
def small_vectors(tmp_path_factory: pytest.TempPathFactory) -> VectorTable:
    """The made-up word vectors of the small world, for tests that only read them."""
    return small.small_vectors(tmp_path_factory.mktemp("vectors"))


@pytest.fixture(scope="session")
def deaths() -> Iterator[Deaths]:
    """Writes that die at the point that a test names, in processes with what they need already loaded."""
    made = Deaths()
    yield made
    made.close()


@contextmanager
def reading_here() -> Iterator[None]:
    """Files are read in this process, whatever their format: what is replaced or traced in it is so for them too."""

    with pytest.MonkeyPatch.context() as patched:
        patched.setattr("semsearch.readers.read._read_isolated", read._read_here)
        yield


@pytest.fixture(autouse=True)
def _no_recognition(monkeypatch: pytest.MonkeyPatch) -> None:
    """Text is recognized in pictures only where a test asks for it, whatever is installed."""
    monkeypatch.setitem(registry.installed, "rapidocr", False)


@pytest.fixture
def read_here() -> Iterator[None]:
    """Files are read in this process."""
    with reading_here():
        yield


@pytest.fixture
def maps_in_few_steps(monkeypatch: pytest.MonkeyPatch) -> None:
    """A map of few passages needs few steps, where its places do not matter."""
    monkeypatch.setattr(arrange_passages, "GATHERING", FEW_STEPS)
    monkeypatch.setattr(arrange_passages, "SETTLING", FEW_STEPS)


@pytest.fixture(scope="session")
def _users(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """Folders of users that are not there until something is written, one for each test without a folder of its own."""
    folder = tmp_path_factory.mktemp("users")
    return (folder / str(number) for number in count())


@pytest.fixture(scope="session", autouse=True)
def _configs(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Iterator[Path]]:
    """Folders of settings, one for each test; the first is that of what several tests share, such as an index.

    What indexes are trusted is known in all of them (semsearch.trust), in a run with tests of both distributions too:
    this fixture is then made twice.
    """
    folder = tmp_path_factory.getbasetemp() / "configs"
    shared = folder / "shared" / "semsearch" / "trusted"
    shared.mkdir(parents=True, exist_ok=True)

    def made() -> Iterator[Path]:
        for number in _numbers:
            own = folder / str(number) / "semsearch"
            own.mkdir(parents=True)
            (own / "trusted").symlink_to(shared)
            yield own.parent

    with pytest.MonkeyPatch.context() as patch:
        for name in ("XDG_CONFIG_HOME", "LOCALAPPDATA"):
            patch.setenv(name, str(folder / "shared"))
        yield made()


@pytest.fixture(autouse=True)
def _user_folders(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch, _configs: Iterator[Path]) -> None:
    """Each test has a cache, indexes and a configuration of its own, and none of whoever runs it.

    They lie in its `tmp_path`, where it has one: to make and delete one for each test takes longer than most tests do.
    """
    own = request.getfixturevalue("tmp_path" if "tmp_path" in request.fixturenames else "_users")
    folder = own if isinstance(own, Path) else next(own)
    for name in ("XDG_CACHE_HOME", "WIN_PD_OVERRIDE_LOCAL_APPDATA", "LOCALAPPDATA"):
        monkeypatch.setenv(name, str(folder / "user-cache"))
    monkeypatch.setenv("SEMSEARCH_HOME", str(folder / "user-data"))
    monkeypatch.setenv("XDG_CONFIG_HOME", str(next(_configs)))
