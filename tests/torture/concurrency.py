"""Write to an index at random while many ask it: every answer must be that of a model before the write or after it.

    python tests/torture/concurrency.py --hours 1

The long form of tests/laws/test_asked_while_written.py: by default sixteen readers, eight threads and eight processes.
"""

from __future__ import annotations

import argparse
import sys
import time
from pathlib import Path

sys.path[:0] = [str(Path(__file__).parents[1] / "support")]

from hypothesis import HealthCheck, settings
from hypothesis.stateful import run_state_machine_as_test
from index_model import AskedWhileWritten, Crowd


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--hours", type=float, default=1.0)
    parser.add_argument("--threads", type=int, default=8)
    parser.add_argument("--processes", type=int, default=8)
    given = parser.parse_args()
    crowd = AskedWhileWritten.crowd = Crowd(given.threads, given.processes)
    how = settings(max_examples=10, stateful_step_count=50, deadline=None, suppress_health_check=list(HealthCheck))
    end = time.monotonic() + 3600 * given.hours
    while time.monotonic() < end:
        run_state_machine_as_test(AskedWhileWritten, settings=how)
        print(f"{crowd.answers:,} answers, each that of the model before or after the write", flush=True)
    crowd.close()


if __name__ == "__main__":
    main()
