"""A segment that is not as it was written is told of by the first answer that needs it: no answer is silently wrong."""

from __future__ import annotations

import os
import random
import shutil
import sys
from pathlib import Path
from typing import get_args

import pytest
from disk_faults.damaged_bytes import WAYS
from processes.crashing import LEAST
from small import small_vectors, write_articles

from semsearch.errors import IndexDamaged
from semsearch.index import Index
from semsearch.results.options import Mode
from semsearch.topics import topic_fit

QUERIES = ["the captain of the ship", "bread from the oven", "a violin and a judge"]
TIMES = 4  # that each file is damaged in each way


def made(folder: Path) -> Path:
    """An index with a segment of every kind, in a folder."""
    small_vectors(folder)
    write_articles(folder / "docs", 20)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(topic_fit, "LEAST", LEAST)
        with Index.create(folder / "index", vectors=folder / "small") as index:
            index.sync(folder / "docs")
    assert {path.suffix for path in segments(folder / "index")} == {".faiss", ".postings", ".topics"}
    return folder / "index"


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return made(tmp_path_factory.mktemp("whole"))


def segments(index: Path) -> list[Path]:
    return sorted((index / "segments").iterdir())


def answers(path: Path) -> list[object]:
    """What an index answers, and where it says that it is damaged and to be rebuilt."""
    with Index.open(path, trust=True) as index:
        found: list[object] = []
        for query in QUERIES:
            for mode in get_args(Mode):
                try:
                    hits = index.search(query, 5, mode=mode)
                    found.append([(hit.path, hit.sentence, hit.score) for hit in hits])
                except IndexDamaged as error:
                    found.append(IndexDamaged if "semsearch index --rebuild" in str(error) else error)
        return found


@pytest.mark.parametrize("damage", WAYS)
def test_no_answer_is_wrong_without_a_word(whole: Path, tmp_path: Path, damage: str) -> None:
    right = answers(whole)
    told = 0
    for file in segments(whole):
        for seed in range(TIMES):
            copy = tmp_path / f"{file.name}-{seed}"
            shutil.copytree(whole, copy)
            before = file.read_bytes()
            data = bytearray(before)
            WAYS[damage](data, random.Random(f"{damage} {file.suffix} {seed}"))
            (copy / "segments" / file.name).write_bytes(data)
            found = answers(copy)
            assert all(one in (answer, IndexDamaged) for one, answer in zip(found, right, strict=True)), file.name
            told += IndexDamaged in found
            shutil.rmtree(copy)
    assert told > TIMES  # not only what nobody reads was damaged


@pytest.mark.skipif(sys.platform == "win32", reason="Windows does not cut off files that are mapped")
def test_a_file_that_is_cut_off_while_it_is_searched_does_not_end_the_process(whole: Path, tmp_path: Path) -> None:
    for file in segments(whole):
        copy = shutil.copytree(whole, tmp_path / file.name)
        with Index.open(copy, trust=True) as index:
            assert index.search(QUERIES[0])
            os.truncate(copy / "segments" / file.name, 4096)
            with pytest.raises(IndexDamaged, match="has 4096 bytes, not"):
                index.search(QUERIES[1])


def test_a_rebuild_mends_it(whole: Path, tmp_path: Path) -> None:
    copy = tmp_path / "copy"
    shutil.copytree(whole, copy)
    for file in segments(copy):
        file.write_bytes(bytes(file.stat().st_size))
    with Index.open(copy, trust=True) as index:
        index.rebuild()
        assert index.verify() == []
    assert IndexDamaged not in answers(copy)
