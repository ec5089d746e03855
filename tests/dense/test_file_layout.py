"""A vector file is what it says, or is refused before FAISS maps it."""

from __future__ import annotations

from pathlib import Path

import faiss
import numpy as np
import pytest

from semsearch.arrays.id_ranges import IdRanges
from semsearch.dense import faiss_store
from semsearch.dense.faiss_store import UnknownLayout, Vectors, layout_of
from semsearch.errors import IndexDamaged
from semsearch.results.reports import Scan
from semsearch.storage.segments import Segment

ROWS = np.random.default_rng(0).standard_normal((70, 8)).astype(np.float32)
BYTES = "signed bytes"  # of sentences, which have no name among FAISS's types
CODES = "SQfp16 and codes"
FACTORIES = ("Flat", "SQfp16", "SQ8", BYTES, CODES, "IVF4,Flat", "IVF4,SQfp16", "IVF4,SQ8", "IVF64,SQfp16")


def written(path: Path, factory: str) -> bytearray:
    """A file of vectors; of the last layout most lists are empty."""
    if factory == BYTES:
        kind = faiss.ScalarQuantizer.QT_8bit_direct_signed
        index = faiss.IndexScalarQuantizer(8, kind, faiss.METRIC_INNER_PRODUCT)
    else:
        index = faiss.index_factory(8, factory.removesuffix(" and codes"), faiss.METRIC_INNER_PRODUCT)
    if factory.startswith("IVF"):
        index.cp.min_points_per_centroid = 1
    index.train(ROWS)
    index.add(ROWS[: 5 if "64" in factory else 70])
    if factory.startswith("IVF"):
        index.set_direct_map_type(faiss.DirectMap.Array)
    faiss.write_index(index, str(path))
    data = bytearray(path.read_bytes())
    if factory == CODES:
        codes = faiss.IndexPQFastScan(8, 4, 4, faiss.METRIC_INNER_PRODUCT)
        codes.train(ROWS)
        codes.add(ROWS)
        data += faiss.serialize_index(codes).tobytes()
        path.write_bytes(data)
    return data


SCAN = Scan(CODES, 70, 0, 1, 1.0, 50)


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
def test_a_file_that_says_other_lengths_is_refused_or_read_within_itself(
    tmp_path: Path, factory: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(faiss_store, "_CANDIDATES_SHARE", 10)  # so that codes of few vectors are scanned
    folder = tmp_path / "index" / "segments"
    folder.mkdir(parents=True)
    whole = written(folder / "v", factory)
    chance = np.random.default_rng(1)
    places = [
        *range(0, 100, 4),
        *range(len(whole) // 2, len(whole), 8 if factory == CODES else 9999),
        *chance.integers(100, len(whole), 10).tolist(),
    ]
    refused = 0
    for at in places:  # FAISS by itself ends the process at some of them
        data = bytearray(whole)
        data[at : at + 8] = chance.choice(
            [b"\xff" * 8, b"\0" * 7 + b"\1", (1 << 40).to_bytes(8, "little"), b"\2" + b"\0" * 7]
        )
        del data[len(whole) :]
        (folder / "v").write_bytes(data)
        segment = Segment("passage", "v", len(data), IdRanges.of([(0, 5 if "64" in factory else 70)]), "", SCAN)
        try:
            vectors = Vectors(folder / "v", segment)
            vectors.scan(ROWS[:1], 3)
            vectors.rows(np.arange(5))
        except IndexDamaged:
            refused += 1
    assert refused > 10


@pytest.mark.parametrize("change", ["other vectors", "cut", "more", "centroids", "no codes"])
def test_codes_that_do_not_fit_the_vectors_are_refused(tmp_path: Path, change: str) -> None:
    plain, both = written(tmp_path / "a", "SQfp16"), written(tmp_path / "b", CODES)
    codes = both[len(plain) :]
    other = faiss.IndexPQFastScan(8, 4, 4, faiss.METRIC_INNER_PRODUCT)
    other.train(ROWS)
    other.add(ROWS[:69])
    nan = bytearray(both)
    nan[len(plain) + 70 : len(plain) + 74] = b"\xff" * 4
    forged = {
        "other vectors": plain + faiss.serialize_index(other).tobytes(),
        "cut": both[:-1],
        "more": both + b"1",
        "centroids": nan,
        "no codes": both[: len(plain) + 20],
    }[change]
    with pytest.raises(UnknownLayout):
        layout_of(np.frombuffer(forged, np.uint8))
    lists = written(tmp_path / "c", "IVF4,SQfp16")
    with pytest.raises(UnknownLayout):
        layout_of(np.frombuffer(lists + codes, np.uint8))
