"""A vector file is what it says, or is refused before FAISS maps it."""

from __future__ import annotations

from pathlib import Path

import faiss
import numpy as np
import pytest

from semsearch.arrays.id_ranges import IdRanges
from semsearch.dense.faiss_store import UnknownLayout, Vectors, layout_of
from semsearch.errors import IndexDamaged
from semsearch.storage.segments import Segment

ROWS = np.random.default_rng(0).standard_normal((70, 8)).astype(np.float32)
BYTES = "signed bytes"  # of sentences, which have no name among FAISS's types
FACTORIES = ("Flat", "SQfp16", "SQ8", BYTES, "IVF4,Flat", "IVF4,SQfp16", "IVF4,SQ8", "IVF64,SQfp16")


def written(path: Path, factory: str) -> bytearray:
    """A file of vectors; of the last layout most lists are empty."""
    if factory == BYTES:
        kind = faiss.ScalarQuantizer.QT_8bit_direct_signed
        index = faiss.IndexScalarQuantizer(8, kind, faiss.METRIC_INNER_PRODUCT)
    else:
        index = faiss.index_factory(8, factory, faiss.METRIC_INNER_PRODUCT)
    if factory.startswith("IVF"):
        index.cp.min_points_per_centroid = 1
    index.train(ROWS)
    index.add(ROWS[: 5 if "64" in factory else 70])
    if factory.startswith("IVF"):
        index.set_direct_map_type(faiss.DirectMap.Array)
    faiss.write_index(index, str(path))
    return bytearray(path.read_bytes())


@pytest.mark.parametrize("factory", FACTORIES)
def test_each_layout_that_is_written_is_known(tmp_path: Path, factory: str) -> None:
    found = layout_of(np.frombuffer(written(tmp_path / "v", factory), np.uint8))
    assert (found.dimension, found.rows) == (8, 5 if "64" in factory else 70)
    assert found.are_there(np.arange(found.rows))


def test_other_layouts_are_refused(tmp_path: Path) -> None:
    for factory in ("HNSW8", "PQ4x4", "Flat,Refine(Flat)", "L2norm,Flat"):
        index = faiss.index_factory(8, factory, faiss.METRIC_INNER_PRODUCT)
        index.train(ROWS)
        faiss.write_index(index, str(tmp_path / "v"))
        with pytest.raises(UnknownLayout):
            layout_of(np.fromfile(tmp_path / "v", np.uint8))


@pytest.mark.parametrize("factory", FACTORIES)
def test_a_file_that_says_other_lengths_is_refused_or_read_within_itself(tmp_path: Path, factory: str) -> None:
    folder = tmp_path / "index" / "segments"
    folder.mkdir(parents=True)
    whole = written(folder / "v", factory)
    chance = np.random.default_rng(1)
    places = [*range(0, 100, 4), *chance.integers(100, len(whole), 10).tolist()]
    refused = 0
    for at in places:  # FAISS by itself ends the process at some of them
        data = bytearray(whole)
        data[at : at + 8] = chance.choice(
            [b"\xff" * 8, b"\0" * 7 + b"\1", (1 << 40).to_bytes(8, "little"), b"\2" + b"\0" * 7]
        )
        del data[len(whole) :]
        (folder / "v").write_bytes(data)
        segment = Segment("passage", "v", len(data), IdRanges.of([(0, 5 if "64" in factory else 70)]), "")
        try:
            vectors = Vectors(folder / "v", segment)
            vectors.scan(ROWS[:1], 3)
            vectors.rows(np.arange(5))
        except IndexDamaged:
            refused += 1
    assert refused > 10
