"""Write the reference: commands and options from the command line itself, fields of JSON from the results' classes.

python tests/support/reference_page.py            # writes docs/reference.md
python tests/support/reference_page.py research   # writes research/docs/reference.md: the commands of that distribution

Between "## Environment variables" and "## Objects in JSON" the page is written by hand, and stays as it is.
"""

from __future__ import annotations

import ast
import re
import sys
from collections.abc import Iterator
from importlib.metadata import entry_points
from pathlib import Path
from typing import Any

from typer.main import get_command

from semsearch.cli.main import app
from semsearch.cli.plugged_in import GROUP, LazyCommand

ROOT = Path(__file__).parents[2]
HANDWRITTEN, OBJECTS = "## Environment variables", "## Objects in JSON"
_OBJECTS = """\
In Python these are frozen dataclasses with the same names; `to_dict()` gives what stands here. A key that has no value
may be missing.
"""
_MODULES = [
    *(f"results/{name}.py" for name in ("hits", "options", "origin", "explanation", "documents", "reports")),
    "chat.py",
    "maintenance/index_folders.py",
]


def commands(distribution: str = "semsearch") -> Iterator[tuple[str, Any, Any]]:
    """Each command that a distribution brings: its whole name, typer's command, and a context of it."""
    plugged_in = {point.name.replace(".", " "): point.value.partition(".")[0] for point in entry_points(group=GROUP)}

    def below(command: Any, parent: Any, name: str) -> Iterator[tuple[str, Any, Any]]:
        context = command.context_class(command, parent=parent, info_name=name.rpartition(" ")[2])
        owner = plugged_in.get(name.removeprefix("semsearch "), "semsearch")
        if owner == distribution and parent is not None:
            yield name, command, context
        for child in command.list_commands(context) if hasattr(command, "list_commands") else ():
            one = command.get_command(context, child)
            yield from below(one.loaded() if isinstance(one, LazyCommand) else one, context, f"{name} {child}")

    return below(get_command(app), None, "semsearch")


def command_lines(name: str, command: Any, context: Any) -> Iterator[str]:
    """The section of a command: usage, help, and a table of its arguments and options."""
    yield from (
        f"### {name}",
        "",
        "```text",
        _usage(" ".join([name, *command.collect_usage_pieces(context)])),
        "```",
        "",
    )
    if command.help:
        yield from (_prose(command.help), "")
    records = [record for parameter in command.params if (record := parameter.get_help_record(context))]
    if records:
        yield from ("| argument or option | meaning |", "|---|---|")
        yield from (f"| {_code(_usage(names))} | {_prose(meaning)} |" for names, meaning in records)
        yield ""


def class_lines(path: Path) -> Iterator[str]:
    """A section for each public dataclass of a module: its fields with their types and comments."""
    source = path.read_text(encoding="utf-8")
    lines = source.splitlines()
    for node in ast.parse(source).body:
        if not isinstance(node, ast.ClassDef) or node.name.startswith("_"):
            continue
        fields = [one for one in node.body if isinstance(one, ast.AnnAssign) and isinstance(one.target, ast.Name)]
        if not fields or not any("dataclass" in ast.unparse(one) for one in node.decorator_list):
            continue
        yield from (f"### {node.name}", "", _prose(ast.get_docstring(node) or ""), "")
        yield from ("| key | is | meaning |", "|---|---|---|")
        for field in fields:
            above = lines[field.lineno - 2].strip()  # where a comment stands that is too long for the field's line
            comment = lines[(field.end_lineno or 1) - 1][field.end_col_offset or 0 :].partition("#")[2]
            comment = comment or (above.removeprefix("#") if above.startswith("#") else "")
            yield f"| `{ast.unparse(field.target)}` | {_code(ast.unparse(field.annotation))} | {_prose(comment)} |"
        yield ""


def page(old: str, distribution: str = "semsearch") -> str:
    """The page anew, with the opening and the handwritten part of an old one."""
    opening = old.partition("## Commands")[0]
    handwritten = old[old.index(HANDWRITTEN) :].partition(OBJECTS)[0]
    lines = ["## Commands", "", "Each command has `-h` and `--help`.", ""]
    for name, command, context in commands(distribution):
        lines += command_lines(name, command, context)
    objects = []
    if distribution == "semsearch":
        objects = [OBJECTS, "", _OBJECTS]
        for module in _MODULES:
            objects += class_lines(ROOT / "semsearch" / module)
    return (opening + "\n".join(lines) + "\n" + handwritten + "\n".join(objects)).rstrip("\n") + "\n"


def _usage(text: str) -> str:
    """Arguments and choices as typer 0.26 writes them; 0.28 has {FILE} and <a|b>."""
    return re.sub(r"<(\S+)>", r"[\1]", re.sub(r"\{(\S+)\}", r"\1", text))


def _prose(text: str) -> str:
    """A text on one line, which Markdown leaves as it is."""
    return re.sub(r"([|*<>\[\]_])", r"\\\1", " ".join(text.split()))


def _code(text: str) -> str:
    return "`" + " ".join(text.split()).replace("|", r"\|") + "`"


if __name__ == "__main__":
    folder, distribution = (
        ("research/docs", "semsearch_research") if sys.argv[1:] == ["research"] else ("docs", "semsearch")
    )
    path = ROOT / folder / "reference.md"
    path.write_text(page(path.read_text(encoding="utf-8"), distribution), encoding="utf-8")
