"""Regions are named by words that tell their passages from others; colours say folder, type and document."""

from __future__ import annotations

import numpy as np

from semsearch.mapping.regions import LEVELS, MOST, REST, Colouring, DocumentSpan, colourings, regions

WORDS = "anchor bakery comet daisy eagle fiddle gavel hammer igloo jungle kettle lantern".split()


def test_a_region_is_named_by_words_of_the_cluster_that_it_lies_on() -> None:
    corners = np.array([(x, y) for x in range(4) for y in range(3)], dtype=np.float32)
    each = 20
    noise = np.random.default_rng(0).normal(0, 0.02, (12 * each, 2))
    points = (np.repeat(corners, each, axis=0) + noise).astype(np.float32)
    texts = [f"The {WORDS[number // each]} of the common village" for number in range(12 * each)]
    found = [region for region in regions(points, np.arange(len(texts)), texts) if region.level == 0]
    assert len({region.words[0] for region in found}) > 8
    for region in found:
        assert WORDS[np.abs(corners - (region.x, region.y)).max(axis=1).argmin()] in region.words
        assert "common" not in region.words[:1]


def test_only_some_texts_need_to_be_read() -> None:
    points = np.random.default_rng(0).normal(0, 1, (1000, 2)).astype(np.float32)
    read = np.arange(0, 1000, 4)
    found = regions(points, read, ["a bright comet"] * len(read))
    assert 900 < sum(region.passages for region in found if region.level == 0) <= 1000


def test_few_passages_have_no_named_regions() -> None:
    assert regions(np.zeros((5, 2), dtype=np.float32), np.arange(5), ["a comet"] * 5) == ()
    assert LEVELS[0] * 8 > 5


def test_texts_without_words_name_nothing() -> None:
    points = np.random.default_rng(0).normal(0, 1, (200, 2)).astype(np.float32)
    assert regions(points, np.arange(200), ["12 34"] * 200) == ()


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
