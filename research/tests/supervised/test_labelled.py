"""Labelled sentences: which files belong together, what their lines must be, and what is said where they are not."""

from __future__ import annotations

from pathlib import Path

import pytest

from semsearch.errors import SourceError
from semsearch_research.supervised.labelled import SPLITS, read_labelled

SICK = "4.5\ta ship\ta boat\tENTAILMENT\n1\tthe law\ta song\tNEUTRAL\n2.2\tday\tnight\tCONTRADICTION\n"
PAIRS = "a ship\ta boat\tyes\nthe law\ta song\tno\n"
TEXTS = "a fine song\t1\na dull song\t0\n"


def write(folder: Path, names: str, text: str, **changed: str) -> Path:
    """Three files, `names` with the split in it; other text for a split where it is given."""
    folder.mkdir(exist_ok=True)
    for split in SPLITS:
        (folder / names.format(split)).write_text(changed.get(split, text), encoding="utf-8")
    return folder


def test_four_columns_are_relatedness_and_entailment_of_the_same_pairs(tmp_path: Path) -> None:
    relatedness, entailment = read_labelled([write(tmp_path, "sick.{}.tsv", SICK)])
    assert (relatedness.name, relatedness.kind, relatedness.labels) == ("sick relatedness", "relatedness", ())
    assert (entailment.name, entailment.kind) == ("sick entailment", "entailment")
    assert entailment.labels == ("CONTRADICTION", "ENTAILMENT", "NEUTRAL")
    assert relatedness.train.gold.tolist() == [4.5, 1, 2.2]
    assert entailment.train.gold.tolist() == [1, 2, 0]
    assert (
        relatedness.test.texts == entailment.test.texts == (["a ship", "the law", "day"], ["a boat", "a song", "night"])
    )
    assert [path.name for path in entailment.files] == ["sick.train.tsv", "sick.dev.tsv", "sick.test.tsv"]


def test_three_columns_are_pairs_and_two_are_texts(tmp_path: Path) -> None:
    write(tmp_path, "snli.{}.txt", PAIRS)
    write(tmp_path, "sentiment-{}", TEXTS)
    texts, pairs = read_labelled([tmp_path])
    assert (texts.name, texts.kind, texts.labels) == ("sentiment", "texts", ("0", "1"))
    assert texts.dev.texts == (["a fine song", "a dull song"],)
    assert (pairs.name, pairs.kind, pairs.labels) == ("snli", "pairs", ("no", "yes"))
    assert pairs.dev.texts == (["a ship", "the law"], ["a boat", "a song"])


def test_pairs_without_labels_and_other_files_are_left_alone(tmp_path: Path) -> None:
    write(tmp_path, "sick.{}.tsv", SICK)
    (tmp_path / "2012.MSRpar.train.tsv").write_text("4.5\tone\ttwo\n")
    (tmp_path / "README.md").write_text("about")
    (tmp_path / "test").mkdir()
    assert [task.dataset for task in read_labelled([tmp_path])] == ["sick", "sick"]
    with pytest.raises(SourceError, match="has scores, but no labels; semsearch evaluate sts"):
        read_labelled([tmp_path / "2012.MSRpar.train.tsv"])


BROKEN = {
    "a column too few": (SICK, "4\tone\ttwo\n", r"x\.dev\.tsv, line 1: expected a score, two sentences and a label"),
    "a column too many": (TEXTS, "one\t1\t2\n", r"x\.dev\.tsv, line 1: expected a sentence and a label, between tabs"),
    "no sentence": (TEXTS, "one\t1\n \t1\n", r"x\.dev\.tsv, line 2: expected a sentence and a label"),
    "no label": (PAIRS, "one\ttwo\t\n", r"x\.dev\.tsv, line 1: expected two sentences and a label"),
    "another label": (
        PAIRS,
        "\none\ttwo\tmaybe\n",
        r"line 2: expected a label of the train split \(no, yes\), found 'maybe'",
    ),
    "a word as score": (SICK, "four\tone\ttwo\tNEUTRAL\n", r"line 1: expected a score from 1 to 5, found 'four'"),
    "too high": (SICK, "5.1\tone\ttwo\tNEUTRAL\n", r"line 1: expected a score from 1 to 5, found '5\.1'"),
    "too low": (SICK, "0\tone\ttwo\tNEUTRAL\n", r"line 1: expected a score from 1 to 5, found '0'"),
    "not a number": (SICK, "nan\tone\ttwo\tNEUTRAL\n", r"line 1: expected a score from 1 to 5, found 'nan'"),
    "one score": (SICK, "3\tone\ttwo\tNEUTRAL\n", r"x\.dev\.tsv has fewer than two different scores"),
    "nothing": (TEXTS, "\n", r"x\.dev\.tsv has no labelled lines"),
}


@pytest.mark.parametrize("case", list(BROKEN))
def test_a_broken_line_is_named_with_its_file(tmp_path: Path, case: str) -> None:
    text, dev, said = BROKEN[case]
    with pytest.raises(SourceError, match=said):
        read_labelled([write(tmp_path, "x.{}.tsv", text, dev=dev)])


TRAIN = {
    "five columns": ("a\tb\tc\td\te\n", r"x\.train\.tsv, line 1: expected a sentence and a label, two sentences"),
    "one column": ("a\n", r"x\.train\.tsv, line 1: expected a sentence and a label, two sentences"),
    "nothing": ("", r"x\.train\.tsv is empty"),
    "one label": ("one\t1\ntwo\t1\n", r"x\.train\.tsv has one label only, '1'"),
}


@pytest.mark.parametrize("case", list(TRAIN))
def test_the_train_file_must_say_what_is_to_be_learned(tmp_path: Path, case: str) -> None:
    train, said = TRAIN[case]
    with pytest.raises(SourceError, match=said):
        read_labelled([write(tmp_path, "x.{}.tsv", TEXTS, train=train)])


def test_a_split_that_is_missing_is_named(tmp_path: Path) -> None:
    (write(tmp_path, "x-{}", TEXTS) / "x-dev").unlink()
    with pytest.raises(SourceError, match=r"'x' has no dev split, only x-test, x-train"):
        read_labelled([tmp_path])


def test_what_is_not_there_is_said(tmp_path: Path) -> None:
    with pytest.raises(SourceError, match="there is no"):
        read_labelled([tmp_path / "gone"])
    with pytest.raises(SourceError, match="has no labelled sentences"):
        read_labelled([tmp_path])
    (tmp_path / "notes.tsv").write_text(TEXTS)
    with pytest.raises(SourceError, match="does not say which split it is"):
        read_labelled([tmp_path / "notes.tsv"])
