"""Let each operation on files of each action on an index fail, in each way; or lose the power after each.

    python tests/torture/faults.py
    python tests/torture/faults.py --power
    python tests/torture/faults.py --only sync refit --step 7

The long form of tests/laws/test_faults.py. Prints for each action and trouble how many operations there were, and what
was not as promised; the exit status says whether there was any such thing.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

sys.path[:0] = [str(Path(__file__).parents[1] / "support")]

import pytest
from disk_faults.failing import ACTIONS, TROUBLES, World, prepare_process
from disk_faults.file_doors import Doors
from disk_faults.power import SURVIVALS


def failures(world: World, doors: Doors, step: int) -> Iterator[tuple[str, int, list[str]]]:
    """Of each trouble: how often it was caused, and what was wrong."""
    for trouble in TROUBLES:
        points = range(1, world.points(doors, trouble) + 1, step)
        yield trouble.name, len(points), [line for point in points for line in world.broken(doors, trouble, point)]


def losses(world: World, doors: Doors, step: int) -> Iterator[tuple[str, int, list[str]]]:
    """Of each state that a disk may keep: after how many operations the power was lost, and what was wrong."""
    operations = world.operations(doors)
    points = [*range(0, len(operations), step), len(operations)]
    for survival in SURVIVALS:
        yield (
            survival,
            len(points),
            [line for point in points for line in world.lost_power(operations, point, survival)],
        )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--power", action="store_true", help="lose the power")
    parser.add_argument("--only", nargs="+", choices=ACTIONS, default=ACTIONS)
    parser.add_argument("--step", type=int, default=1, help="every how many operations")
    arguments = parser.parse_args()
    is_sound = True
    with pytest.MonkeyPatch.context() as patch:
        prepare_process(patch)
        for action in arguments.only:
            with tempfile.TemporaryDirectory() as name, Doors(Path(name)) as doors:
                world = World.prepared(Path(name), action)
                for trouble, points, wrong in (losses if arguments.power else failures)(world, doors, arguments.step):
                    print(f"{action:<10}{trouble:<32}{points:>6,} points", *wrong, sep="\n  ", flush=True)
                    is_sound &= not wrong
    sys.exit(0 if is_sound else 1)


if __name__ == "__main__":
    main()
