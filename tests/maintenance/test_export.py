"""What an index holds, in files of other programs and back."""

from __future__ import annotations

import io
import json
import os
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from small import write_articles

from semsearch import Hit, Index, Text, VectorTable
from semsearch.errors import SemsearchError, SourceError, StorageError, UsageError

QUERIES = ["a ship in the storm", "the judge and the jury", "bread", "tables of figures"]


@pytest.fixture(scope="module")
def index(tmp_path_factory: pytest.TempPathFactory, small_vectors: VectorTable) -> Iterator[Index]:
    """Files of several kinds, some with places and metadata of their own, and a text."""
    folder = tmp_path_factory.mktemp("exported")
    write_articles(folder / "docs", 6)
    (folder / "docs" / "figures.csv").write_text("name,about\nrose,a seed in the soil\nmoon,a star at night\n")
    (folder / "docs" / "front.md").write_text("---\nauthor: Ada\nday: 2024-05-01\n---\n# Bread\n\nThe oven. A cake.\n")
    with Index.create(folder / "index", vectors=small_vectors) as made:
        made.sync(folder / "docs", metadata_columns=["name"], text_columns=["about"])
        made.add([Text("T-1", "A ship.\n\nA sail in the storm.", title="Ships", metadata={"year": 2024})])
        made.refit()  # to all of it, as an index that is made of it is
        yield made


def rows(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]


def comparable(hit: Hit) -> dict[str, Any]:
    """A hit, less what says in which index it is."""
    ours = hit.to_dict()
    for name in ("root", "document", "passage_id", "sentence_id"):
        del ours[name]
    duplicates = [{"path": each["path"], "line": each["line"]} for each in ours.pop("duplicates")]
    scores = {name: ours.pop(name) for name in ("score", "dense", "lexical")}
    return ours | {"duplicates": duplicates} | {k: v if v is None else round(v, 4) for k, v in scores.items()}


def test_an_index_of_what_was_exported_gives_the_same_hits(
    index: Index, small_vectors: VectorTable, tmp_path: Path
) -> None:
    assert index.export(tmp_path / "all.jsonl") == 9
    with Index.create(tmp_path / "index", vectors=small_vectors) as other:
        assert other.load(tmp_path / "all.jsonl").added == 9
        assert other.verify() == []
        for query, there in zip(QUERIES, other.search_many(QUERIES, context=1), strict=True):
            assert [*map(comparable, there)] == [*map(comparable, index.search(query, context=1))]
        assert other.load(tmp_path / "all.jsonl").unchanged == 9
        assert other.search("rose", filters=["name=rose"])
        assert other.search("bread", filters=["author=Ada"])


@pytest.mark.parametrize("unit", ["documents", "passages", "sentences"])
def test_each_row_can_have_its_vector(index: Index, unit: Any, tmp_path: Path) -> None:
    counts = {"documents": 9, "passages": index.status().passages, "sentences": index.status().sentences}
    assert index.export(tmp_path / "v.jsonl", unit=unit, vectors=True) == counts[unit]
    by_line = rows(tmp_path / "v.jsonl")
    vectors = np.array([row["vector"] for row in by_line])
    assert np.linalg.norm(vectors, axis=1) == pytest.approx(1, abs=1e-2)
    if unit == "sentences":
        assert np.allclose(vectors, index.embed([row["text"] for row in by_line]), atol=1e-2)


def test_passages_and_sentences_say_where_they_stand(index: Index, tmp_path: Path) -> None:
    index.export(tmp_path / "p.jsonl", unit="passages")
    index.export(tmp_path / "s.jsonl", unit="sentences")
    passages = {row["passage_id"]: row for row in rows(tmp_path / "p.jsonl")}
    sentences = {row["sentence_id"]: row for row in rows(tmp_path / "s.jsonl")}
    for query in QUERIES:
        for hit in index.search(query):
            passage, sentence = passages[hit.passage_id], sentences[hit.sentence_id]
            assert (passage["document"], passage["text"], passage["headings"]) == (
                hit.path, hit.passage, [*hit.headings],
            )  # fmt: skip
            assert passage["metadata"] == hit.metadata
            assert (sentence["text"], sentence["line"], sentence["place"]) == (hit.sentence, hit.line, hit.place)
            assert sentence["passage_id"] == hit.passage_id


def test_filters_choose_what_is_exported(index: Index, tmp_path: Path) -> None:
    assert index.export(tmp_path / "some.jsonl", filters=["author=Ada"]) == 1
    assert [row["title"] for row in rows(tmp_path / "some.jsonl")] == ["Bread"]
    assert index.export(tmp_path / "none.jsonl", filters=["nowhere/"]) == 0


def test_an_open_file_gets_the_lines(index: Index) -> None:
    out = io.BytesIO()
    assert index.export(out, unit="sentences") == len(out.getvalue().splitlines())


@pytest.mark.skipif(os.name == "nt", reason="it has no pipes with a path")
def test_a_pipe_gets_the_lines_and_stays_one_as_a_link_does(index: Index, tmp_path: Path) -> None:
    pipe, link = tmp_path / "pipe", tmp_path / "link"
    os.mkfifo(pipe)
    link.symlink_to(tmp_path / "out.jsonl")
    with os.fdopen(os.open(pipe, os.O_RDONLY | os.O_NONBLOCK), "rb") as end:
        assert index.export(pipe) == index.export(link) == len(index)
        lines = end.read()
    assert pipe.is_fifo()
    assert link.is_symlink()
    assert (tmp_path / "out.jsonl").read_bytes() == lines


def test_what_cannot_be_exported_is_refused_and_no_file_is_left(index: Index, tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="unit must be one of documents, passages, sentences, not 'words'"):
        index.export(tmp_path / "a.jsonl", unit="words")  # type: ignore[arg-type]
    with pytest.raises(StorageError, match="nowhere"):
        index.export(tmp_path / "nowhere" / "a.jsonl")
    assert list(tmp_path.iterdir()) == []


GOOD = {
    "id": "a",
    "text": "A ship.",
    "passages": [{"headings": ["A"], "line": 1, "page": None, "text": "A ship.", "sentences": [[0, 7, 0, 7, 1]]}],
}


def test_the_least_that_an_exported_document_has_is_taken(small_vectors: VectorTable, tmp_path: Path) -> None:
    with Index.create(tmp_path / "index", vectors=small_vectors) as index:
        assert index.add([GOOD]).added == 1
        (hit,) = index.search("ship")
        assert (hit.path, hit.headings, hit.sentence, hit.line) == ("a", ("A",), "A ship.", 1)


@pytest.mark.parametrize(
    "change",
    [
        {"text": 3},
        {"text": None},
        {"headings": "A"},
        {"headings": [3]},
        {"line": -1},
        {"line": "1"},
        {"page": 1.5},
        {"sentences": [[0, 99, 0, 7, 1]]},
        {"sentences": [[0, 7, 0, 7]]},
        {"sentences": [[7, 0, 0, 7, 1]]},
        {"sentences": [[3, 7, 0, 7, 1], [0, 3, 0, 7, 1]]},
        {"sentences": ["0:7"]},
        {"sentences": [[0, 7, 0, 1 << 40, 1]]},
        {"sentences": [[True, 7, 0, 7, 1]]},
        {"sentences": 3},
        {"places": "slide 3"},
        {"places": [["x", "slide 3"]]},
        {"places": [3]},
        {"metadata": 3},
    ],
)
def test_what_no_index_has_exported_is_refused_and_nothing_is_kept(
    change: dict[str, Any], small_vectors: VectorTable, tmp_path: Path
) -> None:
    bad = {**GOOD, "id": "b", "passages": [{**GOOD["passages"][0], **change}]}  # type: ignore[dict-item]
    with Index.create(tmp_path / "index", vectors=small_vectors) as index:
        with pytest.raises(UsageError):
            index.add([GOOD, bad])
        assert len(index) == 0


@pytest.mark.parametrize(
    ("name", "content", "said"),
    [
        ("a.jsonl", b'{"id": "a", "text": "A ship."}\n{"id": \n', "line 2, is not JSON"),
        ("a.jsonl", b'{"id": "a", "text": "A ship."}\n[1]\n', "line 2, is list, not an object"),
        ("a.jsonl", b"\xff\xfe", "line 1, is not JSON"),
    ],
)
def test_a_file_that_cannot_be_read_is_refused_and_nothing_is_kept(
    name: str, content: bytes, said: str, small_vectors: VectorTable, tmp_path: Path
) -> None:
    (tmp_path / name).write_bytes(content)
    with Index.create(tmp_path / "index", vectors=small_vectors) as index:
        with pytest.raises(SourceError, match=re.escape(said)):
            index.load(tmp_path / name)
        with pytest.raises(SemsearchError):
            index.load(tmp_path / "nowhere.jsonl")
        assert len(index) == 0
