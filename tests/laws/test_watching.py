"""After any sequence of changes, an index that was told of them has what a new index of the same files has."""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Iterator
from pathlib import Path

from hypothesis import given, settings, strategies as st

from semsearch.index import Index
from semsearch.indexing.follow_files import sync_changes
from semsearch.readers.registry import MAX_BYTES
from semsearch.word_vectors.table import VectorTable

FOLDERS = ("", "a/", "a/b/", "c/")
NAMES = ("x.txt", "y.md", "z.png", ".hidden.txt")
TEXTS = ("The captain has a ship.", "The bread is in the oven.", "", "A rose in the garden.")
RULES = ("x.txt", "b/", "[!k]*", "!x.txt")
KEPT = "kept.txt"  # a root whose last file goes is a question to the user

paths = st.builds("{}{}".format, st.sampled_from(FOLDERS), st.sampled_from(NAMES))
folders = st.sampled_from([folder.rstrip("/") for folder in FOLDERS if folder])
changes = st.one_of(
    st.tuples(st.just("write"), paths, st.sampled_from(TEXTS)),
    st.tuples(st.just("delete"), paths | folders, st.just("")),
    st.tuples(st.just("move"), paths | folders, paths | folders),
    st.tuples(st.just("rules"), st.sampled_from(FOLDERS), st.lists(st.sampled_from(RULES)).map("\n".join)),
)


def change(root: Path, kind: str, first: str, second: str) -> set[Path]:
    """Make a change, if it can be made: the paths that a system would tell of."""
    place = root / (f"{first}.gitignore" if kind == "rules" else first)
    above = {folder for folder in place.parents if folder != root and root in folder.parents and not folder.exists()}
    if kind in ("write", "rules") and not place.is_dir() and all(not folder.is_file() for folder in place.parents):
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_text(second)
        return above | {place}
    if kind == "delete" and place.exists():
        shutil.rmtree(place) if place.is_dir() else place.unlink()
        return {place}
    target = root / second
    if kind == "move" and place.exists() and not target.exists() and target.parent.is_dir():
        if place in target.parents:
            return set()
        place.rename(target)
        return {place, target}
    return set()


def contents(index: Index) -> list[tuple[object, ...]]:
    with index._database.reading() as db:
        return db.execute(
            "SELECT documents.path, digest, size, passages.text FROM documents LEFT JOIN passages "
            "ON passages.document_id = documents.id ORDER BY documents.path, passages.id"
        ).fetchall()


@settings(max_examples=8)
@given(st.lists(st.lists(changes, min_size=1, max_size=4), min_size=1, max_size=5))
def test_a_watched_index_is_what_a_new_one_would_be(
    small_vectors: VectorTable, rounds: list[list[tuple[str, str, str]]]
) -> None:
    with tempfile.TemporaryDirectory() as temporary:
        folder = Path(temporary).resolve()
        root = folder / "docs"
        root.mkdir()
        (root / KEPT).write_text("The judge in the court.")

        def batches() -> Iterator[frozenset[str]]:
            yield frozenset()
            for steps in rounds:
                yield frozenset(path.as_posix() for step in steps for path in change(root, *step))

        with (
            Index.create(folder / "index", vectors=small_vectors) as watched,
            Index.create(folder / "new", vectors=small_vectors) as new,
        ):
            watched.sync(root)
            for _ in sync_changes(watched._database, watched._writer, batches(), max_file_bytes=MAX_BYTES, processes=1):
                pass
            new.sync(root)
            assert contents(watched) == contents(new)
            assert watched.verify() == []
            found = [
                {hit.path for hit in index.search("captain bread rose judge", 20, duplicates=True)}
                for index in (watched, new)
            ]
            assert found[0] == found[1]
