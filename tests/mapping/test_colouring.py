"""Colours say folder, type and document, and there are never too many of them."""

from __future__ import annotations

import numpy as np

from semsearch.mapping.colouring import MOST, REST, Colouring, DocumentSpan, colourings


def span(path: str, first: int, passages: int, *, format: str = "markdown") -> DocumentSpan:
    *folders, name = path.split("/")
    return DocumentSpan(tuple(folders), format, name, first, passages)


def spans(*paths: str, each: int = 2) -> list[DocumentSpan]:
    return [span(path, 10 + each * number, each) for number, path in enumerate(paths)]


def coloured(documents: list[DocumentSpan]) -> dict[str, Colouring]:
    ids = np.concatenate([np.arange(each.first, each.first + each.passages) for each in documents])
    return {each.by: each for each in colourings(documents, ids)}


def test_each_passage_has_the_group_of_its_document() -> None:
    found = coloured([span("a/x.md", 5, 2), span("b/y.txt", 20, 3, format="text")])
    folder, type_ = found["folder"], found["type"]
    assert [folder.names[number] for number in folder.numbers] == ["a/", "a/", "b/", "b/", "b/"]
    assert [type_.names[number] for number in type_.numbers] == ["markdown"] * 2 + ["text"] * 3
    assert folder.sizes() == [3, 2]  # the largest group first
    assert folder.names == ("b/", "a/")


def test_folders_are_told_apart_as_deep_as_there_are_colours() -> None:
    many = [f"big/{name}/{number}.md" for name in "xyz" for number in range(4)]
    found = coloured(spans(*many, "big/readme.md", "small/a.md", "top.md"))["folder"]
    assert set(found.names) == {"big/x/", "big/y/", "big/z/", "big/", "small/", "(top)"}
    deep = coloured(spans(*(f"{top}/{number}/a.md" for top in "ab" for number in range(10))))["folder"]
    assert set(deep.names) == {"a/", "b/"}


def test_more_documents_than_colours_share_a_last_one() -> None:
    found = coloured(spans(*(f"{number}.md" for number in range(30))))["document"]
    assert len(found.names) == MOST
    assert found.names[-1] == REST
    assert found.sizes()[-1] == 2 * (30 - MOST + 1)
