"""The figures of the house that a change must not make worse: tests/house.py prints them all."""

from __future__ import annotations

import importlib.util
import shutil
import sys
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

HERE = Path(__file__).parent


@pytest.fixture(scope="module")
def program() -> ModuleType:
    """The program that measures; it is no module of a package."""
    spec = importlib.util.spec_from_file_location("house", HERE / "house.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules["house"] = module
    spec.loader.exec_module(module)
    return module


@pytest.fixture(scope="module")
def house(program: ModuleType) -> Any:
    """The code as it is, which is read once."""
    return program.House()


def test_no_modules_import_each_other_in_a_circle(house: Any) -> None:
    assert house.circles == []  # in functions and for types neither


def test_a_file_name_says_which_file_is_meant(house: Any) -> None:
    assert len(house.names_used_twice) <= 5


def test_a_module_is_a_chapter(program: ModuleType, house: Any) -> None:
    small = [module for module in house.with_one_importer if house.lines[module] < program.SMALL]
    assert (len(house.files) <= 400, len(house.with_one_importer) <= 90, len(small) <= 10) == (True, True, True), small


def test_the_options_of_a_search_and_the_types_of_arrays_are_declared_once(house: Any) -> None:
    assert list(house.search_signatures) == ["semsearch.searchable"]
    assert list(house.array_aliases) == ["semsearch.arrays.types"]


@pytest.fixture(scope="module")
def index(program: ModuleType) -> Iterator[str]:
    """A small index."""
    with program.small_index() as folder:
        yield folder


@pytest.mark.parametrize(
    ("mode", "most", "others"), [("hybrid", 100, set()), ("lexical", 92, {"faiss", "signal", "shlex"})]
)
def test_a_query_imports_no_more_than_it_needs(
    mode: str, most: int, others: set[str], program: ModuleType, index: str
) -> None:
    imported = program.imported_by("query", program.QUERY, "--index", index, "--mode", mode)
    assert most // 2 < len(program.of_package(imported)) <= most
    assert not {
        *others,
        "typer",
        "rich",
        "scipy",
        "secrets",
        "hashlib",  # OpenSSL
        "numpy.ma",
        "concurrent.futures",
        "importlib.metadata",
    } & {*imported}


@pytest.mark.parametrize("command", [("context", "a question", "--all"), ("list",), ("status",)])
def test_a_command_that_is_given_plainly_imports_no_typer(
    command: tuple[str, ...], program: ModuleType, index: str
) -> None:
    imported = program.imported_by(*command, "--index", index)
    assert "semsearch.cli.start" in imported
    assert "typer" not in imported


def test_the_list_of_commands_imports_none_of_them(program: ModuleType) -> None:
    imported = program.of_package(program.imported_by("--help"))
    others = [name for name in imported if name.startswith("semsearch.cli.commands.")]
    assert (len(imported) <= 35, others) == (True, [])


@pytest.mark.skipif(shutil.which("strace") is None, reason="needs strace")
def test_a_query_calls_the_system_little_more_often_than_its_libraries(program: ModuleType, index: str) -> None:
    program.imported_by("query", program.QUERY, "--index", index)  # compiled
    least = program.system_calls("-c", "import numpy, faiss")
    assert program.system_calls("-m", "semsearch", "query", program.QUERY, "--index", index) <= 2 * least


def test_a_circle_is_found_wherever_the_import_stands(program: ModuleType, tmp_path: Path) -> None:
    package = tmp_path / "semsearch"
    package.mkdir()
    (package / "one.py").write_text("from semsearch.two import b\n")
    (package / "two.py").write_text("def b():\n    from semsearch import three\n")
    (package / "three.py").write_text("if TYPE_CHECKING:\n    import semsearch.one\n")
    (package / "four.py").write_text("import semsearch.one\n")
    circles = [sorted(circle) for circle in program.House(package).circles]
    assert circles == [["semsearch.one", "semsearch.three", "semsearch.two"]]
