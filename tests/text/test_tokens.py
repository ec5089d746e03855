"""Text to words, and the fast hashes against their literal definition."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import example, given, settings, strategies as st

from semsearch.text import tokens
from semsearch.text.terms import question_terms, with_parts
from semsearch.text.tokens import hash_words, mix, normalise, words


def hash_word(word: str) -> int:
    """The hash of one word by its definition: Σ byte_i · B^i, mixed."""
    total = sum(byte * pow(tokens._BASE, power, 1 << 64) for power, byte in enumerate(word.encode()))
    return int(mix(np.array([total % (1 << 64)], dtype=np.uint64))[0])


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


@pytest.mark.parametrize("plain", [0, 20])
def test_texts_of_many_alphabets_are_hashed_together_as_alone(plain: int) -> None:
    texts = [
        *(["of letters of ASCII"] * plain),  # then the few others are read apart from these
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
        assert found == [hash_word(word) for word in tokens.words(text)]


def test_an_account_in_groups_is_searched_as_one_number_too() -> None:
    written = with_parts("Pay to DE89 3704 0044 0532 0130 00, or GB82 WEST 1234 5698 7654 32.", "text")
    assert words(written)[-2:] == ["de89370400440532013000", "gb82west12345698765432"]
    assert set(question_terms("DE89370400440532013000")) <= set(question_terms("DE89 3704 0044 0532 0130 00"))
    assert with_parts("In 1990 1991 1992 1993 it rained.", "text") == "In 1990 1991 1992 1993 it rained."
