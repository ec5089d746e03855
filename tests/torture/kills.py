"""Kill a writer at a random instant, again and again: the index must be as before or as after, and go on from there.

    python tests/torture/kills.py --times 10000

tests/laws/test_crash.py kills at each step that Python sees, before it is taken; here SIGKILL comes from outside, at
any instant, also in the middle of a step, of SQLite, of FAISS. After each kill the index is opened, verified and asked;
after each tenth the action is carried out again, which must complete the work and leave nothing behind. Ends with the
first index that is not as it must be, and says how to get it again, as far as instants come again.
"""

from __future__ import annotations

import os

os.environ |= {"OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"}  # a process with threads is not forked

import argparse
import random
import shutil
import signal
import sys
import tempfile
import time
from collections import Counter
from pathlib import Path

sys.path[:0] = [str(Path(__file__).parents[1] / "support"), str(Path(__file__).parents[1] / "laws")]

from processes.crashing import LEAST, act, load
from test_crash import World, answers, prepare

from semsearch.index import Index
from semsearch.indexing import sync
from semsearch.topics import topic_fit

ACTIONS = ("first", "sync", "merge", "refit", "rebuild")
_AGAIN = 10  # after how many kills the work is completed


class Killed:
    """An action on an index, and what the index says before it and after it."""

    def __init__(self, folder: Path, action: str) -> None:
        self.world: World = prepare(folder, action)
        self.action = "sync" if action == "merge" else action
        self.before = answers(self.world.template) if action != "first" else None
        self.seconds = self._carried_out(None)
        self.after = answers(self.world.work)
        assert self.after != self.before

    def kill_at(self, share: float, *, and_again: bool) -> str:
        """Kill the action at a share of its time: "before", "after", or else what is wrong."""
        self._carried_out(share * self.seconds)
        found = answers(self.world.work)
        is_empty = self.action == "first" and isinstance(found, tuple) and found[1] == 0
        if found not in (self.before, self.after) and not is_empty:
            return f"neither as before nor as after: {found}"
        if and_again:
            return self._completed() or ("after" if found == self.after else "before")
        return "after" if found == self.after else "before"

    def _carried_out(self, seconds: float | None) -> float:
        """Carry the action out in another process, and kill it after so many seconds; how long it has run."""
        shutil.rmtree(self.world.work, ignore_errors=True)
        if self.world.template.exists():
            shutil.copytree(self.world.template, self.world.work)
        began = time.perf_counter()
        child = os.fork()
        if not child:
            self._act()
            os._exit(0)
        if seconds is not None:
            time.sleep(seconds)
            os.kill(child, signal.SIGKILL)
        _, status = os.waitpid(child, 0)
        assert os.WIFSIGNALED(status) or not os.WEXITSTATUS(status), f"the action failed with status {status}"
        return time.perf_counter() - began

    def _act(self) -> None:
        act(self.action, self.world.work, self.world.folder / "small", self.world.folder / "docs")

    def _completed(self) -> str:
        """Carry the action out after a kill; what is wrong then, if anything."""
        if self.action == "first" and answers(self.world.work) is not None:
            with Index.open(self.world.work, trust=True) as index:
                index.sync(self.world.folder / "docs")
        elif answers(self.world.work) != self.after:
            self._act()
        if (found := answers(self.world.work)) != self.after:
            return f"the next run did not complete the work: {found}"
        with Index.open(self.world.work, trust=True) as index:
            index.add([])
            with index._database.reading() as db:
                named = {file for (file,) in db.execute("SELECT file FROM segments")}
        left = {path.name for path in (self.world.work / "segments").iterdir()} ^ named
        return f"segments that are there or are named, not both: {left}" if left else ""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--times", type=int, default=10_000)
    parser.add_argument("--minutes", type=float, help="at most")
    parser.add_argument("--first", type=int, default=0, help="the number of the first kill")
    given = parser.parse_args()
    load()
    topic_fit.LEAST = LEAST
    sync.LOGGED_FROM = 0  # so that what was read is noted
    seen = {action: Counter[str]() for action in ACTIONS}
    end = time.monotonic() + 60 * (given.minutes or 1e9)
    with tempfile.TemporaryDirectory() as name:
        killed = {action: Killed(Path(name) / action, action) for action in ACTIONS}
        for number in range(given.first, given.first + given.times):
            chance = random.Random(number)
            action = ACTIONS[number % len(ACTIONS)]
            share = chance.uniform(0, 1.1)
            found = killed[action].kill_at(share, and_again=chance.randrange(_AGAIN) == 0)
            if found not in ("before", "after"):
                sys.exit(f"kill {number}, of {action} at {share:.3f} of its time: {found}; again with --first {number}")
            seen[action][found] += 1
            if time.monotonic() > end:
                break
    for action, counts in seen.items():
        print(f"{action:<8} {counts.total():>7,} kills: {counts['before']:,} as before, {counts['after']:,} as after")


if __name__ == "__main__":
    main()
