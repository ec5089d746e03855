"""Print the reference as Markdown: `python -m semsearch.cli.reference > docs/reference.md`."""

import sys

from semsearch.cli.reference.page import page

if __name__ == "__main__":
    sys.stdout.buffer.write(page().encode())  # the same bytes on every system
