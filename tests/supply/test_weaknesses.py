"""What pip-audit's reports mean: a weakness, none, or no audit at all. The reports are made up."""

from __future__ import annotations

import json
import sys

import pytest
import weaknesses

SOUND = {"name": "sound", "version": "1.0", "vulns": []}
WEAK = {
    "name": "weak",
    "version": "2.1",
    "vulns": [{"id": "PYSEC-2026-1", "fix_versions": ["2.2", "3.0"], "aliases": ["CVE-2026-1"], "description": "..."}],
}
UNMENDED = {"name": "weak", "version": "2.1", "vulns": [{"id": "PYSEC-2026-2", "fix_versions": [], "aliases": []}]}
UNKNOWN = {"name": "unknown", "skip_reason": "Dependency not found on PyPI and could not be audited: unknown (4)"}


def audit(*packages: dict[str, object]) -> weaknesses.Audit:
    return weaknesses.read(json.dumps({"dependencies": packages, "fixes": []}))


def statuses(found: weaknesses.Audit) -> tuple[int, int]:
    return found.status(required=False), found.status(required=True)


def test_a_weakness_is_named_with_the_versions_that_mend_it() -> None:
    found = audit(SOUND, WEAK, UNMENDED)
    assert statuses(found) == (1, 1)
    assert found.lines() == [
        "known weakness: weak 2.1: PYSEC-2026-1 (CVE-2026-1), mended by 2.2, 3.0",
        "known weakness: weak 2.1: PYSEC-2026-2, no version mends it yet",
        "audited: 3 of 3 packages, known weaknesses: 2",
    ]


def test_where_nothing_is_found_it_is_said_how_many_were_audited() -> None:
    found = audit(SOUND, SOUND)
    assert statuses(found) == (0, 0)
    assert found.lines() == ["audited: 2 of 2 packages, known weaknesses: none"]


@pytest.mark.parametrize("packages", [[UNKNOWN, UNKNOWN], []])
def test_an_audit_of_no_package_is_not_one_without_weaknesses(packages: list[dict[str, object]]) -> None:
    found = audit(*packages)
    assert statuses(found) == (0, 2)
    assert [line[:12] for line in found.lines()] == ["NOT AUDITED:"]
    assert "none" not in found.lines()[0]


def test_a_package_that_was_not_audited_is_told_beside_the_others() -> None:
    found = audit(SOUND, UNKNOWN)
    assert statuses(found) == (0, 2)
    assert found.lines() == [
        f"not audited: unknown: {UNKNOWN['skip_reason']}",
        "audited: 1 of 2 packages, known weaknesses: none",
    ]
    assert statuses(audit(WEAK, UNKNOWN)) == (1, 1)


@pytest.mark.parametrize("name", ["PYSEC-2026-1", "CVE-2026-1"])
def test_an_accepted_advisory_is_no_reason_to_fail(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(weaknesses.ACCEPTED, name, "the part that has it is not used")
    assert audit(WEAK).lines() == [
        "accepted: weak 2.1: PYSEC-2026-1 (CVE-2026-1), mended by 2.2, 3.0; the part that has it is not used",
        "audited: 1 of 1 packages, known weaknesses: 1",
    ]
    assert statuses(audit(WEAK)) == (0, 0)
    assert statuses(audit(WEAK, UNMENDED)) == (1, 1)


@pytest.mark.parametrize(
    ("program", "seconds", "why"),
    [
        ("import sys; sys.exit('a traceback\\nin the end: no connection')", 60, "pip-audit: in the end: no connection"),
        ("import sys; sys.exit(1)", 60, "pip-audit: status 1"),
        ("import time; time.sleep(60)", 0.2, "pip-audit: no report after 0.2 seconds"),
    ],
)
def test_a_run_without_a_report_is_an_audit_of_no_package(program: str, seconds: float, why: str) -> None:
    found = weaknesses.ask([sys.executable, "-c", program], seconds=seconds)
    assert statuses(found) == (0, 2)
    assert found.lines()[0].endswith(why)


def test_a_report_is_read_whatever_the_status_is() -> None:
    program = f"import sys; print({json.dumps({'dependencies': [WEAK]})!r}); sys.exit(1)"
    assert len(weaknesses.ask([sys.executable, "-c", program], seconds=60).refused()) == 1
