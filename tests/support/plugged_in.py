"""A distribution of another author, as an installer leaves it: a module, and the entry points that announce it."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from semsearch.readers import registry

UPPER = """
from semsearch.readers.document import Block, Document
from semsearch.readers.registry import Format

FORMAT = Format("shouted", (".loud",), "upper_reader", version="{version}")


def read(source, name):
    return Document(source, [Block(source.strip().upper(), 0)], title="Shouted")
"""


def install(folder: Path, module: str, code: str, group: str = registry.GROUP, **entry_points: str) -> None:
    """Write a module and its metadata into a folder, which is to be on sys.path."""
    folder.mkdir(parents=True, exist_ok=True)
    (folder / f"{module}.py").write_text(code, encoding="utf-8")
    metadata = folder / f"{module}-1.0.dist-info"
    metadata.mkdir(exist_ok=True)
    (metadata / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {module}\nVersion: 1.0\n", encoding="utf-8")
    points = "\n".join(f"{name} = {value}" for name, value in entry_points.items())
    (metadata / "entry_points.txt").write_text(f"[{group}]\n{points}\n", encoding="utf-8")


def forget() -> None:
    """Have the registry as it is in a new process."""
    registry.FORMATS.clear()
    registry.SUFFIXES.clear()
    for kind in registry.BUILT_IN:
        registry.register(kind)
    registry.plugins.cache_clear()


@contextmanager
def installed(folder: Path) -> Iterator[None]:
    """The folder on sys.path, and no module of it left afterwards."""
    modules = {path.stem for path in folder.glob("*.py")}
    sys.path.insert(0, str(folder))
    forget()
    try:
        yield
    finally:
        sys.path.remove(str(folder))
        for module in modules:
            sys.modules.pop(module, None)
        forget()
