"""Passages: which blocks belong together, and that every sentence can be found again in the source."""

import tracemalloc

from hypothesis import given
from hypothesis import strategies as st

from semsearch.readers.document import Block, Document
from semsearch.readers.read import read_text
from semsearch.text.passages import each_passage, passages


def document(*blocks: Block) -> Document:
    return Document("\n".join(block.text for block in blocks), blocks)


def test_blocks_under_one_heading_are_one_passage() -> None:
    [passage] = passages(document(Block("Title", 0, level=1), Block("One. Two.", 6), Block("Three.", 16)))
    assert (passage.text, passage.headings, passage.line) == ("One. Two.\n\nThree.", ("Title",), 2)
    assert [passage.text[s.start : s.end] for s in passage.sentences] == ["One.", "Two.", "Three."]


def test_the_trail_runs_from_the_outermost_heading_to_the_innermost() -> None:
    source = "# A\n\na.\n\n## B\n\nb.\n\n### C\n\nc.\n\n## D\n\nd.\n"
    assert [p.headings for p in passages(read_text(source, "x.md", format="markdown"))] == [
        ("A",),
        ("A", "B"),
        ("A", "B", "C"),
        ("A", "D"),
    ]


def test_a_level_may_be_skipped() -> None:
    found = passages(read_text("### C\n\nc.\n\n# A\n\na.\n\n#### D\n\nd.", "x.md", format="markdown"))
    assert [p.headings for p in found] == [("C",), ("A",), ("A", "D")]


def test_a_heading_with_nothing_under_it_is_a_passage() -> None:
    found = passages(read_text("# A\n\n## B\n\n## C\n\nc.\n\n# D\n", "x.md", format="markdown"))
    assert [(p.text, p.headings) for p in found] == [("B", ("A",)), ("c.", ("A", "C")), ("D", ())]


def test_a_passage_is_at_most_so_many_words_and_a_section_is_cut_evenly() -> None:
    blocks = [Block(f"{'word ' * 29}end.", 0) for _ in range(8)]
    sizes = [len(passage.text.split()) for passage in passages(document(*blocks))]
    assert sizes == [120, 120]


def test_a_long_block_is_cut_at_sentence_ends() -> None:
    text = " ".join(f"Sentence number {n} is here." for n in range(100))
    found = passages(read_text(text, "x.txt"))
    assert len(found) == 3
    assert " ".join(passage.text for passage in found) == text
    assert all(passage.text.endswith(".") and len(passage.text.split()) <= 200 for passage in found)


def test_a_single_sentence_may_be_longer_than_the_limit() -> None:
    [first, second] = passages(read_text(f"{'word ' * 30}end. And on.", "x.txt"), max_words=10)
    assert len(first.text.split()) == 31
    assert second.text == "And on."


def test_characters_of_scripts_without_spaces_count_as_words() -> None:
    found = passages(read_text("今天天气很好。" * 100, "x.txt"))
    assert all(len(passage.text) <= 200 for passage in found)


def test_a_passage_never_crosses_a_page() -> None:
    found = passages(document(Block("One.", 0, page=1), Block("Two.", 5, page=1), Block("Three.", 10, page=2)))
    assert [(p.text, p.page) for p in found] == [("One.\n\nTwo.", 1), ("Three.", 2)]


def test_blocks_of_white_space_are_no_passages() -> None:
    assert passages(document(Block("", 0), Block(" \n", 0))) == []
    assert passages(Document("", [])) == []


def test_lines_are_those_of_an_editor_whatever_ends_them() -> None:
    for end in ("\n", "\r\n", "\r"):
        source = end.join(["one.", "", "two is", "here. Three", "goes on.", "", "four."])
        lines = [s.line for p in passages(read_text(source, "x.txt")) for s in p.sentences]
        assert lines == [1, 3, 4, 7]


@given(st.lists(st.sampled_from(["A b c.", "Dee! ", "x", "\n", "\n\n", "\r\n", "é 今。", "\t", '"Q?" ']), max_size=60))
def test_plain_text_is_quoted_to_the_character(parts: list[str]) -> None:
    source = "".join(parts)
    found = passages(read_text(source, "x.txt"), max_words=5)
    for passage in found:
        for s in passage.sentences:
            assert source[s.source_start : s.source_end] == passage.text[s.start : s.end]
    assert "".join("".join(p.text.split()) for p in found) == "".join(source.split())


def test_a_text_without_spaces_is_cut_into_passages_of_so_many_characters() -> None:
    blob = "QUJDREVGR0hJSktMTU5PUFFSU1RVVldYWVph" * 1000
    found = passages(read_text(blob, "x.txt"))
    assert max(len(passage.text) for passage in found) <= 2000
    assert "".join("".join(passage.text.split()) for passage in found) == blob
    assert max(len(passage.text) for passage in passages(read_text(blob, "x.txt"), max_words=100)) <= 1000


def test_white_space_between_sentences_counts_too() -> None:
    found = passages(read_text(f"One.{' ' * 5000}Two.{' ' * 5000}Three.", "x.txt"))
    assert [passage.text for passage in found] == ["One.", "Two.", "Three."]


def test_a_heading_too_long_for_one_is_body() -> None:
    [first, second] = passages(document(Block("x" * 1001, 0, level=1), Block("Body.", 1002)), max_words=100)
    assert (len(first.text + second.text.removesuffix("Body.").rstrip()), first.headings, second.headings) == (
        1001,
        (),
        (),
    )


def test_passages_one_after_the_other_take_little_memory() -> None:
    text = "The quick brown fox jumps over the lazy dog near the river bank. " * 100_000
    made = read_text(text, "x.txt")
    tracemalloc.start()
    try:
        count = sum(1 for _ in each_passage(made))
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert count >= 100_000 * 13 / 200
    assert peak < len(text)


def test_a_passage_boundary_is_the_same_whether_a_section_is_worked_through_at_once_or_not() -> None:
    blocks = [Block(f"{'word ' * 49}end.", 0) for _ in range(10_000)]
    sizes = [len(passage.text.split()) for passage in each_passage(document(*blocks))]
    assert set(sizes) == {200}
