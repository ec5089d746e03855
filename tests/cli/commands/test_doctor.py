"""`semsearch doctor` says what works, and what does not with its remedy."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import pytest
from console import semsearch


@pytest.fixture(autouse=True)
def own_folders(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("SEMSEARCH_HOME", "XDG_CONFIG_HOME", "XDG_CACHE_HOME"):
        monkeypatch.setenv(name, str(tmp_path / name))


def test_a_whole_installation_is_well() -> None:
    found = semsearch("doctor")
    assert (found.status, found.err) == (0, "")
    lines = {line[9:22].strip(): line for line in found.lines}
    assert list(lines) == ["semsearch", "packages", "word vectors", "search", "folders"]
    assert all(line.startswith("ok ") for line in found.lines)
    assert "english (120,000 words" in lines["word vectors"]
    assert "found 'Dough rises" in lines["search"]


def test_a_package_that_cannot_be_loaded_is_a_problem(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "pypdfium2", None)
    found = semsearch("doctor")
    assert found.status == 1
    told = next(line for line in found.lines if line.startswith("PROBLEM  packages"))
    assert "pypdfium2" in told
    assert told.endswith("install semsearch again in a new environment")
    assert found.lines[-1].startswith("ok       folders")  # all the rest is examined all the same


@pytest.mark.skipif(os.name == "nt" or not hasattr(os, "getuid") or os.getuid() == 0, reason="root may write anywhere")
def test_a_folder_that_cannot_be_written_to_is_a_problem(tmp_path: Path) -> None:
    tmp_path.chmod(0o555)
    try:
        found = semsearch("doctor")
    finally:
        tmp_path.chmod(0o755)
    assert (found.status, "cannot be written to" in found.out) == (1, True)
