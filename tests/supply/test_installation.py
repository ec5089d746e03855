"""The lines of the guide that install semsearch: they name what there is, and install it in a fresh environment.

The latter downloads packages, and takes minutes: `nox -f tests/noxfile.py -s installation`.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest
from guide import PAGES, ROOT
from installation import lines_of, names_a_registry, targets_of

from semsearch.errors import RELEASED

INSTALLED = sorted({line for page in ("README.md", "research/README.md") for line in lines_of(page)})
is_asked = pytest.mark.skipif("SEMSEARCH_INSTALL" not in os.environ, reason="nox -f tests/noxfile.py -s installation")


def test_every_line_names_distributions_and_extras_that_exist() -> None:
    lines = {line for page in PAGES for line in lines_of(page)}
    assert {"pip install .", "pipx install .", "uv tool install .", "pip install . ./research"} <= lines or RELEASED
    for line in lines:
        for folder, extras in targets_of(line).items():
            project = tomllib.loads((ROOT / folder / "pyproject.toml").read_text(encoding="utf-8"))["project"]
            assert {*extras} <= project.get("optional-dependencies", {}).keys(), line


def test_no_page_installs_from_a_registry_before_a_release() -> None:
    assert [page for page in PAGES if names_a_registry(page)] == [] or RELEASED


@is_asked
@pytest.mark.parametrize("line", INSTALLED)
def test_a_line_installs_a_command_that_works(line: str, tmp_path: Path) -> None:
    """In a new environment and home, from a copy of the checkout; pipx and uv are installed for it."""
    left_out = shutil.ignore_patterns(".git", ".venv", "build", "__pycache__", ".*_cache")
    checkout = Path(shutil.copytree(ROOT, tmp_path / "checkout", ignore=left_out))
    programs = tmp_path / "venv" / ("Scripts" if os.name == "nt" else "bin")
    subprocess.run([sys.executable, "-m", "venv", tmp_path / "venv"], check=True)
    if not line.startswith("pip "):
        subprocess.run([programs / "pip", "install", "-q", "pipx", "uv"], check=True)
    home = {"HOME": str(tmp_path), "PIPX_HOME": str(tmp_path / "pipx"), "PIPX_BIN_DIR": str(tmp_path / "bin")}
    home |= {"UV_TOOL_DIR": str(tmp_path / "tools"), "UV_TOOL_BIN_DIR": str(tmp_path / "bin")}
    path = os.pathsep.join(map(str, (tmp_path / "bin", programs, os.environ["PATH"])))
    environment = {key: value for key, value in os.environ.items() if key != "PYTHONPATH"} | home | {"PATH": path}
    subprocess.run(line, shell=True, check=True, cwd=checkout, env=environment)
    doctor = subprocess.run(["semsearch", "doctor"], cwd=tmp_path, env=environment, capture_output=True, text=True)
    assert doctor.returncode == 0, doctor.stdout
    assert str(tmp_path) in doctor.stdout.splitlines()[0]
