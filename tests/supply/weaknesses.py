"""The known weaknesses of the packages that a change is tested with, as pip-audit finds them in PyPI's advisories.

    python tests/supply/weaknesses.py             # exit status 1 if there is one
    python tests/supply/weaknesses.py --required  # and 2 if a package was not audited

pip-audit also ends well, with "No known vulnerabilities found", if the server found none of the packages, as some
proxies that stand before PyPI do: so its report is read, and what was not audited is said. An advisory that does no
harm here is in `ACCEPTED`, with the reason.
"""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

LOCKS = sorted((Path(__file__).parents[2] / ".ci" / "lock").glob("*.txt"))
ACCEPTED: dict[str, str] = {}  # an advisory, by its id: why it does no harm here
OPTIONS = ("--disable-pip", "--format=json", "--progress-spinner=off", "--timeout=5")


def main() -> int:
    command = [sys.executable, "-m", "pip_audit", *OPTIONS, *(f"--requirement={lock}" for lock in LOCKS)]
    try:
        report = subprocess.run(command, capture_output=True, text=True, timeout=120, check=False)
        packages = json.loads(report.stdout)["dependencies"]
    except subprocess.TimeoutExpired:
        packages = [{"name": "pip-audit", "skip_reason": "no report after two minutes"}]
    except ValueError:  # no JSON: both a weakness and a service that is not there give status 1
        packages = [{"name": "pip-audit", "skip_reason": report.stderr.strip().rpartition("\n")[2]}]
    audited = [package for package in packages if "vulns" in package]
    skipped = [package for package in packages if "vulns" not in package]
    weaknesses = [(package, advisory) for package in audited for advisory in package["vulns"]]
    for package, advisory in weaknesses:
        mended_by = ", ".join(advisory["fix_versions"]) or "no version yet"
        reason = ACCEPTED.get(advisory["id"], "")
        print(f"{package['name']} {package['version']}: {advisory['id']}, mended by {mended_by}", reason)
    for package in skipped[: len(skipped) if audited else 1]:
        print(f"NOT AUDITED: {package['name']}: {package['skip_reason']}")
    print(f"audited: {len(audited)} packages, known weaknesses: {len(weaknesses)}")
    if any(advisory["id"] not in ACCEPTED for _, advisory in weaknesses):
        return 1
    return 2 if "--required" in sys.argv and (skipped or not audited) else 0


if __name__ == "__main__":
    sys.exit(main())
