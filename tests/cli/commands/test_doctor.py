"""`semsearch doctor` says what works, and what does not with its remedy."""

from __future__ import annotations

import os
import shutil
import sys
from pathlib import Path

import pytest
from console import semsearch

from semsearch.cli.commands import doctor_command
from semsearch.word_vectors.table import VectorTable, shipped


@pytest.fixture(autouse=True)
def own_folders(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("SEMSEARCH_HOME", "XDG_CONFIG_HOME", "XDG_CACHE_HOME"):
        monkeypatch.setenv(name, str(tmp_path / name))


def test_a_whole_installation_is_well() -> None:
    found = semsearch("doctor")
    assert (found.status, found.err) == (0, "")
    lines = {line[9:22].strip(): line for line in found.lines}
    assert list(lines) == [
        "semsearch", "packages", "word vectors", "search", "settings", "own indexes", "cache", "file names", "extras",
    ]  # fmt: skip
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
    assert found.lines[-1].startswith("ok       extras")  # all the rest is examined all the same


def test_a_missing_package_and_extra_are_named(monkeypatch: pytest.MonkeyPatch) -> None:
    missing = ("pathspec", "uvicorn")
    monkeypatch.setattr(doctor_command, "installed_version", lambda name: None if name in missing else "1")
    found = semsearch("doctor")
    assert "PROBLEM  packages      SemsearchError: pathspec not installed; run: pip install semsearch" in found.out
    assert "serve" in found.lines[-1].partition("not installed: ")[2].split(", ")


def test_damaged_word_vectors_are_a_problem(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    whole = shipped("english")
    assert whole is not None
    copy = shutil.copytree(whole.folder, tmp_path / "english")
    with (copy / "vectors.npy").open("r+b") as file:
        file.seek(-1, os.SEEK_END)
        last = file.read(1)[0]
        file.seek(-1, os.SEEK_END)
        file.write(bytes([last ^ 1]))
    monkeypatch.setattr(doctor_command, "load_vectors", lambda _: VectorTable(copy))
    found = semsearch("doctor")
    assert (found.status, "english is damaged; run: pip install --force-reinstall" in found.out) == (1, True)


@pytest.mark.skipif(os.name == "nt" or not hasattr(os, "getuid") or os.getuid() == 0, reason="root may write anywhere")
def test_a_folder_that_cannot_be_written_to_is_a_problem(tmp_path: Path) -> None:
    tmp_path.chmod(0o555)
    try:
        found = semsearch("doctor")
    finally:
        tmp_path.chmod(0o755)
    assert (found.status, "cannot be written to" in found.out) == (1, True)


def test_a_file_in_a_folders_place_is_a_problem(tmp_path: Path) -> None:
    (tmp_path / "XDG_CACHE_HOME").write_text("", encoding="utf-8")
    found = semsearch("doctor")
    assert found.status == 1
    assert "PROBLEM  cache" in found.out
