"""The guide and the other distributions use public names only; and the public names are what they seem."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path

import pytest
from guide import PAGES, PARTS, ROOT, blocks, read

from semsearch import PUBLIC, PUBLIC_MODULES, public_names

NAMESPACES = {*PUBLIC, *PUBLIC_MODULES}
EVERYWHERE = {"__version__"}


def private(source: str, own: str = "") -> Iterator[str]:
    """What a program imports of semsearch that is not public; modules below `own` are its own."""
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Import):
            yield from (
                one.name for one in node.names if one.name.startswith("semsearch.") and one.name not in NAMESPACES
            )
        if not isinstance(node, ast.ImportFrom) or node.module is None or (own and node.module.startswith(own)):
            continue
        if node.module.split(".")[0] == "semsearch":
            for one in node.names:
                if node.module in PUBLIC and (one.name in public_names(node.module) or one.name in EVERYWHERE):
                    continue
                if f"{node.module}.{one.name}" in NAMESPACES:
                    continue
                if node.module not in PUBLIC_MODULES or one.name.startswith("_"):
                    yield f"{node.module}.{one.name}"


def files(folder: str) -> list[Path]:
    return sorted((ROOT / folder).rglob("*.py"))


@pytest.mark.parametrize("folder", PARTS)
def test_public_names_are_enough(folder: str) -> None:
    paths = [path for path in files(f"{folder}/semsearch_{folder}") if path.name != "llm_plugin.py"]
    found = {str(path.relative_to(ROOT)): list(private(path.read_text("utf-8"))) for path in paths}
    assert {path: names for path, names in found.items() if names} == {}


@pytest.mark.parametrize("page", PAGES)
def test_the_guides_programs_use_public_names(page: str) -> None:
    assert [name for block in blocks(read(page)) if block.language == "python" for name in private(block.code)] == []


def test_what_is_private_is_seen() -> None:
    for code in ("from semsearch.index import Index", "import semsearch.index", "from semsearch import index"):
        assert list(private(code)), code
    assert not list(
        private("from semsearch import Index, errors\nfrom semsearch.errors import SourceError\nimport semsearch")
    )


@pytest.mark.parametrize("namespace", sorted(PUBLIC))
def test_a_namespace_has_its_names_for_programs_and_for_whoever_checks_types(namespace: str) -> None:
    module = import_module(namespace)
    names = public_names(namespace)
    assert module.__all__ == sorted(names)
    folder = Path(str(module.__file__)).parent
    for name, home in names.items():
        assert getattr(module, name) is getattr(import_module(home), name)
        if hasattr(module, "__path__"):
            assert not (folder / f"{name}.py").exists(), f"{namespace}.{name} would be the module of that name"
    tree = ast.parse(Path(str(module.__file__)).read_text("utf-8"))
    typed = {
        one.name: node.module
        for block in tree.body
        if isinstance(block, ast.If) and ast.unparse(block.test) == "TYPE_CHECKING"
        for node in block.body
        if isinstance(node, ast.ImportFrom)
        for one in node.names
        if one.asname == one.name
    }
    assert typed == names
