"""The length of a text in words, also for scripts without spaces."""

from hypothesis import given, strategies as st

from semsearch.text.text_lengths import count_words, cut_to

TEXTS = st.text(st.sampled_from("ab. é今\n"), max_size=300)


def test_words_of_prose_are_what_is_between_spaces() -> None:
    assert count_words("") == 0
    assert count_words("Three little words.") == 3


def test_characters_of_scripts_without_spaces_are_words() -> None:
    assert count_words("今天天气很好") >= 6


@given(TEXTS, st.integers(0, 60))
def test_a_text_is_cut_to_its_first_words_and_never_above_the_limit(text: str, most: int) -> None:
    cut = cut_to(text, most)
    assert text.startswith(cut)
    assert count_words(cut) <= most
    assert count_words(text) > most or cut == text.rstrip()
