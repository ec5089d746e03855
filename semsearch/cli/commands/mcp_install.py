"""`semsearch mcp install CLIENT`: enter the server in the configuration of a program with an agent."""

from __future__ import annotations

import difflib
import json
import shutil
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import platformdirs

from semsearch.cli.printing import ask_on_terminal, complain
from semsearch.errors import StorageError, UsageError
from semsearch.system.durable import replace_file, write_durably

_NAME = "semsearch"


@dataclass(frozen=True, slots=True)
class Client:
    """A program with an agent: its configuration file, and the key that its servers are under there."""

    file: Callable[[], Path]
    key: str = "mcpServers"


def _in_home(*parts: str) -> Callable[[], Path]:
    return lambda: Path.home().joinpath(*parts)


CLIENTS = {
    "claude-code": Client(lambda: Path(".mcp.json")),  # of the current folder, as that of VS Code
    "claude-desktop": Client(
        lambda: platformdirs.user_config_path("Claude", appauthor=False, roaming=True) / "claude_desktop_config.json"
    ),
    "cursor": Client(_in_home(".cursor", "mcp.json")),
    "vscode": Client(lambda: Path(".vscode", "mcp.json"), "servers"),
    "codex": Client(_in_home(".codex", "config.toml"), "mcp_servers"),
    "gemini": Client(_in_home(".gemini", "settings.json")),
}


def install(words: Sequence[str], options: Sequence[str], *, only_print: bool, yes: bool) -> None:
    """Show how the configuration of a client changes so that it starts `semsearch mcp` with these options; ask; do it.

    Raises UsageError, StorageError.
    """
    client = CLIENTS.get(words[1]) if len(words) == 2 and words[0] == "install" else None
    if client is None:
        raise UsageError(
            f"semsearch mcp {' '.join(words)} names none of these programs: {', '.join(CLIENTS)}; "
            f"for example: semsearch mcp install {next(iter(CLIENTS))}"
        )
    program = shutil.which(_NAME)
    command = [program, "mcp"] if program else [sys.executable, "-m", _NAME, "mcp"]
    entry = {"command": command[0], "args": [*command[1:], *options]}
    file = client.file()
    if only_print:
        print(_changed("", file, client.key, entry), end="")
        return
    try:
        before = file.read_text(encoding="utf-8") if file.exists() else ""
    except (OSError, ValueError) as error:
        raise StorageError(f"cannot read {file}: {error}") from None
    after = _changed(before, file, client.key, entry)
    if after == before:
        complain(f"{file} has this entry already")
        return
    lines = difflib.unified_diff(before.splitlines(), after.splitlines(), str(file), str(file), lineterm="", n=2)
    print(*lines, sep="\n")
    if not yes and not ask_on_terminal(f"Write this to {file}?"):
        raise UsageError("nothing was written; --yes writes it without a question, --print prints the entry alone")
    try:
        file.parent.mkdir(parents=True, exist_ok=True)
        target = file.resolve()  # a link stays one
        unfinished = target.with_name(f"{target.name}.tmp")
        write_durably(unfinished, lambda write: write(after.encode()))
        replace_file(unfinished, target)
    except OSError as error:
        raise StorageError(f"cannot write {file}: {error.strerror}") from None
    complain(f"{file} is written; start {words[1]} anew")


def _changed(before: str, file: Path, key: str, entry: dict[str, Any]) -> str:
    """A configuration with the entry. Raises UsageError for one that cannot be changed without loss."""
    if file.suffix == ".toml":
        if f"[{key}.{_NAME}]" in before:
            raise UsageError(
                f"{file} has an entry [{key}.{_NAME}] already; change it there: --print prints the new one"
            )
        lines = [f"[{key}.{_NAME}]", *(f"{name} = {json.dumps(value)}" for name, value in entry.items())]
        return "\n".join(filter(None, [before.rstrip(), *([""] if before else []), *lines])) + "\n"
    try:
        whole = json.loads(before or "{}")
        servers = whole.setdefault(key, {})
        servers[_NAME] = {"type": "stdio", **entry} if key == "servers" else entry
    except (ValueError, AttributeError, TypeError) as error:
        raise UsageError(f"{file} is not plain JSON ({error}); enter it yourself: --print prints the entry") from None
    return json.dumps(whole, indent=2, ensure_ascii=False) + "\n"
