"""The command line in tests: a folder to work in, and what a command came to."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from semsearch.cli.main import app
from semsearch.word_vectors.table import VectorTable

GUIDE = """---
author: Ada
year: 2021
tags: [sea, travel]
---
# The guide

## Ships

The captain of the ship sail to the harbour. A storm and a wave on the deck, "loud", was new. The anchor is old.

## Bread

The bread is from the oven. Flour and butter in the dough.
"""
NOTES = "A violin and a piano in the concert.\nThe judge in the court, and the jury.\n"
INDEX = "indexes/docs"


@dataclass(frozen=True)
class Result:
    """An exit status with both outputs."""

    status: int
    out: str
    err: str

    @property
    def json(self) -> Any:
        return json.loads(self.out)

    @property
    def lines(self) -> list[str]:
        return self.out.splitlines()


def semsearch(*arguments: object, stdin: str = "") -> Result:
    """Run a command in this process. A bug is raised as it is."""
    result = CliRunner().invoke(app, [str(argument) for argument in arguments], input=stdin, catch_exceptions=False)
    return Result(result.exit_code, result.stdout, result.stderr)


def write_docs(folder: Path) -> None:
    """docs/guide.md and docs/more/notes.txt."""
    (folder / "docs" / "more").mkdir(parents=True)
    (folder / "docs" / "guide.md").write_text(GUIDE, encoding="utf-8")
    (folder / "docs" / "more" / "notes.txt").write_text(NOTES, encoding="utf-8")


def index_docs(folder: Path, vectors: VectorTable) -> Path:
    """Index the folder's documents in it, with these word vectors; the folder again."""
    indexes = folder / "indexes"
    assert semsearch("index", folder / "docs", "--indexes", indexes, "--vectors", vectors.folder).status == 0
    return folder


def work_in(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Let commands run in a folder, and take back what they set."""
    monkeypatch.chdir(folder)
    for name in ("SEMSEARCH_INDEXES", "OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
        monkeypatch.setenv(name, "")
        monkeypatch.delenv(name)


def on_terminal(*arguments: object, **settings: str) -> str:
    """The output of the real command on a terminal of 80 columns."""
    pty, termios = (pytest.importorskip(name, reason="needs a terminal") for name in ("pty", "termios"))
    outside, inside = pty.openpty()
    termios.tcsetwinsize(inside, (24, 80))
    environment = {key: value for key, value in os.environ.items() if key not in ("NO_COLOR", "FORCE_COLOR")}
    with subprocess.Popen(
        [sys.executable, "-m", "semsearch", *map(str, arguments)],
        env={
            **environment,
            "PYTHONPATH": os.pathsep.join(sys.path),
            "TERM": "xterm-256color",
            "COLUMNS": "80",
            **settings,
        },
        stdin=subprocess.DEVNULL,
        stdout=inside,
        stderr=inside,
    ):
        os.close(inside)
        shown = b""
        try:
            while piece := os.read(outside, 4096):
                shown += piece
        except OSError:  # the other end is closed
            pass
        os.close(outside)
    return shown.decode()
