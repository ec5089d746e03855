"""A small process that starts another, and prints how long it took and its peak memory.

    python launcher.py COMMAND...          prints [seconds, bytes, exit status]

Linux counts the memory of the parent at that moment towards a process's peak. A measuring process holds much, so this
one, which holds next to nothing, is between them. It is run by its path, and imports nothing of semsearch.
"""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time


def main(command: list[str]) -> None:
    """Run a command to its end; a signal that ends this process ends the command too."""
    early: list[int] = []  # an end that is asked for while the process starts comes when it can be ended too
    signal.signal(signal.SIGTERM, lambda number, _: early.append(number))
    started = time.perf_counter()
    process = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL)
    try:
        signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))
        if early:
            sys.exit(1)
        _, status, usage = os.wait4(process.pid, 0)
    except BaseException:
        process.kill()
        process.wait()
        raise
    seconds = time.perf_counter() - started
    process.returncode = os.waitstatus_to_exitcode(status)
    peak = usage.ru_maxrss * (1 if sys.platform == "darwin" else 1024)
    print(json.dumps([seconds, peak, process.returncode]))


if __name__ == "__main__":
    main(sys.argv[1:])
