"""tests/everywhere.py, without running tests inside of tests."""

from __future__ import annotations

import json
import sys
from datetime import date
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
    assert list(everywhere.interpreters(chosen)) == []


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
        everywhere.Outcome("python3.12", "plain", problem="no such file"),
    ]
    assert everywhere.table(outcomes)[1:] == [
        "python      plain    Zen   3       0        0       1",
        "python      zen      Zen   2       0        1       0",
        "python3.12  plain          -       -        -       -",
        "python, zen: a.py::test_b",
        "python3.12, plain: no such file",
    ]
    assert [one.is_good for one in outcomes] == [True, False, False]


def test_the_newest_interpreter_of_each_supported_version_is_found(
    everywhere: ModuleType, monkeypatch: pytest.MonkeyPatch
) -> None:
    versions = {
        "a": "3.13.2", "b": "3.9.18", "c": "3.12.1", "d": "3.12.10", "e": "", "f": "3.15.0rc1", "g": "3.13.9t",
    }  # fmt: skip
    monkeypatch.setattr(everywhere, "version_of", lambda python: versions[python.path])
    found = everywhere.newest_of_each(versions)
    assert list(found.items()) == [((3, 12), "d"), ((3, 13), "a"), ((3, 15), "f")]
    monkeypatch.setattr(everywhere, "candidates", lambda: versions)
    chosen, _ = everywhere.arguments(["--only", "--found"])
    assert [python.path for python in everywhere.interpreters(chosen)] == ["d", "a", "f"]
    chosen, _ = everywhere.arguments(["--only", "--newest"])
    newer = sys.version_info[:2] < (3, 15)
    assert [python.path for python in everywhere.interpreters(chosen)] == ["f"] * newer


def test_an_interpreter_that_does_not_start_is_none(everywhere: ModuleType, tmp_path: Path) -> None:
    assert everywhere.version_of(everywhere.Python(str(tmp_path / "python3.12"))) == ""
    assert everywhere.version_of(everywhere.Python(sys.executable)).startswith("{}.{}.".format(*sys.version_info))


def test_that_all_passed_is_written_beside_what_other_versions_did(everywhere: ModuleType, tmp_path: Path) -> None:
    record = tmp_path / "everywhere.json"
    for version in ("3.14.6", "3.9.1", "3.14.7"):
        everywhere.record(everywhere.Outcome("python3", "plain", passed=5, skipped=1, version=version), record)
    kept = json.loads(record.read_text(encoding="utf-8"))
    assert list(kept) == ["3.9", "3.14"]
    assert kept["3.14"] == {"python": "3.14.7", "date": kept["3.9"]["date"], "passed": 5, "skipped": 1}


def test_the_record_names_supported_versions_and_when_all_passed(everywhere: ModuleType) -> None:
    kept = json.loads(everywhere.RECORD.read_text(encoding="utf-8"))
    for version, one in kept.items():
        assert tuple(map(int, version.split("."))) >= everywhere.oldest()
        assert one["python"].startswith(f"{version}.")
        assert date.fromisoformat(one["date"]) <= date.today()
        assert one["passed"] > one["skipped"] >= 0


def test_busy_processes_end_with_their_block(everywhere: ModuleType, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(everywhere, "BUSY_PROCESSES", 2)
    monkeypatch.setattr(everywhere, "pinned", lambda _: [])
    with everywhere.busy(0) as started:
        assert [process.poll() for process in started] == [None, None]
    assert all(process.returncode is not None for process in started)
