"""More like this: what stands for a passage or a document, what is left out, and what cannot be meant."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from small import small_vectors, write_articles

from semsearch.errors import SourceError, UsageError
from semsearch.index import Index
from semsearch.readers.document import Text


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("similar")
    write_articles(folder / "docs", 30)
    write_articles(folder / "more" / "deep", 2, first=30)
    for path in ("docs/same.md", "more/same.md"):
        (folder / path).write_text("---\na: 1\n---\n# Same\n\nThe rose in the garden.\n\nA violin.\n\n\n")
    (folder / "docs" / "empty.md").write_text("")
    (folder / "single.txt").write_text("The judge and the jury in the court.\n")
    return folder


@pytest.fixture(scope="module")
def index(folder: Path) -> Iterator[Index]:
    with Index.create(folder / "index", vectors=small_vectors(folder), components=1) as made:
        made.sync(folder / "docs", folder / "more", folder / "single.txt")
        made.add([Text("note:7", "A telescope for the comet and the moon."), Text("strange", "Qwerty uiop.")])
        yield made


@pytest.fixture(autouse=True)
def here(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(folder)


@pytest.mark.parametrize("mode", ["hybrid", "dense", "lexical"])
def test_a_document_finds_others_of_its_topic(index: Index, mode: str) -> None:
    hits = index.search("the telescope and the comet", 1, filters=["night-2.md"])
    for like in ("docs/night-2.md", hits[0]):
        found = index.similar(like, k=5, mode=mode)  # type: ignore[arg-type]
        assert [hit.rank for hit in found] == [1, 2, 3, 4, 5]
        assert all(hit.document.split("/")[-1][:5] in ("night", "note:") for hit in found)


def test_a_document_is_no_answer_to_itself_and_a_passage_neither(index: Index) -> None:
    assert all(hit.document != "night-2.md" for hit in index.similar("docs/night-2.md", k=500))
    (hit,) = index.search("star", 1, filters=["night-2.md"])
    assert all(other.document != "night-2.md" for other in index.similar(hit, k=500))
    found = index.similar(hit, k=500, mode="dense", same_document=True)
    assert hit.passage_id not in {other.passage_id for other in found}
    assert sum(other.document == "night-2.md" for other in found) == 2  # they stand under other headings
    assert len(found) == sum(1 + len(h.duplicates) for h in index.search("star", 500, mode="dense")) - 1 - sum(
        len(other.duplicates) for other in found
    )


def test_neighbours_in_the_same_section_go_on_with_it_and_are_left_out(tmp_path: Path) -> None:
    with Index.create(tmp_path / "index", vectors=small_vectors(tmp_path), components=1) as index:
        long = "\n\n".join(
            " ".join(["The ship and the captain sail to the harbour"] * 12 + [f"{n}."]) for n in range(8)
        )
        index.add([Text("a", f"# A\n\n{long}\n\n# B\n\nA ship.\n", format="markdown"), Text("b", "A captain.")])
        (hit,) = index.search("ship harbour", 1, filters=["path=a"])
        assert {other.document for other in index.similar(hit, k=50, mode="dense")} == {"b"}
        found = index.similar(hit, k=50, mode="dense", duplicates=True, same_document=True)
        shown = {other.passage_id for other in found}
        count = index.status().passages
        assert count > 5
        assert shown == set(range(1, count + 1)) - {hit.passage_id - 1, hit.passage_id, hit.passage_id + 1}


def test_filters_and_the_rest_hold_as_for_a_query(index: Index) -> None:
    found = index.similar("docs/night-2.md", k=3, filters=["sea-0.md"], context=1)
    assert [hit.document for hit in found] == ["sea-0.md"] * 3
    assert found[0].before or found[0].after
    scores = [hit.score for hit in index.similar("docs/night-2.md", k=20)]
    assert [hit.score for hit in index.similar("docs/night-2.md", k=20, min_score=scores[4])] == scores[:5]
    assert index.similar("docs/night-2.md", filters=["night-2.md"]) == []


def test_a_path_that_is_not_one_document_is_told(index: Index, folder: Path) -> None:
    with pytest.raises(SourceError, match=r"docs/same\.md and .*more/same\.md; write the full path"):
        index.similar("same.md")
    with pytest.raises(SourceError, match=r"did you mean docs/night-2\.md\?"):
        index.similar("elsewhere/night-2.md")
    for strange in ("nowhere.md", "", "100%_", "a\0b", str(folder)):
        with pytest.raises(SourceError, match="not in the index"):
            index.similar(strange)
    with pytest.raises(SourceError, match="no text"):
        index.similar("docs/empty.md")


def test_a_line_means_the_passage_that_is_read_there(index: Index, folder: Path) -> None:
    lines = (folder / "docs" / "sea-0.md").read_text().splitlines()
    hits = {hit.headings[-1]: hit for hit in index.search("ship", 500, filters=["sea-0.md"], mode="dense")}
    for number in range(1, len(lines) + 1):
        part = "Part 1" if number < 6 else "Part 2" if number < 10 else "Part 3"
        assert index.similar("docs/sea-0.md", number) == index.similar(hits[part]), number
        assert index.similar(f"docs/sea-0.md:{number}, Ships") == index.similar(hits[part]), number


def test_a_line_that_is_not_there_is_told(index: Index) -> None:
    assert index.similar("docs/same.md", 10)  # an empty one, at the end
    with pytest.raises(UsageError, match=r"same\.md ends at line 10; give a line from 1 to 10"):
        index.similar("docs/same.md", 11)
    with pytest.raises(UsageError, match=r"note:7 ends at line 1;"):
        index.similar("note:7", 2)
    for line in (0, -3, 1.5, True, "4"):
        with pytest.raises(UsageError, match="whole number from 1 on"):
            index.similar("docs/same.md", line)  # type: ignore[arg-type]


def test_a_hit_whose_passage_has_gone_is_told(tmp_path: Path) -> None:
    with Index.create(tmp_path / "index", vectors=small_vectors(tmp_path), components=1) as index:
        index.add([Text("a", "A ship."), Text("b", "A sail.")])
        hit, _ = index.search("ship", mode="dense")
        index.add([Text("a", "A judge.")])
        with pytest.raises(UsageError, match="search again"):
            index.similar(hit)
        with pytest.raises(UsageError, match="line"):
            index.similar(hit, 3)
        with pytest.raises(UsageError, match="a hit, or a path"):
            index.similar(3)  # type: ignore[arg-type]


def test_a_passage_of_unknown_words_is_compared_by_its_words(index: Index, caplog: pytest.LogCaptureFixture) -> None:
    assert index.similar("strange", mode="dense") == []
    assert "the word vectors have no word of strange" in caplog.text
    assert index.similar("strange") == []
