"""Reading on around a citation: by line, by a range of lines, by a place, and on from where the last part ended."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from small import article

from semsearch.context import DocumentPart, cited_passage, read_part
from semsearch.errors import SourceError
from semsearch.index import Index
from semsearch.word_vectors.table import VectorTable


@pytest.fixture(scope="module")
def index(tmp_path_factory: pytest.TempPathFactory, small_vectors: VectorTable) -> Iterator[Index]:
    """A file of thirty sections, one on a single line, and a table, whose places are rows."""
    folder = tmp_path_factory.mktemp("read")
    (folder / "docs").mkdir()
    (folder / "docs" / "sea.md").write_text(article("sea", 0, paragraphs=30), encoding="utf-8")
    one = "".join(f"<h2>Part {number}</h2><p>A ship in storm {number}.</p>" for number in range(5))
    (folder / "docs" / "one.html").write_text(one, encoding="utf-8")
    rows = "\n".join(f"{number},a ship" for number in range(8))
    (folder / "docs" / "table.csv").write_text(f"number,what\n{rows}\n", encoding="utf-8")
    with Index.create(folder / "index", vectors=small_vectors) as index:
        index.sync(folder / "docs", text_columns=["what"])
        yield index


def part(index: Index, path: str, line: int | None = None, last: int | None = None, **given: int) -> DocumentPart:
    start = given.pop("start", None)
    wanted = {"around": 0, "max_words": 10_000} | given
    cited = path if line is None else f"{path}:{line}" if last is None else f"{path}:{line}-{last}"
    return read_part(index, cited, start=start, **wanted)


def lines(found: DocumentPart) -> list[int]:
    return [passage.sentences[0].line for passage in found.passages]


def test_a_line_is_its_passage_and_around_it_are_its_neighbours(index: Index) -> None:
    all_lines = lines(part(index, "sea.md"))
    assert lines(part(index, "sea.md", all_lines[9])) == all_lines[9:10]
    assert lines(part(index, "sea.md", all_lines[9], around=2)) == all_lines[7:12]
    assert lines(part(index, "sea.md", all_lines[0], around=1)) == all_lines[:2]
    assert lines(part(index, "sea.md", all_lines[4], all_lines[6])) == all_lines[4:7]


def test_a_place_is_understood_as_results_cite_it(index: Index) -> None:
    whole = part(index, "table.csv")
    cited = [cited_passage(passage, whole.of.path, whole.of.format) for passage in whole.passages]
    assert cited[3].endswith("table.csv:5")
    assert part(index, f"table.csv {whole.passages[2].sentences[0].place}").passages == whole.passages[2:3]


def test_what_has_no_room_is_where_the_next_part_starts(index: Index) -> None:
    whole, rounds, joined, start = part(index, "sea.md"), 0, [], 0
    while start is not None:
        found = part(index, "sea.md", start=start, max_words=100)
        joined += found.passages
        rounds, start = rounds + 1, found.next
    assert (rounds > 5, tuple(joined)) == (True, whole.passages)
    cut = part(index, "sea.md", max_words=5)
    assert cut.passages[0].text.endswith(" …")
    assert (len(cut.passages), cut.next) == (1, 1)


def test_the_cited_passage_is_whole_whatever_stands_before_it(index: Index) -> None:
    all_lines = lines(part(index, "sea.md"))
    (whole,) = part(index, "sea.md", all_lines[9]).passages
    words = len(whole.text.split())
    for most in (5, words - 1, words + 1, 2 * words, 2 * words + 10):
        found = part(index, "sea.md", all_lines[9], around=2, max_words=most)
        assert whole in found.passages
        assert not found.passages[0].text.endswith(" …")
        assert found.next is None or lines(found)[-1] >= all_lines[9]
    after = part(index, "sea.md", all_lines[9], around=2, max_words=5)
    assert (lines(after), after.next) == ([all_lines[9]], 10)
    assert lines(part(index, "sea.md", all_lines[9], around=2, start=10)) == all_lines[10:12]


def test_what_is_not_in_the_index_is_an_error(index: Index) -> None:
    with pytest.raises(SourceError, match="not in the index"):
        part(index, "no.md")
    assert part(index, "sea.md", start=99).passages == ()
