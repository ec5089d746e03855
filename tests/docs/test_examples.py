"""Every command and every program of the guide runs as written, or says why it is not run.

The blocks of a page are run in their order, in one folder, as a reader would: a shell block by bash, a Python block as
a program of its own, which shares its process with those next to it. Commands and programs run in forks of a process
that has imported what they need (processes/command_server.py); those of README.md as for a reader.
`<!-- not run: REASON -->` before a block leaves it out.
"""

from __future__ import annotations

import json
import os
import re
import shlex
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from itertools import groupby
from pathlib import Path

import pytest
from guide import PAGES, RECORDS, ROOT, Block, blocks, make_world, prose, read
from processes import command_server

EXAMPLES = [page for page in PAGES if page not in RECORDS]
_HERE = (str(ROOT), str(ROOT / "scale"), str(ROOT / "integrations"), str(ROOT / "research"))
ENVIRONMENT = {
    "PYTHONPATH": os.pathsep.join([*_HERE, *filter(None, [os.environ.get("PYTHONPATH")])]),
    "OMP_NUM_THREADS": "1",
    "OPENBLAS_NUM_THREADS": "1",
    "HAYSTACK_TELEMETRY_ENABLED": "False",
}
PROGRAMS = """
import json, sys
for line, code in json.loads(sys.argv[1]):
    exec(compile(code, f"the block in line {line}", "exec"), {"__name__": "__main__"})
"""
LANGUAGES = {
    "sh",
    "python",
    "text",
    "json",
    "toml",
    "ini",
    "xml",
    "nginx",
    "lua",
    "elisp",
}  # text: what is printed, or a formula
NOTES = ["semsearch index notes/"]
BEFORE = {  # what a reader has done before opening the page
    "docs/indexing.md": ["semsearch index docs/"],
    "docs/querying.md": NOTES,
    "integrations/docs/frameworks.md": NOTES,
    "docs/developers/language-models.md": NOTES,
    "docs/agents.md": NOTES,
    "docs/developers/large-indexes.md": NOTES,
    "docs/research/measuring.md": NOTES,
    "research/docs/experiments.md": NOTES,
}
NEEDS = {
    "integrations/docs/frameworks.md": ["langchain_core", "llama_index.core", "haystack"],  # .ci/run installs them
    "scale/docs/engines.md": ["lance"],
}
WITH_CODE = [page for page in EXAMPLES if any(not block.reason for block in blocks(read(page)))]

needs_bash = pytest.mark.skipif(os.name == "nt" or not shutil.which("bash"), reason="the guide's commands are for bash")


@pytest.fixture
def world(tmp_path: Path) -> Path:
    """A folder with documents, and on the path `semsearch` and `programs`: of this interpreter and this checkout."""
    folder, programs = tmp_path / "world", tmp_path / "bin"
    folder.mkdir()
    programs.mkdir()
    make_world(folder)
    python = shlex.quote(sys.executable)
    put(programs / "semsearch", f'#!/bin/sh\nexec {python} -m semsearch "$@"\n')
    put(programs / "programs", f'#!/bin/sh\nexec {python} -c {shlex.quote(PROGRAMS)} "$@"\n')
    return folder


def put(program: Path, text: str) -> None:
    program.write_text(text, encoding="utf-8")
    program.chmod(0o755)


@pytest.fixture(scope="module")
def client() -> Iterator[str | None]:
    """The program of a client of a process that runs commands and programs in forks; None where there are no forks."""
    if not hasattr(os, "fork"):
        yield None
        return
    with tempfile.TemporaryDirectory() as folder:
        address = f"{folder}/socket"  # a socket's path may have a hundred bytes
        server = subprocess.Popen(
            [sys.executable, command_server.__file__, address],
            env={**os.environ, **ENVIRONMENT},
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        with server:
            assert server.stdout is not None
            assert server.stdout.readline() == "listening\n"
            yield command_server.CLIENT.format(python=sys.executable, address=address)
            assert server.stdin is not None
            server.stdin.close()


def run(command: list[str], world: Path) -> subprocess.CompletedProcess[str]:
    """Run a program in the world."""
    environment = {
        **os.environ,
        "HOME": str(world),
        "PATH": os.pathsep.join([str(world.parent / "bin"), os.environ["PATH"]]),
        **ENVIRONMENT,
    }
    environment.pop("SEMSEARCH_INDEXES", None)
    return subprocess.run(command, cwd=world, env=environment, capture_output=True, text=True, encoding="utf-8")


def run_blocks(language: str, found: list[Block], world: Path) -> subprocess.CompletedProcess[str]:
    """Run blocks of a language that stand one after the other."""
    if language == "sh":
        return run(["bash", "-euo", "pipefail", "-c", "\n".join(block.code for block in found)], world)
    return run(["programs", json.dumps([(block.line, block.code) for block in found])], world)


@needs_bash
@pytest.mark.parametrize("page", WITH_CODE)
def test_the_code_of_a_page_runs_in_its_order(page: str, world: Path, client: str | None) -> None:
    if client and page != "README.md":
        for name in ("semsearch", "programs"):
            put(world.parent / "bin" / name, client)
    for package in NEEDS.get(page, ()):
        pytest.importorskip(package, reason="an optional dependency")
    for command in BEFORE.get(page, ()):
        assert run(shlex.split(command), world).returncode == 0
    to_run = [block for block in blocks(read(page)) if block.language in ("sh", "python") and not block.reason]
    for language, found in groupby(to_run, key=lambda block: block.language):
        some = list(found)
        done = run_blocks(language, some, world)
        lines = f"{page}, from line {some[0].line} to {some[-1].line}"
        assert done.returncode == 0, f"{lines}\n{done.stdout}{done.stderr}"


@needs_bash
def test_the_readmes_first_command_finds_the_answer(world: Path) -> None:
    (command,) = [block.code for block in blocks(read("README.md")) if block.reason == "try command"]
    *_, index, query = (part.strip().replace(".venv/bin/", "") for part in command.split("&&"))
    shutil.rmtree(world / "docs")
    shutil.copytree(ROOT / "docs", world / "docs", ignore=shutil.ignore_patterns("images"))
    assert run(shlex.split(index), world).returncode == 0
    answer = run(shlex.split(query), world)
    assert answer.returncode == 0
    assert "lock" in "\n".join(answer.stdout.splitlines()[:6])  # the first two hits


@pytest.mark.parametrize("page", EXAMPLES)
def test_no_code_of_a_page_escapes(page: str) -> None:
    text = read(page)
    for block in blocks(text):
        assert block.language in LANGUAGES, f"{page}, line {block.line}: say what language the block is in"
    indented = re.findall(r"^(?: {4,}|\t)(?:\$ |python |semsearch |from |import ).*$", prose(text), re.MULTILINE)
    assert not indented, f"{page}: put these into a fenced block, so that they are run"
