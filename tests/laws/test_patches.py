"""A test replaces only what is the project's own: a function of `time` or `os` is called by other threads too."""

from __future__ import annotations

import pytest
from patches import PARTS, ROOT, foreign_patches

TESTS = ROOT / "tests"
PROGRAMS = ("benchmarks", "torture")  # they run in processes of their own
ALLOWED = {
    "conftest.py": "says where the files of the whole run lie, before it begins",
    "support/disk_faults/file_doors.py": "lets everything through but what is written in a test's own folder",
    "support/processes/command_server.py": "runs in a process of its own, whose streams and arguments it sets",
    "support/processes/crashing.py": "runs in a process of its own, which it ends",
}
CURE = (
    "It is called by other threads too. Give the code under test an argument (clock=, screen=), patch "
    "semsearch.system.clock, or make a function of the project for the call, and patch that"
)


def test_a_test_replaces_only_what_is_the_projects_own() -> None:
    found = []
    for path in sorted(
        [*TESTS.rglob("*.py"), *(path for part in PARTS for path in (ROOT / part / "tests").rglob("*.py"))]
    ):
        name = path.relative_to(TESTS if path.is_relative_to(TESTS) else ROOT).as_posix()
        if name not in ALLOWED and not (name.startswith(PROGRAMS) and not path.name.startswith("test_")):
            found += [f"{name}:{each}" for each in foreign_patches(path.read_text(encoding="utf-8"))]
    assert found == [], CURE


def test_no_exception_is_without_need() -> None:
    assert all(foreign_patches((TESTS / name).read_text(encoding="utf-8")) for name in ALLOWED)


@pytest.mark.parametrize(
    ("program", "target"),
    [
        ("import time\nmonkeypatch.setattr(time, 'monotonic', f)", "time.monotonic"),
        ("import time as t\nmonkeypatch.setattr(t, 'monotonic', f)", "time.monotonic"),
        ("import os.path as p\nmonkeypatch.setattr(p, 'exists', f)", "os.path.exists"),
        ("from pathlib import Path as P\nwith context() as patch:\n  patch.setattr(P, 'open', f)", "pathlib.Path.open"),
        ("monkeypatch.setattr('os.fsync', f)", "os.fsync"),
        ("monkeypatch.setattr('semsearch.search.make_hits.os.stat', f)", "os.stat"),
        ("from semsearch.rerankers import reranker as m\nmonkeypatch.setattr(m.time, 'sleep', f)", "time.sleep"),
        ("import semsearch.system.clock\nsetattr(semsearch.system.clock.time, 'time', f)", "time.time"),
        ("from semsearch.system import clock\nmonkeypatch.setattr(clock, 'time', f)", "semsearch.system.clock.time"),
        ("from semsearch.system.clock import time\nmonkeypatch.delattr(time, 'time')", "time.time"),
        ("from unittest import mock\nwith mock.patch('time.sleep'): pass", "time.sleep"),
        ("from unittest.mock import patch\nimport shutil\npatch.object(shutil, 'which')", "shutil.which"),
        ("from unittest.mock import patch\nimport os\npatch.dict(os.environ, {})", "os.environ[...]"),
        ("import time\ntime.sleep = f", "time.sleep"),
        ("import time, os\na, time.sleep = f, g", "time.sleep"),
        ("import threading\ndel threading.Thread", "threading.Thread"),
        ("import os, time\nfor m, n in ((os, 'stat'), (time, 'time')):\n  monkeypatch.setattr(m, n, f)", "os.*"),
        ("import numpy as np\nwhere = np\nmonkeypatch.setattr(where, 'save', f)", "numpy.save"),
        ("monkeypatch.setattr(__import__('sys'), 'stderr', f)", "sys.stderr"),
        ("def test(everywhere):\n  monkeypatch.setattr(everywhere.subprocess, 'Popen', f)", "subprocess.Popen"),
        ("import registry, logging\nmonkeypatch.setitem(logging.root.handlers, 0, f)", "logging.root.handlers[...]"),
    ],
)
def test_what_belongs_to_others_is_found_under_any_name(program: str, target: str) -> None:
    assert target in [each.target for each in foreign_patches(program)]


@pytest.mark.parametrize(
    "program",
    [
        "import sys\nmonkeypatch.setitem(sys.modules, 'lance', None)",
        "from semsearch.system import clock\nmonkeypatch.setattr(clock, 'now', f)",
        "monkeypatch.setattr('semsearch.system.durable.sync_file', f)",
        "monkeypatch.setenv('HOME', '')",
        "import os\nmine = Own()\nmine.path = os.path\nsetattr(mine, 'name', f)",
        "class Store: ...\nmonkeypatch.setattr(Store, 'read', f)",
    ],
)
def test_what_is_the_projects_own_may_be_replaced(program: str) -> None:
    assert foreign_patches(program) == []
