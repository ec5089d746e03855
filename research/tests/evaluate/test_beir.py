"""Test collections in BEIR's layout: what is read, and what is said about a broken one."""

from __future__ import annotations

import json
import logging
from collections.abc import Mapping
from pathlib import Path

import pytest

from semsearch.errors import SourceError
from semsearch.readers.document import Text
from semsearch_research.evaluate.beir import read_collection

HEADER = "query-id\tcorpus-id\tscore\n"
CORPUS = [
    {"_id": "d1", "title": "Ships", "text": "A ship."},
    {"_id": 2, "text": "Bread."},
    {"_id": "d3", "title": None},
]
QUERIES = [{"_id": "q1", "text": "sail"}, {"_id": "q2", "text": "oven"}, {"_id": "q3", "text": "moon"}]
FILES = {
    "corpus.jsonl": "\n".join(map(json.dumps, CORPUS)),
    "queries.jsonl": "\n\n".join(map(json.dumps, QUERIES)) + "\r\n",
    "qrels/test.tsv": HEADER + "q1\td1\t2\nq1\t2\t0\nq2\t2\t1\nq3\td1\t0\nq3\td3\t-1\n",
}


def write(folder: Path, files: Mapping[str, str | bytes]) -> Path:
    for name, content in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content if isinstance(content, bytes) else content.encode())
    return folder


def test_a_collection_has_its_documents_its_judged_queries_and_their_gains(tmp_path: Path) -> None:
    collection = read_collection(write(tmp_path / "small", FILES))
    assert collection.name == "small"
    assert collection.documents == [Text("d1", "A ship.", title="Ships"), Text("2", "Bread."), Text("d3", "")]
    assert collection.relevant == {"q1": {"d1": 2, "2": 0}, "q2": {"2": 1}}


def test_a_relevant_document_that_is_not_there_is_told_and_kept(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    with caplog.at_level(logging.WARNING, logger="semsearch_research.evaluate.beir"):
        collection = read_collection(write(tmp_path, {**FILES, "qrels/test.tsv": HEADER + "q1\tgone\t1\nq1\td1\t1\n"}))
    assert collection.relevant == {"q1": {"gone": 1, "d1": 1}}
    assert "gone" in caplog.text


@pytest.mark.parametrize("name", list(FILES))
def test_a_missing_file_is_named(tmp_path: Path, name: str) -> None:
    write(tmp_path, FILES)
    (tmp_path / name).unlink()
    with pytest.raises(SourceError, match=f"has no {name}"):
        read_collection(tmp_path)


BROKEN = {
    "not JSON": (
        "corpus.jsonl",
        '{"_id": "d1", "text": ""}\n{"_id":\n',
        r"corpus\.jsonl, line 2: expected a JSON object",
    ),
    "no object": ("queries.jsonl", "[1]\n", r"queries\.jsonl, line 1: expected a JSON object, found '\[1\]'"),
    "no id": ("corpus.jsonl", '{"text": "x"}\n', r"corpus\.jsonl, line 1: expected an object with an _id"),
    "empty id": (
        "corpus.jsonl",
        '{"_id": " ", "text": "x"}\n',
        r"corpus\.jsonl, line 1: expected an object with an _id",
    ),
    "id twice": (
        "corpus.jsonl",
        '{"_id": "1"}\n\n{"_id": 1}\n',
        r"corpus\.jsonl, line 3: the _id '1' is that of line 1",
    ),
    "no text": ("corpus.jsonl", '{"_id": "d1", "text": 3}\n', r"corpus\.jsonl, line 1: expected a string as text"),
    "not UTF-8": ("queries.jsonl", b'{"_id": "q1"}\n{"_id": "\xe9"}\n', r"queries\.jsonl, line 2: this is not UTF-8"),
    "empty": ("corpus.jsonl", "\n", r"corpus\.jsonl is empty"),
    "two columns": ("qrels/test.tsv", HEADER + "q1\td1\n", r"test\.tsv, line 2: expected query-id"),
    "TREC's columns": ("qrels/test.tsv", HEADER + "q1\t0\td1\t1\n", r"test\.tsv, line 2: expected query-id"),
    "half a point": ("qrels/test.tsv", HEADER + "q1\td1\t0.5\n", r"test\.tsv, line 2: .* whole number"),
    "infinite": ("qrels/test.tsv", HEADER + "q1\td1\tinf\n", r"test\.tsv, line 2: .* whole number"),
    "no header": ("qrels/test.tsv", "q1\td1\t1\n", r"test\.tsv, line 1: expected the header"),
    "unknown query": ("qrels/test.tsv", HEADER + "q9\td1\t1\n", r"test\.tsv, line 2: queries.jsonl has no query 'q9'"),
    "nothing relevant": ("qrels/test.tsv", HEADER + "q1\td1\t0\n", r"names no relevant document"),
}


@pytest.mark.parametrize("case", list(BROKEN))
def test_a_broken_file_is_named_with_its_line(tmp_path: Path, case: str) -> None:
    name, content, said = BROKEN[case]
    write(tmp_path, {**FILES, name: content})
    with pytest.raises(SourceError, match=said) as caught:
        read_collection(tmp_path)
    assert "\n" not in str(caught.value)
