"""Lose the power after each operation on files of each action on an index, with each thing that a disk may have kept.

    python tests/torture/power.py
    python tests/torture/power.py --only sync compact

The long form of tests/laws/test_faults.py. Prints for each action how many operations there were, and what was not as
promised; the exit status says whether there was any such thing.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
from pathlib import Path

sys.path[:0] = [str(Path(__file__).parents[1] / "support")]

import pytest
from disk_faults.failing import ACTIONS, World, prepare_process
from disk_faults.file_doors import Doors
from disk_faults.power import SURVIVALS


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", nargs="+", choices=ACTIONS, default=ACTIONS)
    parser.add_argument("--step", type=int, default=1, help="after every how many operations")
    given = parser.parse_args()
    found = 0
    with pytest.MonkeyPatch.context() as patch:
        prepare_process(patch)
        for action in given.only:
            with tempfile.TemporaryDirectory() as name, Doors(Path(name)) as doors:
                world = World.prepared(Path(name), action)
                operations = world.operations(doors)
                for survival in SURVIVALS:
                    points = [*range(0, len(operations), given.step), len(operations)]
                    wrong = [(point, one) for point in points for one in world.lost_power(operations, point, survival)]
                    print(f"{action:<10}{survival:<22}{len(points):>6,} points  {len(wrong):>4,} wrong", flush=True)
                    for point, one in wrong:
                        print(f"  {point}: {one}", flush=True)
                    found += len(wrong)
    sys.exit(1 if found else 0)


if __name__ == "__main__":
    main()
