"""`semsearch vectors`: what Python can do, on one line."""

from __future__ import annotations

import json
from pathlib import Path

from small import small_vectors as made_vectors
from typer.testing import CliRunner, Result

from semsearch.cli.main import app
from semsearch.word_vectors.table import VectorTable


def run(*arguments: object) -> Result:
    return CliRunner().invoke(app, ["vectors", *map(str, arguments)])


def test_info_is_the_card_with_size_and_whether_it_is_whole(small_vectors: VectorTable) -> None:
    result = run("info", small_vectors.folder)
    assert result.exit_code == 0
    details = json.loads(result.stdout)
    assert {"name", "source", "licence", "dimension", "dtype", "bytes", "digest", "verified"} <= details.keys()
    assert details["words"] == len(small_vectors)
    assert (details["digest"], details["verified"]) == (small_vectors.digest, True)
    assert details["bytes"] == sum(path.stat().st_size for path in small_vectors.folder.iterdir())


def test_info_of_damaged_vectors_fails(tmp_path: Path) -> None:
    folder = made_vectors(tmp_path).folder
    (folder / "words.txt").write_text("the\ncat\ncow\n")
    result = run("info", folder)
    assert result.exit_code == 2
    assert json.loads(result.stdout)["verified"] is False
    assert result.stderr.startswith("semsearch: ")
    assert "damaged" in result.stderr
