"""`semsearch vectors`: what Python can do, on one line."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from typer.testing import CliRunner, Result

from semsearch.cli.main import app
from semsearch.word_vectors.loading import load_vectors
from semsearch.word_vectors.table import VectorTable


def run(*arguments: object) -> Result:
    return CliRunner().invoke(app, ["vectors", *map(str, arguments)])


@pytest.fixture
def glove(tmp_path: Path) -> Path:
    path = tmp_path / "glove.txt"
    path.write_text("the 1 0\ncat 0 1\ndog 0.1 0.9\n")
    return path


def test_info_is_the_card_with_size_and_whether_it_is_whole(small_vectors: VectorTable) -> None:
    result = run("info", small_vectors.folder)
    shown = dict(line.split(None, 1) for line in result.stdout.splitlines())
    assert result.exit_code == 0
    assert shown["words"] == str(len(small_vectors))
    assert {"name", "source", "licence", "dimension", "dtype", "bytes", "digest", "verified"} <= shown.keys()
    assert shown["verified"] == "True"
    details = json.loads(run("info", small_vectors.folder, "--json").stdout)
    assert (details["digest"], details["verified"]) == (small_vectors.digest, True)
    assert details["bytes"] == sum(path.stat().st_size for path in small_vectors.folder.iterdir())


def test_info_of_damaged_vectors_fails(glove: Path) -> None:
    folder = load_vectors(glove).folder
    (folder / "words.txt").write_text("the\ncat\ncow\n")
    result = run("info", folder)
    assert result.exit_code == 2
    assert "False" in result.stdout
    assert result.stderr.startswith("semsearch: ")
    assert "damaged" in result.stderr


def test_neighbours_are_listed_with_their_cosines(glove: Path) -> None:
    result = run("neighbours", "Cat", "--vectors", glove, "-k", 1)
    assert result.stdout == "0.994  dog\n"
    found = json.loads(run("neighbours", "cat", "--vectors", glove, "--json").stdout)
    assert [neighbour["word"] for neighbour in found["neighbours"]] == ["dog", "the"]
    assert run("neighbours", "cow", "--vectors", glove).exit_code == 2


def test_import_makes_a_folder_where_it_is_asked_to_or_beside_the_file(glove: Path, tmp_path: Path) -> None:
    (tmp_path / "counts.txt").write_text("the 9\ncat 1\n")
    result = run("import", glove, "--to", tmp_path / "mine", "--counts", tmp_path / "counts.txt", "--dtype", "int8")
    assert result.exit_code == 0
    assert result.stdout == f"{tmp_path / 'mine'}: 3 words, 2 dimensions, int8\n"
    assert load_vectors(tmp_path / "mine").frequencies == pytest.approx([0.9, 0.1, 0.1])
    assert run("import", glove).stdout == f"{glove}.semsearch: 3 words, 2 dimensions, float32\n"
    assert run("import", glove, "--to", tmp_path / "mine").exit_code == 2


def test_import_of_what_is_not_there_or_broken_is_one_line_and_status_2(tmp_path: Path) -> None:
    (tmp_path / "broken.txt").write_text("the 1 2\nof 1\n")
    for name, said in {"nowhere.txt": "file not found", "broken.txt": "line 2"}.items():
        result = run("import", tmp_path / name)
        assert (result.exit_code, result.stdout) == (2, "")
        assert said in result.stderr
        assert result.stderr.count("\n") == 1
