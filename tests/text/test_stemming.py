"""Words by the rules of their language."""

from __future__ import annotations

import pytest
import Stemmer

from semsearch.text.languages import RULES
from semsearch.text.terms import Lexicon, lowered, plain, question_terms, stems


def terms(text: str, language: str) -> set[int]:
    lexicon = Lexicon()
    numbers = lexicon.in_language([text], language).numbers
    return set(lexicon.terms[numbers].tolist())


@pytest.mark.parametrize(
    ("language", "one", "two"),
    [
        ("de", "Häuser", "hauser"),
        ("es", "canciones", "cancion"),
        ("fr", "élections", "election"),
        ("ru", "города", "городов"),
        ("tr", "gemiler", "GEMİLER"),
        ("tr", "ışık", "IŞIK"),
        ("ar", "كِتَاب", "كتاب"),
        ("el", "Πλοίο", "πλοιο"),
        ("hi", "लड़कों", "लड़के"),
        ("ro", "corăbii", "corabii"),
        ("ru", "Python", "python"),
    ],
)
def test_forms_of_a_word_are_one_term(language: str, one: str, two: str) -> None:
    assert terms(one, language) == terms(two, language)


def test_vowel_signs_do_not_part_words() -> None:
    assert Lexicon().in_language(["हिन्दी"], "hi").lengths.tolist() == [1]
    assert Lexicon().of(["हिन्दी"]).lengths.tolist() != [1]


@pytest.mark.parametrize("language", ["zh", "ja", "ko"])
def test_two_characters_side_by_side_are_one_more_term(language: str) -> None:
    assert len(terms("漢字", language)) == 3
    assert len(terms("漢、字", language)) == len(terms("漢 字", language)) == 2
    assert len(terms("漢字", "en")) == 2


def test_thai_is_found_by_sequences_of_letters() -> None:
    asked, text = terms("ภาษาไทย", "th"), terms("คนพูดภาษาไทยได้", "th")
    assert asked < text
    assert terms("Python", "th") == terms("python", "en")


def test_a_stemmer_of_snowball_is_there_for_each_language_that_names_one() -> None:
    assert {rules.stemmer for rules in RULES.values() if rules.stemmer} <= set(Stemmer.algorithms())


def test_english_words_have_the_terms_that_they_always_had() -> None:
    texts = ["Café au lait: naïve users' résumés, utf-8", "indexes indexing index", "漢字 and ﾊﾝｶｸ"]
    stemmer = Stemmer.Stemmer("english")
    assert stems(["café", "indexing"], "en") == stemmer.stemWords([plain("café"), "indexing"])
    for text in texts:
        lexicon = Lexicon()
        numbers = lexicon.of([text]).numbers
        assert set(lexicon.terms[numbers].tolist()) == terms(text, "en")


def test_a_query_has_its_terms_in_each_language_of_the_index() -> None:
    both = question_terms("rotations", ["en", "de"])
    assert set(both.tolist()) == terms("rotations", "en") | terms("rotations", "de")
    once = question_terms("haus haus", ["en", "de"])
    assert len(once) == 2
    assert question_terms("the keys", ["en"]).tolist() == question_terms("the keys").tolist()


def test_stop_words_are_those_of_the_language_of_the_question() -> None:
    asked = question_terms("was ist die Rotation", ["en", "de"]).tolist()
    assert set(asked) == terms("Rotation", "en") | terms("Rotation", "de")
    asked = question_terms("die hard with a vengeance", ["en", "de"]).tolist()
    assert terms("die", "en") < set(asked)


def test_a_capital_i_is_lowered_as_in_turkish() -> None:
    assert lowered("IŞIK İZMİR", "tr").lower() == "ışık izmir"
    assert lowered("IT", "de") == "IT"
