"""Contexts for a language model: numbered, and never above the budget."""

from semsearch.context import assemble
from semsearch.hits import Hit
from semsearch.size import count_words


def hit(passage: str, *, path: str = "a.txt") -> Hit:
    return Hit(
        rank=1, score=1.0, dense=None, lexical=None, path=path, root="", document=path, title="", line=3, page=None,
        headings=("Head",), sentence=passage, passage=passage, start=0, end=len(passage), passage_id=1, sentence_id=1,
    )  # fmt: skip


def test_each_passage_has_its_number_and_its_place() -> None:
    made = assemble([hit("One bee."), hit("Two bees.", path="b.txt")], max_words=50)
    assert made.text == "[1] a.txt:3 > Head\nOne bee.\n\n[2] b.txt:3 > Head\nTwo bees."
    assert [(citation.number, citation.path) for citation in made.citations] == [(1, "a.txt"), (2, "b.txt")]


def test_the_first_passage_is_cut_to_fit_and_later_ones_that_do_not_fit_are_left_out() -> None:
    made = assemble([hit("word " * 100), hit("Short.")], max_words=20)
    assert made.text == "[1] a.txt:3 > Head\n" + " ".join(["word"] * 16) + " …"
    assert len(made.citations) == 1
    assert [
        citation.path for citation in assemble([hit("One."), hit("word " * 100), hit("Two.")], max_words=20).citations
    ]


def test_text_without_spaces_cannot_burst_the_budget() -> None:
    for blob in ("QUJD" * 200_000, "今天天气很好。" * 1000):
        text = assemble([hit(blob)], max_words=200).text
        assert 190 <= count_words(text) <= 203
        assert len(text) < 2050
