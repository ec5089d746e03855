"""An index that has followed any history of its folder answers as a new index of the folder does."""

from __future__ import annotations

import os
import shutil
import unicodedata
from collections.abc import Callable
from contextlib import suppress
from itertools import count
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from hypothesis import given, settings, strategies as st
from small import TOPICS, sentence, small_vectors

from semsearch.errors import SourceError
from semsearch.index import Index
from semsearch.topics import topic_fit

NAMES = [
    *("a.md", "A.md", "b.txt", "sub/a.md", "sub", "sub/deep/c.html", "sub2/a.md", "x [y].md", "f.py", "people.csv"),
    *("é.md", unicodedata.normalize("NFD", "é.md"), "n.jsonl", "link.md", ".gitignore", "vendor/modules.txt"),
]
BEFORE = [b"", b"\xef\xbb\xbf", b"# Head\n\n", b"---\nyear: 2020\n---\n", b"what\n", b"a,*.csv\nsub/\n"]
AFTER = [
    b"\n",
    b"\r\nAnd a rose.\r\n",
    "\nGröße.\n".encode("latin-1"),
    "\n日本語の文。\n".encode(),
    b"\nThe ship is old. " * 40,
]
names = st.sampled_from(NAMES)
contents = st.builds(
    lambda before, topic, numbers, after: before + "\n".join(sentence(topic, n) for n in numbers).encode() + after,
    *(st.sampled_from(BEFORE), st.sampled_from(sorted(TOPICS)), st.lists(st.integers(0, 9), max_size=4)),
    st.sampled_from(AFTER),
)
steps = st.one_of(
    st.tuples(st.just("write"), names, contents),
    st.tuples(st.sampled_from(["move", "copy", "link"]), names, names),
    st.tuples(st.sampled_from(["delete", "touch", "sync"]), names, st.none()),
    st.tuples(st.sampled_from(["refit", "rebuild"]), st.none(), st.none()),
)
CLOCK = count(1)  # a file of the same size and time is the same, to a sync
QUERIES = ["the captain of the ship", "bread in the oven", "judge -ship", '"the star"', "Größe", "日本語"]


def write(path: Path, content: bytes) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(content)


def take(docs: Path, index: Index, step: tuple[str, str | None, object]) -> None:
    """Take a step of a history; one that the file system refuses changes nothing."""
    what, first, second = step
    if first is None:
        getattr(index, what)()
        return
    path, other = docs / first, docs / str(second)
    acts: dict[str, Callable[[], object]] = {
        "write": lambda: write(path, second if isinstance(second, bytes) else b""),
        "move": lambda: path.rename(other),
        "copy": lambda: write(other, path.read_bytes()),
        "link": lambda: other.symlink_to(path),
        "delete": lambda: shutil.rmtree(path) if path.is_dir() and not path.is_symlink() else path.unlink(),
        "touch": lambda: os.utime(path, (1, next(CLOCK))),
        "sync": lambda: index.sync(path),
    }
    with suppress(OSError, SourceError):
        acts[what]()


def contents_of(index: Index) -> list[object]:
    """What an index says of its documents, and which passages have the words of queries, which no fit changes."""
    listed = [
        (document.path, document.title, document.metadata, document.passages, index.document(document.path).text)
        for document in index.documents()
    ]
    problems = [(problem.path, problem.reason) for problem in index.problems()]
    verdicts = [index.search(query, mode="lexical").verdict for query in QUERIES]
    return [listed, problems, index.facets(values=100), verdicts, [row[:-1] for row in answers_of(index)]]


def answers_of(index: Index) -> list[tuple[str, str, str, int, float]]:
    """The hits of each query with their scores last, in an order that does not depend on their ids."""
    return sorted(
        (query, hit.passage, hit.sentence, hit.line, hit.score)
        for query in QUERIES
        for hit in index.search(query, 100, mode="lexical", duplicates=True)
    )


@given(st.lists(st.tuples(names, contents), min_size=8, max_size=8), st.lists(st.lists(steps, max_size=4), max_size=5))
@settings(max_examples=8)
def test_an_index_says_of_a_folder_what_a_new_one_says(
    first: list[tuple[str, bytes]], history: list[list[tuple[str, str | None, object]]]
) -> None:
    with TemporaryDirectory() as name, pytest.MonkeyPatch.context() as patch:
        patch.setattr(topic_fit, "LEAST", 8)
        folder = Path(name)
        docs, vectors = folder / "docs", small_vectors(folder)
        write(docs / "always.md", b"A ship.")
        with Index.create(folder / "index", vectors=vectors) as index:
            for path, content in first:
                take(docs, index, ("write", path, content))
            for number, changes in enumerate([[], *history]):
                for step in changes:
                    take(docs, index, step)
                index.sync(docs)
                assert index.verify() == []
                assert index.sync(docs).unchanged == len(index)
                with Index.create(folder / f"new-{number}", vectors=vectors) as new:
                    new.sync(docs)
                    assert contents_of(index) == contents_of(new)
                    scores, expected = ([row[-1] for row in answers_of(one)] for one in (index, new))
                    assert scores == pytest.approx(expected, abs=1e-4)
            for hit in index.search(QUERIES[0], duplicates=True):
                assert hit.explain().score == pytest.approx(hit.score)
