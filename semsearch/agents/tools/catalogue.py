"""All tools, in the order in which they are listed."""

from __future__ import annotations

from semsearch.agents.tools.asking import ASKING
from semsearch.agents.tools.looking import LOOKING
from semsearch.agents.tools.tool import Tool

TOOLS: dict[str, Tool] = {tool.name: tool for tool in (*ASKING, *LOOKING)}
