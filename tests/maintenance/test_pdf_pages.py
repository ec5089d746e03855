"""Pages of indexed PDF files are shown, if the files still are what was indexed."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from packages import needed
from sample_files.valid_files import pdf

from semsearch.errors import SourceChanged, SourceError, UsageError
from semsearch.index import Index
from semsearch.readers.document import Text
from semsearch.word_vectors.table import VectorTable

needed("pypdfium2")
needed("reportlab")


def draw(canvas: Any) -> None:
    canvas.drawString(40, 450, "The captain sails over the sea. A storm and a")
    canvas.drawString(40, 435, "wave. The anchor of the old ship holds in the")
    canvas.showPage()
    canvas.drawString(40, 450, "harbour of the island. Flour and butter.")
    canvas.showPage()


@pytest.fixture
def paper(tmp_path: Path) -> Path:
    (tmp_path / "docs").mkdir()
    path = tmp_path / "docs" / "paper.pdf"
    path.write_bytes(pdf(draw))
    return path


@pytest.fixture
def index(tmp_path: Path, paper: Path, small_vectors: VectorTable) -> Iterator[Index]:
    (paper.parent / "notes.md").write_text("A violin.", encoding="utf-8")
    with Index.create(tmp_path / "index", vectors=small_vectors) as made:
        made.sync(paper.parent)
        made.add([Text("T-1", "The judge in the court.", format="text")])
        yield made


def test_a_page_has_its_sentences_and_where_they_stand(index: Index) -> None:
    page = index.page("paper.pdf", 1)
    assert (page.page, page.pages, page.width, page.height) == (1, 2, 400, 500)
    assert [len(sentence.boxes) for sentence in page.sentences] == [1, 2, 1]
    hits = {hit.sentence_id: hit.sentence for hit in index.search("a storm and a wave on the sea")}
    assert hits.keys() & {sentence.sentence_id for sentence in page.sentences}
    assert all(sentence.text == hits.get(sentence.sentence_id, sentence.text) for sentence in page.sentences)
    assert all(0 <= box.left < box.left + box.width <= 1 for each in page.sentences for box in each.boxes)


def test_a_file_is_given_if_it_is_still_the_one_that_was_indexed(index: Index, paper: Path) -> None:
    assert index.file("paper.pdf") == paper.read_bytes()
    with pytest.raises(UsageError, match="which is in no file"):
        index.file("T-1")
    paper.write_bytes(paper.read_bytes() + b"\n")
    with pytest.raises(SourceChanged, match="has changed since it was indexed"):
        index.file(paper)


def test_a_sentence_that_ends_on_a_page_is_on_it_too(index: Index) -> None:
    first, second = index.page("paper.pdf", 1), index.page("paper.pdf", 2)
    assert second.sentences[0] != first.sentences[-1]
    assert second.sentences[0].sentence_id == first.sentences[-1].sentence_id
    assert [len(sentence.boxes) for sentence in second.sentences] == [1, 1]
    assert second.sentences[1].text == "Flour and butter."


def test_a_picture_is_png(index: Index, paper: Path) -> None:
    assert index.page_picture("paper.pdf", 1, width=200).startswith(b"\x89PNG")
    assert index.page_picture(paper, 1, width=200) != index.page_picture(paper, 2, width=200)


def write_other(path: Path) -> None:
    data = bytearray(path.read_bytes())
    data[-1] ^= 1
    path.write_bytes(data)


def write_longer(path: Path) -> None:
    path.write_bytes(path.read_bytes() + b"\n")


def link_elsewhere(path: Path) -> None:
    secret = path.parent.parent / "secret.pdf"
    secret.write_bytes(pdf(lambda canvas: canvas.drawString(40, 450, "Secret.")))
    path.unlink()
    path.symlink_to(secret)


def make_pipe(path: Path) -> None:
    path.unlink()
    os.mkfifo(path)


@pytest.mark.parametrize("change", [write_other, write_longer, link_elsewhere, make_pipe, Path.unlink])
def test_a_file_that_is_another_now_is_not_shown(index: Index, paper: Path, change: Callable[[Path], None]) -> None:
    if change is make_pipe and not hasattr(os, "mkfifo"):
        pytest.skip("no pipes with names on this system")
    change(paper)
    for look in (index.page, index.page_picture):
        with pytest.raises(SourceChanged, match=r"paper\.pdf (has changed since it was indexed|cannot be read)"):
            look("paper.pdf", 1)


def test_a_file_that_was_only_touched_is_shown(index: Index, paper: Path) -> None:
    os.utime(paper, (0, 0))
    assert index.page("paper.pdf", 1).pages == 2


@pytest.mark.parametrize("name", ["notes.md", "T-1"])
def test_other_documents_have_no_pages(index: Index, name: str) -> None:
    with pytest.raises(UsageError, match="is not a PDF file"):
        index.page(name, 1)


def test_what_is_not_in_the_index_is_not_shown(index: Index, paper: Path) -> None:
    other = paper.with_name("other.pdf")
    other.write_bytes(paper.read_bytes())
    with pytest.raises(SourceError, match="is not in the index"):
        index.page_picture(other, 1)
    with pytest.raises(UsageError, match="width must be at least 1"):
        index.page_picture(paper, 1, width=0)
