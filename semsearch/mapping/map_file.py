"""The file of a map: a header as JSON, passage ids, points, and a digest of it all. It is whole, or it is no map.

"semsearch map 1\\n"   16 bytes
length of the header   8 bytes, little-endian
header                 JSON: generation, count, arranged, added, regions
ids                    count little-endian int64
points                 count pairs of little-endian float32
digest                 BLAKE2b of all before, 16 bytes
"""

from __future__ import annotations

import hashlib
import json
import logging
from pathlib import Path

import numpy as np

from semsearch.errors import UsageError
from semsearch.mapping.passage_map import PassageMap
from semsearch.results.contents.map_status import MapRegion
from semsearch.storage.files.map_files import map_path, unfinished_path
from semsearch.system.durable import Write, write_durably

logger = logging.getLogger(__name__)
_MAGIC = b"semsearch map 1\n"
_DIGEST = 16


def write_map(folder: Path, fit: int, made: PassageMap) -> None:
    """Keep a map, in place of an earlier one. Of two processes that do it at once, the later one's stays.

    Raises OSError where it cannot be written; an earlier one then stays.
    """
    unfinished = unfinished_path(folder, fit)
    body = _body(made)

    def fill(write: Write) -> None:
        write(body)
        write(_digest(body))

    write_durably(unfinished, fill)
    unfinished.replace(map_path(folder, fit))


def read_map(folder: Path, fit: int) -> PassageMap | None:
    """Read the map of vectors that were fitted by a generation; None if there is none, or a damaged one."""
    path = map_path(folder, fit)
    try:
        return _parsed(path.read_bytes())
    except FileNotFoundError:
        return None
    except (OSError, ValueError, LookupError, TypeError, ArithmeticError, RecursionError, UsageError) as error:
        logger.warning("%s is no map (%s); it is made anew when it is asked for", path, error)
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
        raise ValueError("it is not as it was written")
    start = len(_MAGIC) + 8
    end = start + int.from_bytes(body[len(_MAGIC) : start], "little")
    header = json.loads(body[start:end])
    count = int(header["count"])
    middle = end + 8 * count
    if len(body) != middle + 8 * count:
        raise ValueError("its length is not what it says")
    return PassageMap(
        int(header["generation"]),
        np.frombuffer(body[end:middle], dtype="<i8").astype(np.int64),
        np.frombuffer(body[middle:], dtype="<f4").astype(np.float32).reshape(-1, 2),
        tuple(MapRegion.from_dict(region) for region in header["regions"]),
        int(header["arranged"]),
        int(header["added"]),
    )
