"""tests/everywhere.py, without running tests inside of tests."""

from __future__ import annotations

import sys
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path
from types import ModuleType

import pytest

REPORT = """<testsuites><testsuite>
<testcase classname="tests.text.test_tokens" name="test_good" />
<testcase classname="tests.text.test_tokens" name="test_bad"><failure message="no" /></testcase>
<testcase classname="tests.text.test_tokens" name="test_broken"><error message="no" /></testcase>
<testcase classname="tests.text.test_tokens" name="test_elsewhere"><skipped message="Windows" /></testcase>
</testsuite></testsuites>"""


@pytest.fixture(scope="module")
def everywhere() -> ModuleType:
    spec = spec_from_file_location("everywhere", Path(__file__).with_name("everywhere.py"))
    assert spec is not None
    assert spec.loader is not None
    module = module_from_spec(spec)
    sys.modules[spec.name] = module  # dataclasses look their module up
    spec.loader.exec_module(module)
    return module


def test_by_default_every_setting_is_run(everywhere: ModuleType) -> None:
    chosen, tests = everywhere.arguments([])
    assert (chosen.only, chosen.python, tests) == (list(everywhere.SETTINGS), [], [])


def test_what_comes_after_two_dashes_is_for_pytest(everywhere: ModuleType) -> None:
    chosen, tests = everywhere.arguments(["--only", "busy", "random", "--", "tests/text", "--only"])
    assert (chosen.only, tests) == (["busy", "random"], ["tests/text", "--only"])


def test_a_report_is_counted(everywhere: ModuleType, tmp_path: Path) -> None:
    (tmp_path / "report.xml").write_text(REPORT, encoding="utf-8")
    passed, skipped, failed = everywhere.read_report(tmp_path / "report.xml")
    assert (passed, skipped) == (1, 1)
    assert failed == ("tests/text/test_tokens.py::test_bad", "tests/text/test_tokens.py::test_broken")


def test_the_table_names_what_failed_and_what_was_not_run(everywhere: ModuleType) -> None:
    outcomes = [
        everywhere.Outcome("python", "plain", "Zen", passed=3, seconds=1.2),
        everywhere.Outcome("python", "zen", "Zen", passed=2, failed=("a.py::test_b",)),
        everywhere.Outcome("python3.10", "plain", problem="no such file"),
    ]
    assert everywhere.table(outcomes)[1:] == [
        "python      plain    Zen   3       0        0       1",
        "python      zen      Zen   2       0        1       0",
        "python3.10  plain          -       -        -       -",
        "python, zen: a.py::test_b",
        "python3.10, plain: no such file",
    ]
    assert [one.is_good for one in outcomes] == [True, False, False]


def test_busy_processes_end_with_their_block(everywhere: ModuleType, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(everywhere, "BUSY_PROCESSES", 2)
    monkeypatch.setattr(everywhere, "pinned", lambda _: [])
    with everywhere.busy(0) as started:
        assert [process.poll() for process in started] == [None, None]
    assert all(process.returncode is not None for process in started)
