"""`semsearch vectors train`: what Python can do, on one line."""

from __future__ import annotations

from pathlib import Path

import pytest
from small import write_articles
from typer.testing import CliRunner, Result

from semsearch.cli.main import app
from semsearch_research.train.cbos import CbosSettings, train_cbos
from semsearch_research.train.ppmi import train_ppmi
from semsearch_research.word_tables.conversion import load_vectors


def run(*arguments: object) -> Result:
    return CliRunner().invoke(app, ["vectors", "train", *map(str, arguments)])


@pytest.fixture
def texts(tmp_path: Path) -> Path:
    write_articles(tmp_path / "texts", 12)
    return tmp_path / "texts"


def test_ppmi_is_the_default_and_gives_what_python_gives(texts: Path, tmp_path: Path) -> None:
    result = run(texts, "--to", tmp_path / "v", "--dimension", 6, "--window", 4, "--licence", "CC0")
    assert (result.exit_code, result.stderr) == (0, "")
    table = load_vectors(tmp_path / "v")
    assert result.stdout == (
        f"{tmp_path / 'v'}: {len(table)} words, 6 dimensions, from {table.card['counted words']} running words\n"
    )
    assert table.digest == train_ppmi([texts], tmp_path / "w", dimension=6, window=4).digest
    assert (table.card["algorithm"], table.card["licence"], table.card["dtype"]) == ("ppmi", "CC0", "int8")


def test_cbos_takes_its_options(texts: Path, tmp_path: Path) -> None:
    result = run(
        texts, "--to", tmp_path / "v", "--algorithm", "cbos", "--dimension", 4, "--window", 2, "--negatives", 3,
        "--epochs", 2, "--batch", 7, "--seed", 5, "--size", 40, "--min-count", 2, "--dtype", "float16",
    )  # fmt: skip
    assert (result.exit_code, result.stderr) == (0, "")
    expected = train_cbos(
        [texts], tmp_path / "w", dimension=4, epochs=2, settings=CbosSettings(2, 3, batch=7, seed=5), size=40,
        min_count=2, dtype="float16",
    )  # fmt: skip
    table = load_vectors(tmp_path / "v")
    assert table.digest == expected.digest
    assert table.card["command"] == expected.card["command"]
    assert len(table) == 40


def test_the_command_on_the_card_makes_the_same_vectors(texts: Path, tmp_path: Path) -> None:
    run(texts, "--to", tmp_path / "v", "--algorithm", "cbos", "--dimension", 4, "--epochs", 1, "--batch", 9)
    table = load_vectors(tmp_path / "v")
    options = table.card["command"].split()[4:]
    assert run(texts, "--to", tmp_path / "w", *options).exit_code == 0
    assert load_vectors(tmp_path / "w").digest == table.digest


@pytest.mark.parametrize("option", ["--negatives", "--epochs", "--batch"])
def test_options_of_cbos_are_refused_for_ppmi(texts: Path, tmp_path: Path, option: str) -> None:
    result = run(texts, "--to", tmp_path / "v", option, 3)
    assert (result.exit_code, result.stdout) == (2, "")
    assert f"{option} needs --algorithm cbos" in result.stderr
    assert not (tmp_path / "v").exists()


def test_what_is_skipped_is_told(texts: Path, tmp_path: Path) -> None:
    (texts / "bad.txt.gz").write_bytes(b"no archive")
    result = run(texts, "--to", tmp_path / "v", "--dimension", 3)
    assert result.exit_code == 0
    assert result.stderr.startswith("semsearch: warning: skipped ")
    assert "bad.txt.gz" in result.stderr
    assert result.stderr.count("\n") == 1
