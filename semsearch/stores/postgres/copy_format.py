"""Vectors as PostgreSQL takes and gives them: rows of COPY in binary, and records of fetched rows. Pure.

A halfvec is its dimension, two unused bytes, and the numbers in half precision; all of it big-endian.
"""

from __future__ import annotations

import struct
from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

Float32 = npt.NDArray[np.float32]
Int64 = npt.NDArray[np.int64]
Records = npt.NDArray[np.void]  # of `record_type`

_BEGIN, _END = b"PGCOPY\n\xff\r\n\0" + struct.pack(">ii", 0, 0), struct.pack(">h", -1)


def record_type(dimension: int) -> np.dtype[Any]:
    """The bytes of `int4send(number) || halfvec_send(embedding)`."""
    return np.dtype([("number", ">i4"), ("dimension", ">i2"), ("unused", ">i2"), ("vector", ">f2", (dimension,))])


def records_of(numbers: Int64, vectors: Float32) -> Records:
    """Records of vectors (n, d) in half precision at rows with some numbers (n,)."""
    records = np.zeros(len(numbers), record_type(vectors.shape[1]))
    records["number"], records["dimension"], records["vector"] = numbers, vectors.shape[1], vectors
    return records


def records_in(data: bytes | None, dimension: int) -> Records:
    """The records that an answer consists of; none if it is null."""
    return np.frombuffer(data or b"", record_type(dimension))


def vectors_of(records: Records) -> Float32:
    """The vectors of records. (n, d)"""
    return np.asarray(records["vector"], dtype=np.float32)


def copied(parts: Sequence[Records]) -> bytes:
    """What COPY ... FROM STDIN (FORMAT binary) reads."""
    return b"".join([_BEGIN, *map(_rows, parts), _END])


def _rows(records: Records) -> bytes:
    """Rows of COPY: for each the number of columns, and each column with its length before it."""
    length = 4 + 2 * records["vector"].shape[1]
    rows = np.zeros(
        len(records),
        [("columns", ">i2"), ("four", ">i4"), ("number", ">i4"), ("length", ">i4"), ("vector", f"V{length}")],
    )
    rows["columns"], rows["four"], rows["length"], rows["number"] = 2, 4, length, records["number"]
    rows["vector"] = records.view([("number", ">i4"), ("vector", f"V{length}")])["vector"]
    return rows.tobytes()
