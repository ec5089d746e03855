"""Damage the segments of an index at random, again and again: no answer may be wrong without a word.

    python tests/torture/corruption.py --hours 1

The long form of tests/laws/test_corruption.py. Each time a random file of the index is damaged in a random way; the
index must then answer as before, or say that it is damaged. Ends with the first answer that is neither, and says how to
get it again; otherwise with how often it was tried and how often it was told.
"""

from __future__ import annotations

import argparse
import random
import shutil
import sys
import tempfile
import time
from collections import Counter
from pathlib import Path

sys.path[:0] = [str(Path(__file__).parents[1] / "support"), str(Path(__file__).parents[1] / "laws")]

from test_corruption import WAYS, answers, made, segments

from semsearch.errors import IndexDamaged


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--hours", type=float, default=1.0)
    parser.add_argument("--first", type=int, default=0, help="the number of the first damage")
    given = parser.parse_args()
    tried, told = Counter[str](), Counter[str]()
    with tempfile.TemporaryDirectory() as name:
        whole = made(Path(name))
        right = answers(whole)
        end, number = time.monotonic() + 3600 * given.hours, given.first
        while time.monotonic() < end:
            chance = random.Random(number)
            file, way = chance.choice(segments(whole)), chance.choice(sorted(WAYS))
            copy = Path(name) / "copy"
            shutil.copytree(whole, copy)
            data = bytearray(file.read_bytes())
            WAYS[way](data, chance)
            (copy / "segments" / file.name).write_bytes(data)
            found = answers(copy)
            if not all(one in (answer, IndexDamaged) for one, answer in zip(found, right, strict=True)):
                sys.exit(f"a wrong answer after {way} in {file.name}; again with --first {number}")
            tried[way] += 1
            told[way] += IndexDamaged in found
            shutil.rmtree(copy)
            number += 1
    for way in sorted(WAYS):
        print(f"{way:<20} {tried[way]:>8,} times, told {told[way]:>8,} times; no answer was wrong without a word")


if __name__ == "__main__":
    main()
