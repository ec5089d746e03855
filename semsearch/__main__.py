"""The command `semsearch`, and `python -m semsearch`."""

import gc
import sys

gc.set_threshold(
    100_000
)  # objects between two garbage collections: imported modules are no garbage (semsearch.cli.messages)

if getattr(sys, "frozen", False):  # the program of one file
    from semsearch.system.one_file import begin

    begin()

from semsearch.cli.start import main  # noqa: E402  # its imports are what the line above is for

if __name__ == "__main__":
    main()
