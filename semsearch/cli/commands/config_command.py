"""`semsearch config`: the configured values with their sources, the files, and a new file."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import typer

from semsearch.cli.answer_formats import one_line, to_json
from semsearch.cli.command_options import JsonOption
from semsearch.cli.configuration import (
    PROFILES,
    SECRET,
    SECTIONS,
    Configuration,
    Profile,
    is_users_alone,
    read_configuration,
)
from semsearch.cli.configuration_files import NAME, project_file, users_file
from semsearch.cli.extensible_group import ExtensibleGroup
from semsearch.cli.messages import use_one_thread
from semsearch.cli.tables import aligned
from semsearch.errors import UsageError

app = typer.Typer(
    cls=ExtensibleGroup,
    rich_markup_mode=None,
    no_args_is_help=True,
    help="Defaults of options, from semsearch.toml and environment variables.",
)


@app.command("show")
def show(json: JsonOption = False) -> None:
    """Show all keys, with values and their sources."""
    use_one_thread()
    configured = read_configuration()
    if json:
        print(to_json(list(_objects(configured))))
        return
    rows = [
        ("key", "value", "from"),
        *((each["key"], _shown(each["value"]), each["source"]) for each in _objects(configured)),
    ]
    for line in aligned(rows, left=(0, 1, 2)):
        print(line)


@app.command("path")
def path() -> None:
    """Print the configuration files, your own first; later ones override earlier ones."""
    found = [file for file in (users_file(), project_file()) if file is not None and file.is_file()]
    for file in found:
        print(file)
    if not found:
        raise typer.Exit(1)


@app.command("init")
def init(user: bool = typer.Option(False, "--user", help="Create your own file, not the project's.")) -> None:
    """Create a semsearch.toml in this folder, with all keys and defaults as comments."""
    use_one_thread()
    file = users_file() if user else Path(NAME)
    file.parent.mkdir(parents=True, exist_ok=True)
    try:
        with file.open("x", encoding="utf-8") as opened:
            opened.write(_template(is_users=user))
    except OSError as error:
        raise UsageError(f"cannot create {file}: {error.strerror}") from None
    print(file)


def _objects(configured: Configuration) -> Iterator[dict[str, Any]]:
    for setting in configured.with_defaults():
        value = list(setting.value) if isinstance(setting.value, tuple) else setting.value
        value = "***" if setting.key == SECRET and value else value
        yield {"key": setting.key, "value": value, "source": setting.source}
    for profile in configured.profiles.values():
        for name in ("roots", "include", "exclude"):
            if values := getattr(profile, name):
                yield {"key": _key(profile, name), "value": list(values), "source": profile.source}


def _key(profile: Profile, name: str) -> str:
    return f"{PROFILES}.{profile.name}.{name}"


def _shown(value: Any) -> str:
    """A value as it is written in TOML; a dash for none."""
    return "-" if value is None else one_line(to_json(value, indent=None))


def _template(*, is_users: bool) -> str:
    """A configuration of comments: all keys with their defaults, and a profile."""
    lines = [
        "# Defaults of semsearch's options. The command line and variables such as SEMSEARCH_SEARCH_K override them."
    ]
    empty = Configuration({}, {})
    for section in SECTIONS:
        offered = [
            each
            for each in empty.with_defaults()
            if each.section == section and (is_users or not is_users_alone(each.key))
        ]
        lines += ["", *([f"[{section}]"] if section and offered else [])]
        for setting in offered:
            value = [] if setting.value == () else setting.value
            lines.append(f"# {setting.name} = {'...' if value is None else to_json(value, indent=None)}")
    lines += [
        "",
        "# what `semsearch index` without arguments brings up to date",
        "# [profiles.notes]",
        '# roots = ["notes"]',
    ]
    return "\n".join(lines) + "\n"
