"""The passages of a document come a part at a time, with the places of their sentences."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from semsearch.errors import SourceError, UsageError
from semsearch.index import Index
from semsearch.readers.document import Text
from semsearch.results.documents import DocumentPassages
from semsearch.word_vectors.table import VectorTable

SECTIONS = 30
GUIDE = "\n\n".join(f"# Part {number}\n\nThe ship {number} sails. A storm and a wave." for number in range(SECTIONS))


@pytest.fixture
def index(tmp_path: Path, small_vectors: VectorTable) -> Iterator[Index]:
    (tmp_path / "docs").mkdir()
    (tmp_path / "docs" / "guide.md").write_text(GUIDE, encoding="utf-8")
    with Index.create(tmp_path / "index", vectors=small_vectors) as made:
        made.sync(tmp_path / "docs")
        made.add([Text("T-1", "The judge in the court.")])
        yield made


def parts(index: Index, limit: int) -> list[DocumentPassages]:
    found, offset = list[DocumentPassages](), 0
    while True:
        found.append(index.passages("guide.md", offset=offset, limit=limit))
        following = found[-1].next
        if following is None:
            return found
        offset = following


@pytest.mark.parametrize("limit", [1, 7, 30, 100])
def test_parts_make_up_the_document(index: Index, limit: int) -> None:
    found = parts(index, limit)
    passages = [passage for part in found for passage in part.passages]
    texts = [text for passage in passages for text in (*passage.headings, passage.text)]
    assert "\n\n".join(texts) == index.document("guide.md").text
    assert all(len(part.passages) <= limit and part.count == SECTIONS for part in found)
    assert [passage.passage_id for passage in passages] == sorted(passage.passage_id for passage in passages)


def test_the_sentences_of_a_part_are_those_of_hits(index: Index) -> None:
    for hit in index.search("the ship 17 in a storm", 5):
        part = index.passages("guide.md", limit=7, sentence=hit.sentence_id)
        assert part.found is not None
        passage = part.passages[part.found - part.offset]
        (sentence,) = [one for one in passage.sentences if one.sentence_id == hit.sentence_id]
        assert passage.passage_id == hit.passage_id
        assert passage.headings == hit.headings
        assert passage.text[sentence.start : sentence.end] == hit.sentence
        assert (sentence.line, sentence.place, passage.page) == (hit.line, hit.place, hit.page)


def test_a_part_is_sought_by_passage_and_by_line(index: Index) -> None:
    first = index.passages("guide.md").passages[0].passage_id
    assert index.passages("guide.md", limit=7, passage=first + 20).found == 20
    assert index.passages("guide.md", limit=7, line=4 * 12 + 3).found == 12
    found = index.passages("guide.md", limit=7, line=10**6)
    assert (found.found, found.offset, found.next) == (SECTIONS - 1, 28, None)


def test_a_document_whose_file_has_changed_says_so_and_shows_what_was_indexed(index: Index, tmp_path: Path) -> None:
    assert not index.passages("guide.md").stale
    (tmp_path / "docs" / "guide.md").write_text("Something else.", encoding="utf-8")
    found = index.passages("guide.md")
    assert found.stale
    assert found.passages[0].text.startswith("The ship 0 sails.")
    assert not index.passages("T-1").stale


def test_what_makes_no_sense_is_refused(index: Index) -> None:
    with pytest.raises(UsageError, match="offset"):
        index.passages("guide.md", offset=-1)
    with pytest.raises(UsageError, match="limit"):
        index.passages("guide.md", limit=0)
    with pytest.raises(SourceError, match="is not in the index"):
        index.passages("other.md")


def test_a_place_behind_the_path_is_what_is_sought(tmp_path: Path, small_vectors: VectorTable) -> None:
    rows = "\n".join(f"The ship {number} sails." for number in range(5))
    (tmp_path / "table.csv").write_text(f"what\n{rows}\n", encoding="utf-8")
    with Index.create(tmp_path / "index", vectors=small_vectors) as made:
        made.sync(tmp_path / "table.csv", text_columns=["what"])
        place = made.passages("table.csv").passages[3].sentences[0].place
        assert made.passages(f"table.csv {place}", limit=1).found == 3
