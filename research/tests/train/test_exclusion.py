"""Texts that are measured on: found again by any run of thirteen words, or as a whole where they are shorter."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from hypothesis import given, strategies as st

from semsearch.text.tokens import words
from semsearch_research.train.training_texts import RUN, Excluded

LONG = "one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen"


def excluded(folder: Path, *texts: str) -> Excluded:
    path = folder / "measured.txt"
    path.write_text("".join(text + "\n" for text in texts), encoding="utf-8")
    return Excluded([path])


def test_a_run_of_thirteen_words_is_found_wherever_it_stands_and_one_of_twelve_is_not(tmp_path: Path) -> None:
    run = LONG.split()
    texts = [
        "before " + " ".join(run[:13]) + " after",
        "Before, " + ", ".join(run[2:15]).upper() + "!",
        "before " + " ".join(run[:12]) + " after, and more words so that it is long",
        " ".join([*run[:6], "other", *run[6:]]),
    ]
    assert excluded(tmp_path, LONG).shared_by(texts).tolist() == [True, True, False, False]


def test_a_run_never_reaches_from_one_text_into_the_next(tmp_path: Path) -> None:
    run = LONG.split()
    assert not excluded(tmp_path, LONG).shared_by([" ".join(run[:8]) + " a", "b " + " ".join(run[8:])]).any()
    assert not excluded(tmp_path, " ".join(run[:8]), " ".join(run[8:])).shared_by([LONG]).any()


def test_a_short_text_is_found_only_as_the_whole_of_a_text_or_a_sentence(tmp_path: Path) -> None:
    found = excluded(tmp_path, "A man plays. The dog is asleep.", "a cat").shared_by(
        ["the dog is asleep", "A man plays!", "a CAT", "the dog is", "dog is asleep", "cat", ""]
    )
    assert found.tolist() == [True, True, True, False, False, False, False]


def test_json_lines_tables_and_lines_are_read_by_their_texts(tmp_path: Path) -> None:
    (tmp_path / "corpus.jsonl").write_text(
        json.dumps({"_id": "1", "text": "a json text", "more": [{"deep": "a deep one"}]}) + "\n", encoding="utf-8"
    )
    (tmp_path / "deeper").mkdir()
    (tmp_path / "deeper" / "pairs.tsv").write_text("4.5\ta first column\ta second column\n", encoding="utf-8")
    (tmp_path / "plain").write_text("a plain line\n", encoding="utf-8")
    texts = ["a json text", "a deep one", "a first column", "a second column", "a plain line", "something else"]
    assert Excluded([tmp_path]).shared_by(texts).tolist() == [True, True, True, True, True, False]


def test_nothing_is_excluded_by_nothing() -> None:
    assert not Excluded([]).shared_by([LONG, "a", ""]).any()


@given(st.lists(st.sampled_from("a b c".split()), max_size=40), st.lists(st.sampled_from("a b c".split()), max_size=40))
def test_the_rule_is_what_it_says(tmp_path_factory: pytest.TempPathFactory, one: list[str], two: list[str]) -> None:
    text, other = " ".join(one), " ".join(two)
    found = excluded(tmp_path_factory.mktemp("x"), text).shared_by([other])[0]
    runs = {tuple(one[i : i + RUN]) for i in range(len(one) - RUN + 1)}
    shares = any(tuple(two[i : i + RUN]) in runs for i in range(len(two) - RUN + 1))
    assert found == (shares or (0 < len(two) < RUN and words(text) == words(other)))
