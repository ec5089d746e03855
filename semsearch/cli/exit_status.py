"""The exit statuses of the commands, and what they mean. A test finds every one that the code raises."""

from __future__ import annotations

NONE_FOUND = 1  # of commands that ask
PROBLEMS = 1  # of `verify` and `evaluate data`
FAILED = 2
INTERRUPTED = 130

STATUSES = {
    0: "Done. For `query`, `similar` and `context`: something was found. For `verify`: the index is sound. Also where "
    "the reader of the output had enough, as in `semsearch list | head`.",
    1: "`query`, `similar` and `context`: nothing was found. `verify`, `evaluate data`: there are problems, a "
    "line each.",
    FAILED: "An error that you can mend: one line on the standard error says what was found, what was expected and "
    "what to do. `index`: nothing could be indexed; or, of any write: it is done, and could not be published.",
    INTERRUPTED: "Interrupted by Ctrl-C; nothing was changed.",
}
