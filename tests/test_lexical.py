"""Nothing a user types is FTS5 syntax, and words are found in every script."""

from __future__ import annotations

import sqlite3

import pytest
from hypothesis import given
from hypothesis import strategies as st

from semsearch.lexical import expression, searchable, shared_words, terms


def found(query: str, *texts: str) -> list[int]:
    db = sqlite3.connect(":memory:")
    db.execute("CREATE VIRTUAL TABLE t USING fts5(body, content='', tokenize='porter unicode61 remove_diacritics 2')")
    for number, text in enumerate(texts):
        db.execute("INSERT INTO t (rowid, body) VALUES (?, ?)", (number + 1, searchable(text)))
    asked = expression(query)
    rows = db.execute("SELECT rowid FROM t WHERE t MATCH ? ORDER BY rank", (asked,)).fetchall() if asked else []
    db.close()
    return [row[0] - 1 for row in rows]


def test_function_words_count_only_where_there_is_nothing_else() -> None:
    assert terms("How do I rotate the keys?") == ["rotate", "keys"]
    assert terms("to be or not to be") == ["to", "be", "or", "not"]
    assert expression("???") == ""


def test_each_word_is_quoted_and_any_of_them_may_match() -> None:
    assert expression('say "hello" NEAR world') == '"say" OR "hello" OR "near" OR "world"'
    assert sorted(found("cats or dogs", "a dog", "a bird", "the cat")) == [0, 2]


def test_what_is_written_together_is_found_better_together() -> None:
    assert terms("utf-8 decode") == ["utf", "8", "decode", "utf 8"]
    assert found("read_bytes", "bytes that we read", "the read_bytes function")[0] == 1


@pytest.mark.parametrize(
    ("query", "text"),
    [("größe", "Die Größe zählt"), ("cafe", "ein Café"), ("東京", "私は東京に住んでいます"), ("мир", "Мир всем")],
)
def test_other_scripts_are_found(query: str, text: str) -> None:
    assert found(query, text) == [0]


@given(st.text())
def test_whatever_is_typed_can_be_asked(query: str) -> None:
    found(query, "some text")


def test_a_sentence_shares_different_words_with_a_question() -> None:
    assert shared_words("the big cat", "A big, big cat!") == 2
    assert shared_words("the big cat", "Nothing.") == 0
