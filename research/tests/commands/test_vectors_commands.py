"""Commands of `semsearch vectors` that semsearch-research brings: counts, texts, distil, pieces."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
from typer.testing import CliRunner, Result

from semsearch.cli.main import app
from semsearch.errors import VectorsError
from semsearch.word_vectors.table import load_vectors


def run(*arguments: object) -> Result:
    return CliRunner().invoke(app, ["vectors", *map(str, arguments)])


@pytest.fixture
def glove(tmp_path: Path) -> Path:
    path = tmp_path / "glove.txt"
    path.write_text("the 1 0\ncat 0 1\ndog 0.1 0.9\n")
    return path


def test_count_writes_a_counts_file_and_tells_what_it_skipped(tmp_path: Path) -> None:
    (tmp_path / "texts").mkdir()
    (tmp_path / "texts" / "a.txt").write_text("the cat and the dog")
    (tmp_path / "texts" / "b.txt").write_bytes(b"caf\xe9")
    result = run("count", tmp_path / "texts", "--to", tmp_path / "counts.txt")
    assert result.exit_code == 0
    assert result.stdout == f"{tmp_path / 'counts.txt'}: 5 words, 4 distinct\n"
    assert "skipped" in result.stderr
    assert (tmp_path / "counts.txt").read_text() == "the 2\nand 1\ncat 1\ndog 1\n"


def test_counting_nothing_writes_nothing(tmp_path: Path) -> None:
    (tmp_path / "empty").mkdir()
    assert run("count", tmp_path / "empty", "--to", tmp_path / "counts.txt").exit_code == 2
    assert not (tmp_path / "counts.txt").exists()


def test_distill_fails_at_once_where_it_cannot_work(tmp_path: Path) -> None:
    (tmp_path / "counts.txt").write_text("the 9\n")
    (tmp_path / "there").mkdir()
    result = run("distill", "--teacher", "x", "--counts", tmp_path / "counts.txt", "--to", tmp_path / "there")
    assert result.exit_code == 2
    assert "exists" in result.stderr


def test_texts_chooses_lines_that_share_nothing_with_what_is_excluded(tmp_path: Path) -> None:
    (tmp_path / "corpus.txt").write_text("This one may be used.\n\nThis one is measured on.\n", encoding="utf-8")
    (tmp_path / "measured.tsv").write_text("5.0\tthis one is measured on\tanother sentence\n", encoding="utf-8")
    result = run(
        "texts", tmp_path / "corpus.txt", "--passages", "0", "--sentences", "1", "--exclude", tmp_path / "measured.tsv",
        "--to", tmp_path / "texts",
    )  # fmt: skip
    assert (result.exit_code, result.stdout) == (0, f"{tmp_path / 'texts'}: 1 texts; 1 excluded\n")
    assert (tmp_path / "texts").read_text(encoding="utf-8") == "This one may be used.\n"


def test_distill_wants_words_from_somewhere(tmp_path: Path) -> None:
    result = run("distill", "--teacher", "x", "--to", tmp_path / "new")
    assert result.exit_code == 2
    assert "--counts FILE or --corpus PATH" in result.stderr
    assert not (tmp_path / "new").exists()


def test_pieces_speak_for_words_that_the_vectors_lack(glove: Path, tmp_path: Path) -> None:
    made = run("pieces", glove, "--to", tmp_path / "open", "--number", 20)
    assert "3 words, " in made.stdout
    result = run("neighbours", "cats", "--vectors", tmp_path / "open", "--json")
    found = json.loads(result.stdout)
    assert found["from_pieces"] is True
    assert found["neighbours"][0]["word"] == "cat"
    assert "composed of pieces" in run("neighbours", "cats", "--vectors", tmp_path / "open").stderr
    assert json.loads(run("neighbours", "cat", "--vectors", tmp_path / "open", "--json").stdout)["from_pieces"] is False
    details = json.loads(run("info", tmp_path / "open").stdout)
    assert details["pieces"] > 0
    assert details["verified"] is True
    assert json.loads(run("info", glove).stdout)["pieces"] == 0
    assert run("pieces", glove, "--to", tmp_path / "open").exit_code == 2


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
    with pytest.raises(VectorsError, match="semsearch vectors import"):
        load_vectors(glove)
    assert run("import", glove).stdout == f"{glove}.semsearch: 3 words, 2 dimensions, float32\n"
    assert load_vectors(glove).words == ["the", "cat", "dog"]
    assert run("import", glove, "--to", tmp_path / "mine").exit_code == 2


def test_import_of_what_is_not_there_or_broken_is_one_line_and_status_2(tmp_path: Path) -> None:
    (tmp_path / "broken.txt").write_text("the 1 2\nof 1\n")
    for name, said in {"nowhere.txt": "file not found", "broken.txt": "line 2"}.items():
        result = run("import", tmp_path / name)
        assert (result.exit_code, result.stdout) == (2, "")
        assert said in result.stderr
        assert result.stderr.count("\n") == 1


def test_coarser_numbers_are_smaller_and_nearly_the_same(glove: Path, tmp_path: Path) -> None:
    assert run("import", glove, "--to", tmp_path / "fine", "--dtype", "int8").exit_code == 0
    assert run("pieces", tmp_path / "fine", "--to", tmp_path / "open", "--number", 20).exit_code == 0
    result = run("coarsen", tmp_path / "open", "--to", tmp_path / "coarse", "--levels", 8)
    assert result.stdout == f"{tmp_path / 'coarse'}: 3 words, 8 levels\n"
    fine, coarse = load_vectors(tmp_path / "open"), load_vectors(tmp_path / "coarse")
    assert coarse.verify()
    assert coarse.rows(np.arange(3)) == pytest.approx(fine.rows(np.arange(3)), abs=0.07)
    assert np.abs(np.load(tmp_path / "coarse" / "vectors.npy")).max() == 8
    assert run("coarsen", glove, "--to", tmp_path / "other").exit_code == 2
