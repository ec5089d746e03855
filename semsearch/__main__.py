"""The command `semsearch`, and `python -m semsearch`."""

from __future__ import annotations

import sys


def main() -> None:
    """The console script. Ends the process."""
    try:
        _run()
    except (KeyboardInterrupt, RuntimeError) as error:  # while modules are imported; commands have their own message
        if isinstance(error, RuntimeError) and not isinstance(error.__cause__, KeyboardInterrupt):
            raise  # Python 3.11 wraps what interrupts the making of a class
        print("semsearch: interrupted; nothing was changed", file=sys.stderr)
        sys.exit(130)


def _run() -> None:
    # imported here, so that Ctrl-C ends these too in one line
    import gc
    import os

    for name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS"):  # read once, when NumPy is imported
        os.environ.setdefault(name, "1")  # several threads of linear algebra, beside several processes, are slower
    gc.set_threshold(100_000)  # most objects of a command are modules, in which there is no garbage to look for
    from semsearch.cli.main import main as run

    run()


if __name__ == "__main__":
    main()
