"""Every experiment takes a folder of data whole, and finds its own part of it."""

from __future__ import annotations

from pathlib import Path

import pytest
from collections_made import collection, pairs, sick, write_groups, write_pairs
from console import semsearch

from semsearch.word_vectors.table import VectorTable


@pytest.fixture
def data(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    for name in ("XDG_CACHE_HOME", "LOCALAPPDATA", "HOME"):
        monkeypatch.setenv(name, str(tmp_path / "cache"))
    for name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
        monkeypatch.setenv(name, "1")  # so that what a command sets is taken back
    folder = tmp_path / "data"
    for name in ("sts", "paraphrase", "frequencies", "retrieval"):
        (folder / name).mkdir(parents=True)
    write_pairs(folder / "sts" / "2012.MSRpar.test.tsv", pairs(1))
    sick(folder / "sts")
    write_groups(folder / "paraphrase" / "topics.tsv", [3, 4, 3, 5])
    (folder / "frequencies" / "counts.txt").write_text("the 900\na 700\nship 20\nbread 10\n", encoding="utf-8")
    collection(folder / "retrieval" / "one")
    return folder


COMMANDS = {
    "sweep": ["sweep", "DATA", "--a", "0.001", "--frequencies", "DATA"],
    "weights": ["weights", "--frequencies", "DATA"],
    "supervised": ["supervised", "DATA", "--method", "mean", "--width", "0", "--examples", "10", "--seeds", "1"],
    "classify": ["classify", "DATA", "--model", "mowe", "--C", "1"],
}


@pytest.mark.parametrize("name", list(COMMANDS))
def test_a_command_takes_the_folder(data: Path, small_vectors: VectorTable, name: str) -> None:
    if name == "classify":
        pytest.importorskip("sklearn")
    command = [data if word == "DATA" else word for word in COMMANDS[name]]
    result = semsearch("evaluate", *command, "--vectors", small_vectors.folder)
    assert (result.status, result.err) == (0, "")
