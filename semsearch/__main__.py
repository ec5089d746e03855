"""The command `semsearch`, and `python -m semsearch`."""

from __future__ import annotations

import sys

from semsearch.errors import StorageError
from semsearch.system.memory import LINEAR_ALGEBRA, require_memory


def main() -> None:
    """The console script. Ends the process."""
    try:
        require_memory(LINEAR_ALGEBRA, "to start")
        from semsearch.cli.main import main as run  # NumPy, without that memory, ends with a traceback of its own
    except StorageError as error:
        print(f"semsearch: {error}", file=sys.stderr)
        sys.exit(2)
    except KeyboardInterrupt:
        print("semsearch: interrupted; nothing was changed", file=sys.stderr)
        sys.exit(130)
    run()


if __name__ == "__main__":
    main()
