"""Print a reference as Markdown: `python tests/support/reference_page [research]`."""

import sys
from pathlib import Path

sys.path[0] = str(Path(__file__).parents[1])  # where this package is

from reference_page.page import page, page_of_research  # noqa: E402  # after the line above

if __name__ == "__main__":
    made = page_of_research() if sys.argv[1:] == ["research"] else page()
    sys.stdout.buffer.write(made.encode())  # the same bytes on every system
