"""`semsearch config`: the configured values with their sources, the files, and a new file."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import fields
from pathlib import Path
from typing import Annotated, Any

from typer import Option

from semsearch.cli.configuration import (
    NAME,
    SECRET,
    SECTIONS,
    default_of,
    dotted,
    is_users_alone,
    read_configuration,
    section_items,
    users_file,
)
from semsearch.cli.options import JsonOption
from semsearch.cli.plugged_in import group
from semsearch.cli.printing import aligned, one_line, to_json
from semsearch.errors import UsageError

config_group = group("Defaults of options, from semsearch.toml and environment variables.")


@config_group.command()
def show(json: JsonOption = False) -> None:
    """Show all keys, with values and their sources."""
    items = [
        (key, "***" if key == SECRET and value else value, source)
        for key, value, source in section_items(read_configuration())
    ]
    if json:
        print(to_json([{"key": key, "value": value, "source": source} for key, value, source in items]))
        return
    rows = [("key", "value", "from"), *((key, _shown(value), source) for key, value, source in items)]
    print(*aligned(rows, left=(0, 1, 2)), sep="\n")


@config_group.command()
def init(user: Annotated[bool, Option("--user", help="Create your own file, not the project's.")] = False) -> None:
    """Create a semsearch.toml in this folder, with all keys and defaults as comments."""
    file = users_file() if user else Path(NAME)
    file.parent.mkdir(parents=True, exist_ok=True)
    try:
        with file.open("x", encoding="utf-8") as opened:
            opened.writelines(f"{line}\n" for line in _template(is_users=user))
    except OSError as error:
        raise UsageError(f"cannot create {file}: {error.strerror}") from None
    print(file)


def _shown(value: Any) -> str:
    """A value as it is written in TOML; a dash for none."""
    return "-" if value is None else one_line(to_json(value, indent=None))


def _template(*, is_users: bool) -> Iterator[str]:
    """A configuration of comments: all keys with their defaults."""
    yield "# Defaults of semsearch's options. The command line and variables such as SEMSEARCH_SEARCH_K override them."
    for section, cls in SECTIONS.items():
        names = [field.name for field in fields(cls) if is_users or not is_users_alone(dotted(section, field.name))]
        yield ""
        if section and names:
            yield f"[{section}]"
        for name in names:
            value = default_of(section, name)
            yield f"# {name} = {'...' if value is None else to_json(value, indent=None)}"
