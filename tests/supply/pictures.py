"""Make the pictures of the guide from the current state: the terminal, the page and the map.

    python tests/supply/pictures.py               # rewrites docs/images
    python tests/supply/pictures.py terminal      # only that one: terminal, page or map

The terminal is what the real commands print on one of 100 columns, about the guide; the page and the map are seen
in Chromium, served by the real server. Look at them before they are committed: the map is of this project's own files,
and its places change with these. Needs Linux or macOS.
"""

from __future__ import annotations

import io
import os
import pty
import re
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

sys.path[:0] = [str(Path(__file__).parents[1] / "support"), str(Path(__file__).parents[2])]

from browsing import running_browser, visiting  # noqa: E402  # after the line above
from playwright.sync_api import Page, expect  # noqa: E402
from rich.console import Console  # noqa: E402
from rich.text import Text  # noqa: E402
from serving import running  # noqa: E402

from semsearch import Index  # noqa: E402
from semsearch.server.open_indexes import OpenIndexes  # noqa: E402

ROOT = Path(__file__).resolve().parents[2]
IMAGES = ROOT / "docs/images"
COLUMNS = 100
HOME = "/home/ada"  # shown instead of the temporary folder
COMMANDS = (  # two questions that the guide answers, and one that it does not
    "semsearch index docs/",
    'semsearch query "what if two programs write at the same time?" -k 2',
    'semsearch query "how do I remove a file from the index?" -k 1',
    'semsearch query "when was Mozart born?" -k 1',
)
QUESTION = "what if two programs write at the same time"
ON_THE_MAP = "what happens when the process is killed"
MAPPED = {"source": "semsearch", "tests": "tests", "guide": "docs"}  # the folder's name on the map, and its own


def terminal(folder: Path) -> None:
    """query.svg: the commands, and what they print."""
    shutil.copytree(ROOT / "docs", folder / "docs")
    (folder / "indexes").mkdir()
    console = Console(width=COLUMNS, record=True, file=io.StringIO(), force_terminal=True)
    for command in COMMANDS:
        console.print(Text.assemble(("$ ", "dim"), (command, "bold")), soft_wrap=True)
        console.print(Text.from_ansi(printed(command, folder).rstrip("\n")), soft_wrap=True)
        if command != COMMANDS[-1]:
            console.print()
    picture = console.export_svg(title="", unique_id="query", font_aspect_ratio=0.61)
    picture = re.sub(r"(?s)@font-face \{.*?\}\s*", "", picture)  # which would be fetched from elsewhere
    (IMAGES / "query.svg").write_text(re.sub(r"(?m)[ \t]+$", "", picture), encoding="utf-8")


def printed(command: str, folder: Path) -> str:
    """What a command prints in a folder, on a terminal."""
    program = [sys.executable, "-m", "semsearch"]
    arguments = [part or name for part, name in re.findall(r'"([^"]*)"|(\S+)', command)][1:]
    environment = os.environ | {"PYTHONPATH": str(ROOT), "COLUMNS": str(COLUMNS), "TERM": "xterm-256color"}
    environment |= {"SEMSEARCH_HOME": str(folder), "XDG_CONFIG_HOME": str(folder), "XDG_CACHE_HOME": str(folder)}
    ours, theirs = pty.openpty()
    with subprocess.Popen(
        [*program, *arguments], cwd=folder, env=environment, stdin=theirs, stdout=theirs, stderr=subprocess.PIPE
    ) as process:
        os.close(theirs)
        said = bytearray()
        while piece := _read(ours):
            said += piece
        complaint = process.stderr.read() if process.stderr else b""  # progress too
    os.close(ours)
    if process.returncode not in (0, 1):  # 1: nothing answers
        raise SystemExit(f"pictures: {command} failed:\n{complaint.decode()}")
    return said.decode().replace("\r\n", "\n").replace(str(folder), HOME)


def _read(terminal: int) -> bytes:
    try:
        return os.read(terminal, 65536)
    except OSError:  # Linux: the other end is closed
        return b""


def page(folder: Path) -> None:
    """page-light.png, page-dark.png with a source beside, page-narrow.png."""
    with Index.create(folder / "indexes/guide") as index:
        os.chdir(folder)
        shutil.copytree(ROOT / "docs", "docs", dirs_exist_ok=True)
        index.sync("docs")
    address = f"#/search?q={QUESTION.replace(' ', '+')}&index=guide"
    with running_browser() as browser, running(OpenIndexes(folder=folder / "indexes")) as asker:

        def taken(name: str, width: int, height: int, *, beside: bool = False) -> None:
            scheme = "dark" if beside else "light"
            with visiting(browser, asker, size=(width, height), scheme=scheme) as visit:  # type: ignore[arg-type]
                shown = visit.go(address)
                expect(shown.locator(".hit").first).to_be_visible()
                if beside:
                    shown.keyboard.press("ArrowDown")
                    shown.keyboard.press("Enter")
                    expect(shown.get_by_role("complementary", name="Source")).to_contain_text("programs")
                _take(shown, name)

        taken("page-light.png", 1280, 800)
        taken("page-dark.png", 1320, 700, beside=True)
        taken("page-narrow.png", 360, 740)


def map_(folder: Path) -> None:
    """map.png: this project's own files, and the passages that answer a question."""
    for name, own in MAPPED.items():
        kept = ("*.py", "*.md", "*.js")
        for pattern in kept:
            for path in (ROOT / own).rglob(pattern):
                to = folder / name / path.relative_to(ROOT / own)
                to.parent.mkdir(parents=True, exist_ok=True)
                shutil.copyfile(path, to)
    os.chdir(folder)
    with Index.create(folder / "mapped/semsearch") as index:
        index.sync(*MAPPED)
    with running_browser() as browser, running(OpenIndexes(folder=folder / "mapped")) as asker:
        asker.post("/v1/map", {"index": "semsearch"})
        with visiting(browser, asker, size=(1280, 800)) as visit:
            shown = visit.go(f"#/map?index=semsearch&q={ON_THE_MAP.replace(' ', '+')}")
            expect(shown.get_by_role("heading", name="The best")).to_be_visible(timeout=600_000)
            _take(shown, "map.png")


def _take(shown: Page, name: str) -> None:
    shown.evaluate("document.fonts.ready")
    time.sleep(1)  # the picture is for people to look at: what still moves may come to rest
    shown.screenshot(path=IMAGES / name)


def main() -> None:
    """Make all pictures, or those that are named."""
    made: dict[str, Callable[[Path], None]] = {"terminal": terminal, "page": page, "map": map_}
    if unknown := set(sys.argv[1:]) - set(made):
        sys.exit(f"pictures: {', '.join(sorted(unknown))}: choose from {', '.join(made)}")
    for name in sys.argv[1:] or made:
        with tempfile.TemporaryDirectory() as folder:
            made[name](Path(folder).resolve())
            os.chdir(ROOT)
    for path in sorted(IMAGES.iterdir()):
        print(f"{path.relative_to(ROOT)} {path.stat().st_size / 1000:,.0f} kB")


if __name__ == "__main__":
    main()
