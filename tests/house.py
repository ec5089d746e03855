"""How large the product is, and how far a reader must walk in it: the figures that CONTRIBUTING.md asks for.

    python tests/house.py            # in an environment in which semsearch is installed
    python tests/house.py --names    # with the names behind each figure

`tests/test_house.py` holds the figures that a change must not make worse.
"""

from __future__ import annotations

import ast
import re
import statistics
import subprocess
import sys
import tempfile
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
PACKAGE = "semsearch"
SMALL = 60  # lines: a module of fewer, with one importer, is usually a paragraph of that importer
DOCUMENTS = (
    "Bread rises because yeast makes gas.",
    "The spacecraft left the orbit of Saturn.",
    "Copper conducts electricity well.",
)
QUERY = "why does bread rise"
IMPORTED = """
import atexit, sys
sys.argv, out, sys.stdout = ["semsearch", *sys.argv[1:]], sys.stdout, sys.stderr
atexit.register(lambda: print(*sorted(sys.modules), sep="\\n", file=out, flush=True))
from semsearch.__main__ import main
main()
"""
VISITED = """
import sys
from pathlib import Path
from semsearch import Index
root = str(Path(sys.modules["semsearch"].__file__).parent)
with Index.open(sys.argv[1]) as index:
    for _ in range(3):
        index.search(sys.argv[2])
    files = []
    def note(frame, event, _):
        name = frame.f_code.co_filename
        if event == "call" and name.startswith(root):
            files.append(name)
    sys.setprofile(note)
    index.search(sys.argv[2])
    sys.setprofile(None)
print(*(Path(name).relative_to(root) for name in files), sep="\\n")
"""


@dataclass(frozen=True)
class House:
    """The modules of a package, as their text says: nothing is imported."""

    folder: Path = ROOT / PACKAGE
    files: dict[str, Path] = field(init=False)

    def __post_init__(self) -> None:
        found = {self._module(path): path for path in sorted(self.folder.rglob("*.py"))}
        object.__setattr__(self, "files", found)

    def _module(self, path: Path) -> str:
        parts = path.relative_to(self.folder.parent).with_suffix("").parts
        return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)

    @cached_property
    def text(self) -> dict[str, str]:
        return {module: path.read_text(encoding="utf-8") for module, path in self.files.items()}

    @cached_property
    def lines(self) -> dict[str, int]:
        return {module: text.count("\n") for module, text in self.text.items()}

    @property
    def chapters(self) -> list[str]:
        """The modules that are not the `__init__` of a package."""
        return [module for module, path in self.files.items() if path.name != "__init__.py"]

    @cached_property
    def imports(self) -> dict[str, set[str]]:
        """The modules of the package that each imports: at its top, in functions and for types only."""
        return {module: set(self._imports_of(module)) - {module} for module in self.files}

    def _imports_of(self, module: str) -> Iterator[str]:
        for node in ast.walk(ast.parse(self.text[module])):
            if isinstance(node, ast.ImportFrom) and node.module is not None:
                for name in (f"{node.module}.{alias.name}" for alias in node.names):
                    if name in self.files or node.module in self.files:
                        yield name if name in self.files else node.module
            elif isinstance(node, ast.Import):
                yield from (alias.name for alias in node.names if alias.name in self.files)

    @property
    def circles(self) -> list[list[str]]:
        """Groups of modules that import each other: the strongly connected components, by Tarjan's algorithm."""
        graph = {module: {each for each in found if self._is_chapter(each)} for module, found in self.imports.items()}
        order, low, stack, found = dict[str, int](), dict[str, int](), list[str](), list[list[str]]()

        def visit(module: str) -> None:
            order[module] = low[module] = len(order)
            stack.append(module)
            for each in graph[module]:
                if each not in order:
                    visit(each)
                if each in stack:
                    low[module] = min(low[module], low[each])
            if low[module] == order[module]:
                group = stack[stack.index(module) :]
                del stack[-len(group) :]
                if len(group) > 1:
                    found.append(group)

        for module in graph:
            if module not in order:
                visit(module)
        return found

    def _is_chapter(self, module: str) -> bool:
        return self.files[module].name != "__init__.py"

    @property
    def with_one_importer(self) -> list[str]:
        importers = Counter(each for found in self.imports.values() for each in found)
        return [module for module in self.chapters if importers[module] == 1]

    @property
    def names_used_twice(self) -> dict[str, list[str]]:
        places = defaultdict[str, list[str]](list)
        for module in self.chapters:
            places[self.files[module].name].append(module)
        return {name: modules for name, modules in places.items() if len(modules) > 1}

    def matching(self, pattern: str) -> dict[str, int]:
        """How often an expression matches in each module that has it."""
        counts = {module: len(re.findall(pattern, text, re.MULTILINE)) for module, text in self.text.items()}
        return {module: count for module, count in counts.items() if count}

    @property
    def search_signatures(self) -> dict[str, int]:
        """The modules with signatures that take the options of a search."""
        return self.matching(r"Unpack\[Search")

    @property
    def array_aliases(self) -> dict[str, int]:
        """The modules that name types of arrays."""
        return self.matching(r"^[A-Z]\w* = npt\.")


@contextmanager
def small_index() -> Iterator[str]:
    """An index of three documents."""
    with tempfile.TemporaryDirectory() as folder:
        docs, index = Path(folder, "docs"), str(Path(folder, "index"))
        docs.mkdir()
        for number, text in enumerate(DOCUMENTS):
            (docs / f"{number}.txt").write_text(text, encoding="utf-8")
        _run("-m", PACKAGE, "index", str(docs), "--index", index)
        yield index


def imported_by(*command: str) -> list[str]:
    """The modules that a command imports, others' too."""
    return _run("-c", IMPORTED, *command).split()


def of_package(modules: Iterable[str]) -> list[str]:
    """Those of semsearch among modules."""
    return [name for name in modules if name.split(".")[0] == PACKAGE]


def system_calls(*arguments: str) -> int:
    """How often a Python process calls the operating system, as strace counts it."""
    counting = ["strace", "-f", "-c", "-q", sys.executable, *arguments]
    done = subprocess.run(counting, check=True, capture_output=True, text=True, cwd=ROOT)
    (total,) = re.findall(r"^100\.00 .*? (\d+) +\d* *total$", done.stderr, re.MULTILINE)
    return int(total.split()[-1])


def queried() -> tuple[list[str], list[str]]:
    """The modules that `semsearch query` imports, and the files of the calls of a warm query, in their order."""
    with small_index() as index:
        imported = of_package(imported_by("query", QUERY, "--index", index))
        return imported, _run("-c", VISITED, index, QUERY).split()


def _run(*arguments: str) -> str:
    return subprocess.run([sys.executable, *arguments], check=True, capture_output=True, text=True, cwd=ROOT).stdout


def main() -> None:
    """Print the figures."""
    house = House()
    imported, visited = queried()
    moves = sum(here != there for here, there in zip(["", *visited], visited, strict=False))
    small = [module for module in house.with_one_importer if house.lines[module] < SMALL]
    figures: dict[str, tuple[str, list[str]]] = {
        "files": (f"{len(house.files)}", []),
        "lines": (f"{sum(house.lines.values()):,}", []),
        "median lines of a file": (f"{statistics.median(house.lines[module] for module in house.chapters):.0f}", []),
        "modules with one importer": (f"{len(house.with_one_importer)}", house.with_one_importer),
        f"of them under {SMALL} lines": (f"{len(small)}", small),
        "file names used twice": (f"{len(house.names_used_twice)}", sorted(house.names_used_twice)),
        "circles": (f"{len(house.circles)}", [" - ".join(circle) for circle in house.circles]),
        "signatures with the options of a search": (
            f"{sum(house.search_signatures.values())}",
            sorted(house.search_signatures),
        ),
        "files that name types of arrays": (f"{len(house.array_aliases)}", sorted(house.array_aliases)),
        "modules that a query imports": (f"{len(imported)}", imported),
        "files that a warm query visits": (f"{len(set(visited))}", sorted(set(visited))),
        "moves between them": (f"{moves}", []),
    }
    for name, (value, names) in figures.items():
        print(f"{name:42}{value:>8}")
        if "--names" in sys.argv[1:]:
            print(*(f"    {each}" for each in names), sep="\n", end="\n" if names else "")


if __name__ == "__main__":
    main()
