"""Sentences: boundaries people would draw, offsets that hold, and bounds that keep odd files usable."""

import pytest
import sentencex
from hypothesis import given, strategies as st

from semsearch.text.sentences import LONGEST, sentence_spans


def sentences(text: str) -> list[str]:
    return [text[start:end] for start, end in sentence_spans(text)]


def test_abbreviations_numbers_and_quotes_do_not_end_a_sentence() -> None:
    assert sentences("Dr. Smith paid 3.50 at the bar. He left, e.g. by bus. Why?") == [
        "Dr. Smith paid 3.50 at the bar.",
        "He left, e.g. by bus.",
        "Why?",
    ]


@pytest.mark.parametrize(
    ("text", "sentences"),
    [
        ("Am 2. September kam er. Er ging.", ["Am 2. September kam er.", "Er ging."]),
        ("Offen vom 3. bis 7. Mai. Dann zu.", ["Offen vom 3. bis 7. Mai.", "Dann zu."]),
        ("Updates. We have new things. One. Two.", ["Updates. We have new things.", "One.", "Two."]),
        ("Der 31. März 2024.\nDann der 1. Mai.", ["Der 31. März 2024.", "Dann der 1. Mai."]),
        ("Den 3. oktober var det storm. Så stille.", ["Den 3. oktober var det storm.", "Så stille."]),
        ("He scored 42. August was dry.", ["He scored 42.", "August was dry."]),
        ("Version 2. Augusta is a town.", ["Version 2.", "Augusta is a town."]),
    ],
)
def test_the_number_of_a_day_does_not_end_a_sentence(text: str, sentences: list[str]) -> None:
    assert [text[start:end] for start, end in sentence_spans(text)] == sentences


def test_offsets_are_characters_not_bytes() -> None:
    assert sentences("Ein Café. 今天很好。明天呢？ 😀 Ja. Ende") == [
        "Ein Café.",
        "今天很好。",
        "明天呢？",
        "😀 Ja.",
        "Ende",
    ]


def test_lines_of_a_wrapped_paragraph_stay_together() -> None:
    assert sentences("It was a\nlong day. We\r\nwent home.\tThen we slept.") == [
        "It was a\nlong day.",
        "We\r\nwent home.",
        "Then we slept.",
    ]


def test_an_enumerator_belongs_to_its_sentence() -> None:
    assert sentences("1. First thing. 2. Second thing.") == ["1. First thing.", "2. Second thing."]


def test_code_with_exclamation_marks_is_not_cut_at_them() -> None:
    assert sentences("Use vec![1, 2] if a != best. Good.") == ["Use vec![1, 2] if a != best.", "Good."]
    assert sentences("Plug in the Fritz!Box and wait. Good.") == ["Plug in the Fritz!Box and wait.", "Good."]


def test_a_dot_within_a_name_ends_no_sentence() -> None:
    text = "Pass it to System.Management.Automation.PSCredential. Then go.Do it now."
    assert sentences(text) == ["Pass it to System.Management.Automation.PSCredential.", "Then go.", "Do it now."]


def test_an_abbreviation_before_a_number_ends_no_sentence() -> None:
    text = "The sum, as in Eq. (3), is small. See Fig. 4 and Refs. [7, 8]. No. It grows."
    assert sentences(text) == ["The sum, as in Eq. (3), is small.", "See Fig. 4 and Refs. [7, 8].", "No. It grows."]


def test_a_comment_in_code_is_a_sentence_of_its_own() -> None:
    code = "# replace <node> with the name\n# of your node\nkubectl drain <node>\n\n  // then\nkubectl uncordon <node>"
    assert sentences(code) == [
        "# replace <node> with the name\n# of your node", "kubectl drain <node>", "// then", "kubectl uncordon <node>",
    ]  # fmt: skip
    assert sentences("#include <a.h>\n#define B 1") == ["#include <a.h>\n#define B 1"]


def test_an_option_in_the_help_of_a_program_is_a_sentence_of_its_own() -> None:
    help_ = (
        "Flags:\n  -d, --days int   days, (default: 3)\n                   or all\n      --json       as JSON\n\nBye"
    )
    assert sentences(help_) == [
        "Flags:", "-d, --days int   days, (default: 3)\n                   or all", "--json       as JSON", "Bye",
    ]  # fmt: skip
    command = "tide run \\\n  --days 3  \\\n  --json  x"
    assert sentences(command) == [command]
    assert len(sentences("  -a" + " " * 8000)) == 1


def test_a_name_or_sign_that_ends_with_a_mark_ends_no_sentence_before_a_small_letter() -> None:
    text = "We call the panic! macro. The ? operator and the . are signs! Jeopardy! was shown."
    assert sentences(text) == [
        "We call the panic! macro.",
        "The ? operator and the . are signs!",
        "Jeopardy! was shown.",
    ]
    assert sentences("who asks? nobody! ever.") == ["who asks?", "nobody!", "ever."]  # written without capitals


@pytest.mark.parametrize("text", ["", "   ", "\n\r\n\t", "\u3000\xa0"])
def test_nothing_has_no_sentences(text: str) -> None:
    assert sentence_spans(text) == []


def test_white_space_of_several_bytes_is_no_trouble() -> None:
    assert sentences("Mr J.\xa0R. Smith came.\u2003He sat.") == ["Mr J.\xa0R. Smith came.", "He sat."]


def test_a_blank_line_that_sentencex_leaves_out_costs_no_sentence() -> None:
    text = "\n\n" + "─" * 4000
    assert sum(len(part) for part in sentencex.segment("en", text)) < len(text)
    assert "".join(text[start:end] for start, end in sentence_spans(text)) == text.strip()


def test_an_unclosed_quote_does_not_run_a_book_together() -> None:
    text = '"' + "He walked on and on. " * 5000
    assert len(sentence_spans(text)) >= 5000 - 50


@pytest.mark.parametrize("text", ["x" * 50_000, "word " * 20_000, "key=value;" * 9_000, "a,b,c\n" * 9_000])
def test_a_sentence_is_never_longer_than_the_bound(text: str) -> None:
    spans = sentence_spans(text)
    assert max(end - start for start, end in spans) <= LONGEST
    assert all(not text[a:b].strip() for a, b in between(text, spans))


def test_long_lines_are_cut_at_line_ends_before_words() -> None:
    text = "\n".join(["one two three four"] * 200)
    assert all(part.endswith("four") for part in sentences(text))


def between(text: str, spans: list[tuple[int, int]]) -> list[tuple[int, int]]:
    ends = [0, *(end for _, end in spans)]
    starts = [*(start for start, _ in spans), len(text)]
    return list(zip(ends, starts, strict=True))


@given(st.text(st.sampled_from("ab C#/.!?\"'()[]“”’\n\t\r 1-*•…。？！你é😀\u2028\x85\xa0\u3000\ud800,;"), max_size=300))
def test_spans_rise_are_trimmed_and_leave_out_only_white_space(text: str) -> None:
    spans = sentence_spans(text)
    assert all(start < end and text[start:end] == text[start:end].strip() for start, end in spans)
    gaps = between(text, spans)
    assert all(end <= start for end, start in gaps)
    assert all(not text[end:start].strip() for end, start in gaps)
