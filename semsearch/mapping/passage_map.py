"""`PassageMap`: where each passage lies on the map, and the regions' topics; and the file of a map.

The file is an archive of NumPy without pickles: a header of JSON (fit, generation, arranged, added, regions), ids,
points. The archive has checksums; a file that does not match them is no map, nor is one of vectors of another fit: the
next map replaces it.
"""

from __future__ import annotations

import io
import json
import logging
import zipfile
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from semsearch.arrays.types import Float32, Int64
from semsearch.results.documents import MapRegion
from semsearch.system.durable import write_durably
from semsearch.system.source_files import read_source

logger = logging.getLogger(__name__)


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


# -- Its file ----------------------------------------------------------------------------------------------------------


MAP = "map.points"  # in the folder of the index
_LARGEST = 1 << 30  # bytes: a million passages take 16 MB


def write_map(folder: Path, fit: int, passage_map: PassageMap) -> None:
    """Save a map, replacing an earlier one. Of two processes that save at once, the later one wins.

    Raises OSError where it cannot be written; an earlier one then stays.
    """
    header = {
        "fit": fit,
        "generation": passage_map.generation,
        "arranged": passage_map.arranged,
        "added": passage_map.added,
        "regions": [region.to_dict() for region in passage_map.regions],
    }
    buffer = io.BytesIO()
    np.savez(buffer, header=json.dumps(header), ids=passage_map.ids, points=passage_map.points)
    write_durably(folder / MAP, lambda write: write(buffer.getvalue()))


def read_map(folder: Path, fit: int) -> PassageMap | None:
    """Read the map of vectors that were fitted by a generation; None if there is none, or a damaged one."""
    path = folder / MAP
    try:
        data = io.BytesIO(read_source(path, _LARGEST).data)
        with zipfile.ZipFile(data) as packed:
            if any(member.compress_type for member in packed.infolist()):
                raise ValueError("its arrays are packed, and may be of any size")
        with np.load(data, allow_pickle=False) as arrays:
            header, ids, points = json.loads(str(arrays["header"])), arrays["ids"], arrays["points"]
        if header["fit"] != fit:
            return None
        regions = tuple(MapRegion.from_dict(region) for region in header["regions"])
        return PassageMap(header["generation"], ids, points, regions, header["arranged"], header["added"])
    except FileNotFoundError:
        return None
    except Exception as error:  # whatever zipfile, NumPy and json make of damaged bytes
        logger.warning("%s is not a map (%s); the next request for the map creates it again", path, error)
        return None
