"""The known weaknesses of the packages that a change is tested with, as pip-audit finds them in PyPI's advisories.

    python tests/supply/weaknesses.py             # exit status 1 if there is one
    python tests/supply/weaknesses.py --required  # and 2 if a package was not audited

pip-audit also ends well, with "No known vulnerabilities found", if the server found none of the packages, as some
proxies that stand before PyPI do: so its report is read, and what was not audited is said. An advisory that does no
harm here is in `ACCEPTED`, with the reason.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path

LOCKS = sorted((Path(__file__).parents[2] / ".ci" / "lock").glob("*.txt"))
ACCEPTED: dict[str, str] = {}  # an advisory, by its id or another of its names: why it does no harm here
ANSWER_SECONDS = 5  # a service that is silent for so long is not there
ALL_SECONDS = 120  # it is asked for one package after the other


@dataclass(frozen=True)
class Weakness:
    package: str
    version: str
    names: tuple[str, ...]  # of the advisory: its id, then what others call it
    mended_by: tuple[str, ...]  # versions, none if there is no such version yet

    def accepted(self) -> str:
        """The reason why it does no harm here; "" if there is none."""
        return next((ACCEPTED[name] for name in self.names if name in ACCEPTED), "")

    def __str__(self) -> str:
        names = self.names[0] + (f" ({', '.join(self.names[1:])})" if self.names[1:] else "")
        mended = f"mended by {', '.join(self.mended_by)}" if self.mended_by else "no version mends it yet"
        return f"{self.package} {self.version}: {names}, {mended}"


@dataclass(frozen=True)
class Audit:
    """What a report says: how many packages were audited, their weaknesses, and why each of the others was not."""

    audited: int
    weaknesses: tuple[Weakness, ...]
    not_audited: tuple[str, ...]

    def refused(self) -> list[Weakness]:
        return [weakness for weakness in self.weaknesses if not weakness.accepted()]

    def status(self, *, required: bool) -> int:
        if self.refused():
            return 1
        return 2 if required and (self.not_audited or not self.audited) else 0

    def lines(self) -> list[str]:
        if not self.audited:
            why = self.not_audited[0] if self.not_audited else "the list of packages is empty"
            return [
                f"NOT AUDITED: PyPI's advisories were had for no package; nothing is known of any. First reason: {why}"
            ]
        return [
            *(f"known weakness: {weakness}" for weakness in self.refused()),
            *(f"accepted: {weakness}; {reason}" for weakness in self.weaknesses if (reason := weakness.accepted())),
            *(f"not audited: {reason}" for reason in self.not_audited),
            f"audited: {self.audited} of {self.audited + len(self.not_audited)} packages, "
            f"known weaknesses: {len(self.weaknesses) or 'none'}",
        ]


def read(report: str) -> Audit:
    """What a JSON report of pip-audit says."""
    packages = json.loads(report)["dependencies"]
    audited = [package for package in packages if "vulns" in package]
    return Audit(
        audited=len(audited),
        weaknesses=tuple(
            Weakness(
                package=package["name"],
                version=package["version"],
                names=(found["id"], *found.get("aliases", ())),
                mended_by=tuple(found["fix_versions"]),
            )
            for package in audited
            for found in package["vulns"]
        ),
        not_audited=tuple(f"{one['name']}: {one['skip_reason']}" for one in packages if "vulns" not in one),
    )


def ask(command: list[str], *, seconds: float) -> Audit:
    """What a run of pip-audit reports; an audit of no package, with its last words, if it ends without a report."""
    try:
        run = subprocess.run(command, capture_output=True, text=True, timeout=seconds, check=False)
    except subprocess.TimeoutExpired:
        return Audit(0, (), (f"pip-audit: no report after {seconds:g} seconds",))
    try:
        return read(run.stdout)
    except ValueError:  # no JSON: both a weakness and a service that is not there give status 1
        last = (run.stderr.strip() or f"status {run.returncode}").rpartition("\n")[2]
        return Audit(0, (), (f"pip-audit: {last}",))


def main() -> None:
    parser = argparse.ArgumentParser(description="Look for known weaknesses of the packages in lock files.")
    parser.add_argument("locks", nargs="*", default=LOCKS, help="requirements with digests, by default all of .ci/lock")
    parser.add_argument("--required", action="store_true", help="exit status 2 if a package was not audited")
    chosen = parser.parse_args()
    if missing := [lock for lock in chosen.locks if not Path(lock).is_file()]:
        parser.error(f"{missing[0]} is no file")
    if find_spec("pip_audit") is None:
        parser.error("pip-audit is not installed: pip install -e '.[dev]'")
    options = ["--disable-pip", "--format=json", "--progress-spinner=off", f"--timeout={ANSWER_SECONDS}"]
    command = [sys.executable, "-m", "pip_audit", *options, *(f"--requirement={lock}" for lock in chosen.locks)]
    audit = ask(command, seconds=ALL_SECONDS)
    print(*audit.lines(), sep="\n")
    sys.exit(audit.status(required=chosen.required))


if __name__ == "__main__":
    main()
