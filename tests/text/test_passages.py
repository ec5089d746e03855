"""Passages: which blocks belong together, and that every sentence can be found again in the source."""

import re

from cited import cited_sentences, passages
from hypothesis import given, strategies as st

from semsearch.readers.document import Block, Builder, Document, Spot
from semsearch.readers.read import read_text


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


def test_a_long_line_of_source_code_is_cut_without_repeating_it() -> None:
    text = " ".join(f"Sentence number {n} is here." for n in range(100))
    found = passages(read_text(text, "x.js", format="code"))
    assert [n for passage in found for n in map(int, re.findall(r"\d+", passage.text))] == [*range(100)]


def test_a_single_sentence_may_be_longer_than_the_limit() -> None:
    [first, second] = passages(read_text(f"{'word ' * 30}end. And on.", "x.txt"), max_words=10)
    assert len(first.text.split()) == 31
    assert second.text == "And on."


def test_a_passage_never_crosses_a_page() -> None:
    found = passages(document(Block("One.", 0, page=1), Block("Two.", 5, page=1), Block("Three.", 10, page=2)))
    assert [(p.text, p.page) for p in found] == [("One.\n\nTwo.", 1), ("Three.", 2)]


def test_a_passage_never_goes_beyond_a_part() -> None:
    found = passages(
        document(
            Block("One.", 0, part="slide 1"), Block("Two.", 5, part="slide 1"), Block("Three.", 10, part="slide 2")
        )
    )
    assert [p.text for p in found] == ["One.\n\nTwo.", "Three."]


def test_places_share_a_passage_and_each_sentence_has_its_own() -> None:
    blocks = (Block("One.", 0), Block("Two. Three.", 5, place="row 2"), Block("Four.", 17, place="row 3"))
    [passage] = passages(document(*blocks, Block("Five.", 23)))
    assert passage.places == ((1, "row 2"), (3, "row 3"), (4, None))
    assert passages(document(*blocks[:1]))[0].places == ()


def test_a_sentence_is_on_the_page_where_it_begins() -> None:
    text = "One is here. Two goes\non. Three too."
    spots = (Spot(0, 1, "top"), Spot(5, 1, "bottom"), Spot(22, 2, "top"), Spot(26, 2, "middle"))
    found = passages(document(Block(text, 0, page=1, place="top", spots=spots), Block("Four.", 37, page=2)))
    assert [(p.text, p.page, p.places) for p in found] == [
        ("One is here. Two goes\non.", 1, ((0, "top"), (1, "bottom"))),
        ("Three too.\n\nFour.", 2, ((0, "middle"), (1, None))),
    ]


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


SENTENCES = st.builds(
    "The {} sails{}".format, st.sampled_from("ship boat Größe storm 日本 R&D".split()), st.sampled_from(".!?")
)
PLACED = st.tuples(SENTENCES, st.booleans(), st.sampled_from([None, "top", "row 3", "footnote 1"]))
PARTS = st.lists(st.tuples(st.booleans(), st.lists(PLACED, min_size=1, max_size=6)), max_size=12)


@given(PARTS, st.integers(5, 60))
def test_each_sentence_of_a_document_with_places_comes_once_and_where_it_is(
    parts: list[tuple[bool, list[tuple[str, bool, str | None]]]], max_words: int
) -> None:
    builder, wanted, page, part = Builder(), [], 1, 0
    for begins, sentences in parts:
        part += begins
        text, spots = "", []
        for sentence, turns, place in sentences:
            page += turns
            spots.append(Spot(len(text), page, place))
            text += f"{sentence} "
            wanted.append((sentence, page, place, str(part)))
        builder.add(text, part=str(part), spots=spots)
    made = Document(builder.source, builder.blocks)
    of_passages = passages(made, max_words=max_words)
    assert cited_sentences(made, max_words=max_words) == [each[:3] for each in wanted]
    rest = iter(wanted)
    for passage in of_passages:
        own = [next(rest) for _ in passage.sentences]
        assert len({(page, part) for _, page, _, part in own}) == 1
        assert [made.source[s.source_start : s.source_end] for s in passage.sentences] == [each[0] for each in own]
        assert len(passage.sentences) == 1 or len(passage.text.split()) <= max_words
