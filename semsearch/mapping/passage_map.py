"""`PassageMap`: where each passage lies on the map, and the regions' topics; and the file of a map.

    "semsearch map 1\\n"    16 bytes
    length of the header   8 bytes, little-endian
    header                 JSON: generation, count, arranged, added, regions
    ids                    count little-endian int64
    points                 count pairs of little-endian float32
    digest                 BLAKE2b of all before, 16 bytes

A file that does not match its digest is no map.
"""

from __future__ import annotations

import hashlib
import json
import logging
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from semsearch.arrays.types import Bool, Float32, Float64, Int64
from semsearch.errors import UsageError
from semsearch.results.documents import MapRegion
from semsearch.storage.index_files import map_path, unfinished_path
from semsearch.system.durable import Write, replace_file, write_durably


@dataclass(frozen=True, slots=True)
class PassageMap:
    """The passages of a generation of an index as points: near to each other where they are about the same.

    x and y are from -1 to 1. Only who is near to whom means something; directions and large distances mean little.
    """

    generation: int  # of the index
    ids: Int64  # (n,) of the passages, rising
    points: Float32  # (n, 2)
    regions: tuple[MapRegion, ...]
    arranged: int  # passages that there were when all of them were arranged
    added: int = 0  # passages that were placed beside others since then

    def __len__(self) -> int:
        """The number of passages."""
        return len(self.ids)

    def within(self, outline: Sequence[Sequence[float]] | Float64) -> Int64:
        """The ids of the passages inside an outline of three or more corners (m, 2), rising. (k,)

        What the outline goes around twice is outside. They can be given to a search as `passages`. Raises UsageError.
        """
        try:
            corners = np.asarray(outline, dtype=np.float64)
        except (TypeError, ValueError):
            corners = np.zeros(0)
        if corners.ndim != 2 or corners.shape[1] != 2 or len(corners) < 3 or not np.isfinite(corners).all():
            raise UsageError("an outline must have three or more corners, each with x and y")
        return self.ids[_inside(self.points.astype(np.float64), corners)]


def _inside(points: Float64, corners: Float64) -> Bool:
    """Return which points are inside: those from which a ray crosses the outline an odd number of times."""
    inside = np.zeros(len(points), dtype=np.bool_)
    x, y = points.T
    for (ax, ay), (bx, by) in zip(corners, np.roll(corners, -1, axis=0), strict=True):
        if ay != by:
            crosses = (ay > y) != (by > y)
            inside ^= crosses & (x < ax + (y - ay) * ((bx - ax) / (by - ay)))
    return inside


# -- Its file ----------------------------------------------------------------------------------------------------------

logger = logging.getLogger(__name__)
_MAGIC = b"semsearch map 1\n"
_DIGEST = 16


def write_map(folder: Path, fit: int, made: PassageMap) -> None:
    """Save a map, replacing an earlier one. Of two processes that save at once, the later one wins.

    Raises OSError where it cannot be written; an earlier one then stays.
    """
    unfinished = unfinished_path(folder, fit)
    body = _body(made)

    def fill(write: Write) -> None:
        write(body)
        write(_digest(body))

    write_durably(unfinished, fill)
    replace_file(unfinished, map_path(folder, fit))


def read_map(folder: Path, fit: int) -> PassageMap | None:
    """Read the map of vectors that were fitted by a generation; None if there is none, or a damaged one."""
    path = map_path(folder, fit)
    try:
        return _parsed(path.read_bytes())
    except FileNotFoundError:
        return None
    except (OSError, ValueError, LookupError, TypeError, ArithmeticError, RecursionError, UsageError) as error:
        logger.warning("%s is not a map (%s); the next request for the map creates it again", path, error)
        return None


def _body(made: PassageMap) -> bytes:
    header = json.dumps(
        {
            "generation": made.generation,
            "count": len(made),
            "arranged": made.arranged,
            "added": made.added,
            "regions": [region.to_dict() for region in made.regions],
        }
    ).encode()
    arrays = made.ids.astype("<i8").tobytes() + made.points.astype("<f4").tobytes()
    return _MAGIC + len(header).to_bytes(8, "little") + header + arrays


def _digest(body: bytes) -> bytes:
    return hashlib.blake2b(body, digest_size=_DIGEST).digest()


def _parsed(data: bytes) -> PassageMap:
    """The map in a file's bytes. Raises any of what `read_map` catches for anything else."""
    body, digest = data[:-_DIGEST], data[-_DIGEST:]
    if not body.startswith(_MAGIC) or _digest(body) != digest:
        raise ValueError("it does not match its digest")
    start = len(_MAGIC) + 8
    end = start + int.from_bytes(body[len(_MAGIC) : start], "little")
    header = json.loads(body[start:end])
    count = int(header["count"])
    middle = end + 8 * count
    if len(body) != middle + 8 * count:
        raise ValueError("its length differs from its header")
    return PassageMap(
        int(header["generation"]),
        np.frombuffer(body[end:middle], dtype="<i8").astype(np.int64),
        np.frombuffer(body[middle:], dtype="<f4").astype(np.float32).reshape(-1, 2),
        tuple(MapRegion.from_dict(region) for region in header["regions"]),
        int(header["arranged"]),
        int(header["added"]),
    )
