"""The exit statuses of the commands. A test finds every one that the code raises."""

from __future__ import annotations

STATUSES = {
    0: "Done. For `query`, `similar` and `context`: something was found. For `verify`: the index is sound. Also where "
    "the reader of the output had enough, as in `semsearch list | head`.",
    1: "`query`, `similar` and `context`: nothing was found. `verify`: there are problems, a line each.",
    2: "An error that you can mend: one line on the standard error says what was found, what was expected and what to "
    "do. `index`: nothing could be indexed.",
    130: "Interrupted by Ctrl-C; nothing was changed.",
}
