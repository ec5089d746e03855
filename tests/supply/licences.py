"""The licences of all packages that semsearch, its extras and its tests need, as far as they are installed.

    python tests/supply/licences.py

Prints a line for each package and what is not permissive; the exit status says whether there is any such thing. A
licence is what a package's metadata state, else what its files say, which somebody has read: `READ`. What is not
permissive in a package and used nevertheless is in `ACCEPTED`, with the reason.
"""

from __future__ import annotations

import re
import sys
from functools import cache
from importlib.metadata import Distribution, PackageNotFoundError, distribution
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from packaging.requirements import Requirement

PERMISSIVE = {
    "0BSD",
    "Apache-2.0",
    "BSD",
    "BSD-2-Clause",
    "BSD-3-Clause",
    "AFL-2.1",
    "CC0-1.0",
    "CNRI-Python",
    "HPND",
    "ISC",
    "MIT",
    "MIT-0",
    "MIT-CMU",
    "PSF-2.0",
    "Python-2.0",
    "Unlicense",
    "Zlib",
    "public domain",
}
NAMES = {  # what packages write instead of an SPDX identifier
    "Academic Free License (AFL)": "AFL-2.1",
    "Apache 2.0": "Apache-2.0",
    "Apache License 2.0": "Apache-2.0",
    "Apache License, Version 2.0": "Apache-2.0",
    "Apache Software License": "Apache-2.0",
    "BSD 2-Clause License": "BSD-2-Clause",
    "BSD 3-Clause License": "BSD-3-Clause",
    "BSD License": "BSD",
    "ISC License": "ISC",
    "ISC License (ISCL)": "ISC",
    "MIT License": "MIT",
    "Mozilla Public License 2.0 (MPL 2.0)": "MPL-2.0",
    "Public Domain": "public domain",
    "Python Software Foundation License": "PSF-2.0",
}
READ = {
    "axe-playwright-python": "MIT",  # and axe-core in it, MPL-2.0; for the tests only
    "haystack-ai": "Apache-2.0",
    "pypdfium2": "BSD-3-Clause AND Apache-2.0",  # and PDFium's own libraries, all permissive
    "pyromark": "MIT",
}
ACCEPTED = {
    "certifi": "MPL-2.0",  # comes with others: a list of certificates
    "gensim": "LGPL-2.1-only",  # an extra of its own, `papers`: only to repeat the papers
    "hypothesis": "MPL-2.0",  # for the tests only
    "pathspec": "MPL-2.0",  # used as it is; MPL asks for nothing beyond its own files
    "orjson": "MPL-2.0",  # comes with others, used as it is
    "tqdm": "MPL-2.0",  # comes with others, used as it is
}


@cache
def needed(root: str = "semsearch") -> list[Distribution]:
    """The installed packages that a package and all its extras need, themselves and through others, by name."""
    from packaging.requirements import Requirement

    asked: dict[str, set[str]] = {}
    found: dict[str, Distribution] = {}
    waiting = [(root, set(distribution(root).metadata.get_all("Provides-Extra") or ()))]
    while waiting:
        name, extras = waiting.pop()
        key = re.sub(r"[-_.]+", "-", name).lower()
        if key in asked and extras <= asked[key]:
            continue
        asked[key] = asked.get(key, set()) | extras
        try:
            found[key] = distribution(name)
        except PackageNotFoundError:  # of an extra that is not installed
            continue
        for text in found[key].requires or ():
            requirement = Requirement(text)
            if _is_wanted(requirement, extras):
                waiting.append((requirement.name, set(requirement.extras)))
    return [found[key] for key in sorted(found) if key != root]


def _is_wanted(requirement: Requirement, extras: set[str]) -> bool:
    return requirement.marker is None or any(requirement.marker.evaluate({"extra": extra}) for extra in ("", *extras))


def licence(package: Distribution) -> str:
    """The licence that a package states, as an SPDX expression where it is one; "" if it states none."""
    metadata = package.metadata
    if metadata["Name"].lower() in READ:
        return READ[metadata["Name"].lower()]
    if expression := metadata.get("License-Expression"):
        return str(expression)
    classified = [
        text.rpartition(" :: ")[2] for text in metadata.get_all("Classifier") or () if text.startswith("License")
    ]
    stated = classified or [(metadata.get("License") or "").strip().partition("\n")[0]]
    return " AND ".join(NAMES.get(name, name) for name in stated)


def restrictive(expression: str) -> set[str]:
    """The licences that hold and are not permissive; of several to choose from, none if one is."""
    parts = [part.strip(" ()") for part in re.split(r"\bAND\b", expression)]
    return {part for part in parts if not any(name.strip(" ()") in PERMISSIVE for name in re.split(r"\bOR\b", part))}


def refused() -> list[str]:
    """The packages whose licence is neither permissive nor accepted, each with what it states."""
    stated = [(str(package.metadata["Name"]), licence(package)) for package in needed()]
    return [
        f"{name}: {text or 'states no licence'}"
        for name, text in stated
        if restrictive(text) - {ACCEPTED.get(name.lower())}
    ]


def main() -> None:
    for package in needed():
        print(f"{package.metadata['Name']:<28}{package.version:<14}{licence(package)}")
    for line in (wrong := refused()):
        print(f"not permissive: {line}", file=sys.stderr)
    sys.exit(1 if wrong else 0)


if __name__ == "__main__":
    main()
