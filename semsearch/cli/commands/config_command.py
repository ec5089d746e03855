"""`semsearch config`: the configured values with their sources."""

from __future__ import annotations

from typing import Any

from semsearch.cli.configuration import SECRET, all_items, read_configuration, users_file
from semsearch.cli.options import JsonOption
from semsearch.cli.printing import aligned, complain, one_line, to_json


def config(json: JsonOption = False) -> None:
    """Show all keys of semsearch.toml, with their values and where these come from."""
    items: list[tuple[str, Any, str]] = [
        (key, "***" if key == SECRET and value else value, source)
        for key, value, source in all_items(read_configuration())
    ]
    if json:
        print(to_json([{"key": key, "value": value, "source": source} for key, value, source in items]))
        return
    rows = [
        (key, "-" if value is None else one_line(to_json(value, indent=None)), source) for key, value, source in items
    ]
    print(*aligned([("key", "value", "from"), *rows], left=(0, 1, 2)), sep="\n")
    complain(f"your own file is {users_file()}; a project's is semsearch.toml in its folder")
