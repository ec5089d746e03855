"""Damage the files of an index at random, again and again: no answer may be wrong without a word.

    python tests/torture/corruption.py --hours 1

The long form of tests/laws/test_corruption.py and test_database_corruption.py. Each time a random file of the index, a
segment or the database, is damaged in a random way; the index must then answer as before, or say that it is damaged and
what to do. Ends with the first answer that is neither, and says how to get it again; otherwise with how often it was
tried and how often it was told.
"""

from __future__ import annotations

import argparse
import random
import shutil
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable
from pathlib import Path

sys.path[:0] = [str(Path(__file__).parents[1] / "support"), str(Path(__file__).parents[1] / "laws")]

import test_database_corruption as of_database
from disk_faults.damaged_bytes import WAYS
from test_corruption import answers, made, segments

from semsearch.errors import IndexDamaged
from semsearch.storage.schema import DATABASE

Attempt = Callable[[random.Random, str, Path], bool]  # damages a copy in a way, asks it, and returns whether it told


def of_segments(folder: Path) -> Attempt:
    """Damage a segment."""
    whole = made(folder)
    right = answers(whole)

    def attempt(chance: random.Random, way: str, copy: Path) -> bool:
        shutil.copytree(whole, copy)
        damage(copy / "segments" / chance.choice(segments(whole)).name, way, chance)
        found = answers(copy)
        assert all(one in (answer, IndexDamaged) for one, answer in zip(found, right, strict=True)), "a wrong answer"
        return IndexDamaged in found

    return attempt


def of_databases(folder: Path) -> Attempt:
    """Damage the database."""
    whole = of_database.made_with_records(folder)
    right = of_database.answers_of(whole)

    def attempt(chance: random.Random, way: str, copy: Path) -> bool:
        shutil.copytree(whole, copy)
        damage(copy / DATABASE, way, chance)
        return any(of_database.told_or_right(copy, right))

    return attempt


def damage(file: Path, way: str, chance: random.Random) -> None:
    """Damage a file in a way."""
    data = bytearray(file.read_bytes())
    WAYS[way](data, chance)
    file.write_bytes(data)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--hours", type=float, default=1.0)
    parser.add_argument("--first", type=int, default=0, help="the number of the first damage")
    given = parser.parse_args()
    tried, told = Counter[tuple[str, str]](), Counter[tuple[str, str]]()
    with tempfile.TemporaryDirectory() as name:
        attempts = {"a segment": of_segments(Path(name) / "a"), "the database": of_databases(Path(name) / "b")}
        end, number = time.monotonic() + 3600 * given.hours, given.first
        while time.monotonic() < end:
            chance = random.Random(number)
            what, way = chance.choice(sorted(attempts)), chance.choice(sorted(WAYS))
            try:
                told[what, way] += attempts[what](chance, way, Path(name) / "copy")
            except Exception as error:  # whatever it is, it is a finding
                print(f"{type(error).__name__}: {error}", file=sys.stderr)
                sys.exit(f"after {way} in {what}; again with --first {number}")
            tried[what, way] += 1
            shutil.rmtree(Path(name) / "copy")
            number += 1
    for each in sorted(tried):
        print(f"{' in '.join(each[::-1]):<32} {tried[each]:>8,} times, told {told[each]:>8,} times")
    print("no answer was wrong without a word")


if __name__ == "__main__":
    main()
