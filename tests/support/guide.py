"""The guide as data: its pages, code blocks, headings and links; and a folder in which its commands can be run."""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).parents[2]
PARTS = ("scale", "integrations", "research")  # the folders of the distributions that add to semsearch
_PAPERS = ("README", "sif", "usif", "cbos", "white")
# of runs that took hours, or written by one
RECORDS = ("docs/research/measurements.md", *(f"research/docs/papers/{name}.md" for name in _PAPERS))
PAGES = sorted(
    path.relative_to(ROOT).as_posix()
    for folder in (ROOT, *(ROOT / part for part in PARTS))
    for path in (*folder.glob("*.md"), *folder.glob("docs/**/*.md"))
)

_MARK = re.compile(r"<!--\s*(?:not run: (?P<reason>.*?)|(?P<name>(?:try|test) command))\s*-->")
_FENCE = re.compile(r"^```(?P<language>\S*)\s*$")
_CODE = re.compile(r"`[^`\n]*`")
_LINK = re.compile(r"!?\[[^\]]*\]\((?P<target>[^()\s]+)\)")
_HEADING = re.compile(r"^#+ +(?P<text>.+?) *$", re.MULTILINE)


@dataclass(frozen=True)
class Block:
    """A fenced block. `reason`: why it is not run, where a comment before it says so."""

    language: str
    code: str
    line: int
    reason: str = ""


def blocks(text: str) -> list[Block]:
    """The fenced blocks of a page, in order."""
    found: list[Block] = []
    before, opened = "", None
    for number, line in enumerate(text.splitlines(), start=1):
        if opened is not None:
            if line == "```":
                language, first, mark = opened
                code = "\n".join(text.splitlines()[first : number - 1])
                found.append(Block(language, code, first, (mark["reason"] or mark["name"]) if mark else ""))
                opened = None
        elif fence := _FENCE.match(line):
            opened = fence["language"], number, _MARK.fullmatch(before)
        if line.strip():
            before = line.strip()
    assert opened is None, f"a block that begins in line {opened[1] if opened else 0} does not end"
    return found


def prose(text: str) -> str:
    """A page without its fenced blocks, line by line."""
    fenced, lines = False, []
    for line in text.splitlines():
        fence = line.startswith("```")
        lines.append("" if fenced or fence else line)
        fenced = fenced != fence
    return "\n".join(lines)


def links(text: str) -> list[str]:
    """The targets of a page's links and pictures."""
    return [found["target"] for found in _LINK.finditer(_CODE.sub("", prose(text)))]


def anchors(text: str) -> set[str]:
    """The anchors of a page that a link can point to, as GitHub names headings; the second of one name gets -1."""
    seen: Counter[str] = Counter()
    found: set[str] = set()
    for heading in _HEADING.finditer(prose(text)):
        plain = re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", heading["text"]).replace("`", "")
        name = re.sub(r"[^\w\- ]", "", plain.lower()).replace(" ", "-")
        found.add(f"{name}-{seen[name]}" if seen[name] else name)
        seen[name] += 1
    return found


def read(page: str) -> str:
    """The text of a page."""
    return (ROOT / page).read_text(encoding="utf-8")


KEYS = """---
title: Keys
year: 2024
---
# Keys

## Who has them

Anna keeps the keys of the office. Ask her first.

## Rotation

We rotate the keys of every service once a month. First make a new key, then give it to the service, then revoke
the old one. A key that was lost is revoked at once.
"""
ERRORS = """---
year: 2021
author: Ada
---
# Errors

Error handling is done at the rim: a function raises, and the command prints one line.
"""
FILES = {
    "notes/keys.md": KEYS,
    "notes/printer.txt": "The printer on the second floor jams.\n\nTurn it off, and open the tray.\n",
    "notes/guide/errors.md": ERRORS,
    "project/README.md": "# The project\n\nIt rotates keys.\n",
    "project/rotate.py": '"""Rotate all keys."""\n',
    "project/vendor/other.md": "Somebody else's.\n",
    "questions.txt": "how do I rotate the keys?\nwhy does the printer jam?\n",
}


def make_world(folder: Path) -> None:
    """Make a world: notes, a project, queries, and the guide's first pages as `docs`."""
    for name, text in FILES.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    (folder / "docs").mkdir()
    for name in ("getting-started.md", "indexing.md", "querying.md"):
        (folder / "docs" / name).write_text(read(f"docs/{name}"), encoding="utf-8")
