"""Text to words, and the fast hashes against their literal definition."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import example, given, settings, strategies as st

from semsearch.text import tokens
from semsearch.text.tokens import hash_word, hash_words, normalise, words


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("", []),
        ("  \n\t ", []),
        ("Don't panic!", ["don", "panic"]),
        ("Python's we'll they’re O'Neil 5'10 'tis", ["python", "we", "they", "o", "neil", "5", "10", "tis"]),
        ("snake_case, kebab-case; v3.11", ["snake", "case", "kebab", "case", "v3", "11"]),
        ("naïve Café — ÉTÉ", ["naïve", "café", "été"]),
        ("cafe\u0301", ["café"]),
        ("東京 tower", ["東", "京", "tower"]),
        ("a\x00b", ["a", "b"]),
    ],
)
def test_words_are_lower_cased_runs_of_letters_and_digits(text: str, expected: list[str]) -> None:
    assert words(text) == expected


def test_normalising_twice_changes_nothing() -> None:
    text = "Don't — “quote” the CAFE\u0301, 東京’s O'Neil's it's"
    assert normalise(normalise(text)) == normalise(text)


@settings(max_examples=300)
@given(
    st.lists(
        st.text(alphabet=st.one_of(st.characters(), st.sampled_from("abzAZ09'’ _-\n\r.é東")), max_size=60), max_size=8
    )
)
@example(["東'a", "a's東", "東's", "a'東"])
def test_hashed_words_are_the_hashes_of_the_words(texts: list[str]) -> None:
    hashed = hash_words(texts)
    for index, text in enumerate(texts):
        found = hashed.hashes[hashed.indptr[index] : hashed.indptr[index + 1]].tolist()
        assert found == [hash_word(word) for word in words(text)], text


def test_hashes_do_not_depend_on_what_stands_beside_a_text() -> None:
    alone = hash_words(["the last word"]).hashes
    among = hash_words(["filler " * 30_000, "the last word", "東京"] * 3)
    for index in (1, 4, 7):
        assert np.array_equal(among.hashes[among.indptr[index] : among.indptr[index + 1]], alone)


def test_a_text_longer_than_a_chunk_is_hashed_whole() -> None:
    hashed = hash_words(["word " * 200_000])
    assert len(hashed.hashes) == 200_000
    assert set(hashed.hashes.tolist()) == {hash_word("word")}


def test_no_texts_have_no_words() -> None:
    hashed = hash_words([])
    assert len(hashed.hashes) == 0
    assert hashed.indptr.tolist() == [0]


@pytest.mark.parametrize("few", [64, 0])
def test_texts_of_many_alphabets_are_hashed_together_as_alone(monkeypatch: pytest.MonkeyPatch, few: int) -> None:
    monkeypatch.setattr(tokens, "_FEW", few)  # with none, by regular expressions
    texts = [
        "plain",
        "Größe – zählt…",
        "東京は、大きい",
        "ΣΑΣ\nΟΔΟΣ",
        "",
        "e\u0301te\u0301 l’été",
        "a\nb",
        "\ud800 lone",
        "10€ ½",
    ]
    hashed = tokens.hash_words(texts)
    for index, text in enumerate(texts):
        found = hashed.hashes[hashed.indptr[index] : hashed.indptr[index + 1]].tolist()
        assert found == [tokens.hash_word(word) for word in tokens.words(text)]
