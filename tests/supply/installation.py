"""The lines of the guide that install semsearch: from a checkout, or from a registry once it is released.

python tests/supply/installation.py --released    # changes RELEASED in semsearch/errors.py, and every page
"""

from __future__ import annotations

import argparse
import re
import sys
from collections.abc import Iterator
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1] / "support"))

from guide import PAGES, ROOT, read

TARGET = r"'?\.(?:/\w+)?(?:\[[\w,-]+\])?'?(?=[\s`;)]|$)"
LINE = re.compile(rf"(?P<program>(?:pipx?|uv tool) install(?: --?(?!e\b)[\w-]+)*)(?P<targets>(?: {TARGET})+)")
_OF_REGISTRY = re.compile(r"(?:pipx?|uv tool) install(?: --?[\w-]+)* '?semsearch\b")


def lines_of(page: str) -> Iterator[str]:
    """The commands of a page that install semsearch from a checkout."""
    yield from (match[0] for match in LINE.finditer(read(page)))


def targets_of(line: str) -> dict[str, list[str]]:
    """What a command installs: distributions, as folders of the checkout, with their extras."""
    targets = {}
    for target in LINE.fullmatch(line)["targets"].split():
        folder, _, extras = target.strip("'").removesuffix("]").partition("[")
        targets[folder] = extras.split(",") if extras else []
    return targets


def released(text: str) -> str:
    """A page whose commands install from a registry: `pip install semsearch-scale` for `pip install . ./scale`."""

    def change(match: re.Match[str]) -> str:
        targets = targets_of(match[0])
        names = []
        for folder, extras in targets.items():
            if folder == "." and len(targets) > 1 and not extras:
                continue  # the others need it
            name = "semsearch" + folder.removeprefix(".").replace("/", "-")
            names.append(f"'{name}[{','.join(extras)}]'" if extras else name)
        return " ".join([match["program"], *names])

    return re.sub(r" +# in a checkout of (?:semsearch|the repository)", "", LINE.sub(change, text))


def names_a_registry(page: str) -> bool:
    """Whether a page installs semsearch from a registry."""
    return bool(_OF_REGISTRY.search(read(page)))


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--released", action="store_true", required=True)
    parser.parse_args()
    errors = ROOT / "semsearch" / "errors.py"
    changed = errors.read_text(encoding="utf-8").replace("RELEASED = False", "RELEASED = True", 1)
    errors.write_text(changed, encoding="utf-8")
    for page in PAGES:
        (ROOT / page).write_text(released(read(page)), encoding="utf-8")
