"""Run all tests under conditions that other machines have, and say where they pass.

    python tests/everywhere.py                                   # every setting, with this interpreter
    python tests/everywhere.py --only busy random -- tests/text  # some settings, some tests
    python tests/everywhere.py --only --python python3.12        # no setting, another interpreter
    python tests/everywhere.py --only --found --sid 3.14         # each Python that is here, and one of Debian's

--found takes the newest Python of each version that semsearch supports: those of PATH, and pyenv's. --sid takes Python
from Debian's sid, in a root folder that is made below build/everywhere; it needs root, `debootstrap` and the network.
Each gets an environment of its own in build/everywhere, with the package and its dev extra, without a compiler, and
runs the tests as they are (plain). Where all tests passed, tests/everywhere.json says when.
What comes after -- goes to pytest. The exit status is 1 where a test failed.
"""

from __future__ import annotations

import argparse
import contextlib
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import time
import tomllib
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from xml.etree import ElementTree

ROOT = Path(__file__).resolve().parents[1]
ENVIRONMENTS = ROOT / "build" / "everywhere"
RECORD = ROOT / "tests" / "everywhere.json"
BUSY_PROCESSES = 8
RANDOM = "random"
BUSY = (
    "import os, sys, threading; "
    "threading.Thread(target=lambda: (sys.stdin.read(), os._exit(0))).start()\n"  # ends with the one that started it
    "while True: pass"
)
KERNELS = (
    "import numpy, threadpoolctl as t; numpy.ones((2, 2)) @ numpy.ones((2, 2)); "
    "print(*sorted({i.get('architecture') or '?' for i in t.threadpool_info() if i['user_api'] == 'blas'}))"
)
VERSION = "import platform, sys; print(platform.python_version() + ('t' if 't' in sys.abiflags else ''))"
OF_THE_MACHINE = ("/etc/resolv.conf", "/etc/hosts", "/etc/pip.conf", "/etc/ssl/certs/ca-certificates.crt")
# $0 is the root folder, $1 the checkout, which has the same path in it. What is mounted goes with the process
ENTER = (
    'mount -t proc proc "$0/proc" && mount --rbind /dev "$0/dev" && mkdir -p "$0$1" && mount --bind "$1" "$0$1" && '
    'checkout=$1 && shift && exec chroot "$0" env --chdir="$checkout" LANG=C.UTF-8 "$@"'
)


@dataclass(frozen=True)
class Python:
    """An interpreter, and the command that enters the root folder that it is in."""

    path: str
    enter: tuple[str, ...] = ()

    @property
    def label(self) -> str:
        return Path(self.path).name + (", sid" if self.enter else "")


@dataclass(frozen=True)
class Setting:
    """A condition: environment variables, and whether another processor is kept busy."""

    says: str
    variables: dict[str, str] = field(default_factory=dict)
    busy: bool = False


SETTINGS = {
    "plain": Setting("as it is"),
    "haswell": Setting("OpenBLAS's kernels for Haswell (AVX2)", {"OPENBLAS_CORETYPE": "Haswell"}),
    "skylakex": Setting("OpenBLAS's kernels for SkylakeX (AVX-512)", {"OPENBLAS_CORETYPE": "SkylakeX"}),
    "zen": Setting("OpenBLAS's kernels for Zen", {"OPENBLAS_CORETYPE": "Zen"}),
    "one-thread": Setting("one thread", {"OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"}),
    "eight-threads": Setting("eight threads", {"OMP_NUM_THREADS": "8", "OPENBLAS_NUM_THREADS": "8"}),
    "busy": Setting("on one processor, with {busy} busy processes on another", busy=True),
    RANDOM: Setting("in random order; again with: python -m pytest -p randomly --randomly-seed={seed}"),
}


@dataclass(frozen=True)
class Outcome:
    """The outcome of the tests in one run."""

    interpreter: str
    setting: str
    kernels: str = ""
    passed: int = 0
    skipped: int = 0
    failed: tuple[str, ...] = ()
    seconds: float = 0.0
    problem: str = ""  # why there is no result
    version: str = ""  # of Python

    @property
    def is_good(self) -> bool:
        return not self.failed and not self.problem and self.passed > 0


def main() -> None:
    """Run the chosen settings and interpreters one after the other, and print a table."""
    chosen, tests = arguments(sys.argv[1:])
    random_order = ("-p", "randomly", f"--randomly-seed={chosen.seed}")
    workers = ("-n", chosen.workers) if chosen.workers else ()
    runs = [(Python(sys.executable), name) for name in chosen.only] + [(one, "plain") for one in interpreters(chosen)]
    outcomes: list[Outcome] = []
    for python, name in runs:
        says = SETTINGS[name].says.format(seed=chosen.seed, busy=BUSY_PROCESSES)
        print(f"{python.label}, {name}: {says}", file=sys.stderr, flush=True)
        added = random_order if name == RANDOM else ()
        outcomes.append(outcome(python, name, [*workers, *added, *tests], minutes=chosen.minutes))
        if not tests and name == "plain" and outcomes[-1].is_good:
            record(outcomes[-1], RECORD)
    print("\n".join(table(outcomes)))
    sys.exit(0 if all(one.is_good for one in outcomes) else 1)


def arguments(given: Sequence[str]) -> tuple[argparse.Namespace, list[str]]:
    """The options, and what is for pytest."""
    ours, tests = (given[: given.index("--")], given[given.index("--") + 1 :]) if "--" in given else (given, [])
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", nargs="*", choices=SETTINGS, default=list(SETTINGS), help="Settings; by default all.")
    parser.add_argument("--python", nargs="+", default=[], help="Other interpreters, such as python3.12.")
    parser.add_argument("--found", action="store_true", help="The newest Python of each version that is here.")
    parser.add_argument(
        "--newest", action="store_true", help="The newest Python that is here, if it is newer than this."
    )
    parser.add_argument("--sid", nargs="+", default=[], metavar="VERSION", help="Debian's Python, such as 3.14.")
    parser.add_argument("--workers", default="", metavar="N", help="Processes that run the tests: pytest's -n.")
    parser.add_argument("--minutes", type=float, default=60, help="The longest that one run may take.")
    parser.add_argument("--seed", type=int, default=int(time.time()), help="Of the random order; by default the time.")
    return parser.parse_args(ours), list(tests)


def interpreters(chosen: argparse.Namespace) -> Iterator[Python]:
    """The interpreters that the options name besides this one."""
    yield from map(Python, chosen.python)
    found = newest_of_each(candidates()) if chosen.found or chosen.newest else {}
    if chosen.found:
        yield from map(Python, found.values())
    elif found and list(found)[-1] > sys.version_info[:2]:
        yield Python(list(found.values())[-1])
    yield from map(of_debian, chosen.sid)


def candidates() -> Iterator[str]:
    """Interpreters that may be here: those of PATH, and pyenv's."""
    pyenv = Path(os.environ.get("PYENV_ROOT") or Path.home() / ".pyenv")
    for folder in [*map(Path, os.get_exec_path()), *sorted(pyenv.glob("versions/*/bin"))]:
        yield from sorted(str(path) for path in folder.glob("python3.*") if re.fullmatch(r"python3\.\d+", path.name))


def newest_of_each(paths: Iterable[str]) -> dict[tuple[int, int], str]:
    """The newest interpreter of each version that semsearch supports, oldest version first.

    One that does not start, such as pyenv's stand-in for a version that is not chosen, is none; nor is one without the
    global lock.
    """
    newest: dict[tuple[int, int], tuple[tuple[int, ...], str]] = {}
    for path in dict.fromkeys(paths):
        parts = tuple(map(int, re.findall(r"\d+", version))) if (version := version_of(Python(path))) else ()
        if version.endswith("t") or parts[:2] < oldest():
            continue
        minor = (parts[0], parts[1])
        newest[minor] = max(newest.get(minor, (parts, path)), (parts, path), key=lambda one: one[0])
    return {minor: newest[minor][1] for minor in sorted(newest)}


def oldest() -> tuple[int, ...]:
    """The oldest version that semsearch supports, of pyproject.toml."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    return tuple(map(int, re.findall(r"\d+", project["requires-python"])))


def version_of(python: Python) -> str:
    """The version of an interpreter; empty if it cannot be started."""
    try:
        found = subprocess.run([*python.enter, python.path, "-c", VERSION], check=True, capture_output=True, text=True)
    except (OSError, subprocess.CalledProcessError):
        return ""
    return found.stdout.strip()


def of_debian(version: str) -> Python:
    """Python of Debian's sid, in a root folder with what belongs to it; the folder is kept from an earlier run."""
    root = ENVIRONMENTS / f"sid-{version}"
    if os.geteuid() != 0 or not shutil.which("debootstrap"):
        sys.exit("--sid makes a root folder and mounts the checkout in it: it needs root, and the program debootstrap")
    if not (root / f"usr/bin/python{version}").exists():
        packages = f"python{version},python{version}-venv,ca-certificates,git"
        print(f"Debian's sid, to {root}", file=sys.stderr, flush=True)
        command = ["debootstrap", "--variant=minbase", f"--include={packages}", "sid", str(root)]
        if subprocess.run(command, stdout=sys.stderr).returncode:
            shutil.rmtree(root, ignore_errors=True)
            sys.exit(f"debootstrap could not make a root folder with Python {version}")
    for name in filter(os.path.exists, OF_THE_MACHINE):  # the network as it is here
        shutil.copyfile(name, f"{root}{name}")
    return Python(f"/usr/bin/python{version}", ("unshare", "--mount", "sh", "-c", ENTER, str(root), str(ROOT)))


def outcome(python: Python, name: str, tests: Sequence[str], *, minutes: float) -> Outcome:
    """The tests, run once under a setting."""
    setting = SETTINGS[name]
    label = python.label
    try:
        interpreter = [sys.executable] if python.path == sys.executable else environment_of(python)
        first, second = processors()
        environment = {**os.environ, "SEMSEARCH_TESTS": "all", **setting.variables}
        kernels = subprocess.run([*interpreter, "-c", KERNELS], env=environment, capture_output=True, text=True)
        if kernels.returncode < 0:
            return Outcome(label, name, problem="this processor does not have the instructions")
        ENVIRONMENTS.mkdir(parents=True, exist_ok=True)
        with (
            tempfile.TemporaryDirectory(dir=ENVIRONMENTS) as folder,  # which a root folder has too
            busy(second) if setting.busy else contextlib.nullcontext(),
            Path(folder, "output").open("w+", encoding="utf-8") as output,
        ):
            report = Path(folder) / "report.xml"
            pytest = [*interpreter, "-m", "pytest", "-q", "-p", "no:cacheprovider", f"--junitxml={report}"]
            command = [*(pinned(first) if setting.busy else ()), *pytest, *tests]
            started = time.monotonic()
            done = subprocess.run(command, cwd=ROOT, env=environment, timeout=60 * minutes, stdout=output)
            seconds = time.monotonic() - started
            if done.returncode:
                output.seek(0)
                shutil.copyfileobj(output, sys.stderr)
            if not report.exists():
                return Outcome(label, name, problem=f"pytest ended with {done.returncode} before it had run the tests")
            passed, skipped, failed = read_report(report)
        version = version_of(Python(interpreter[-1], tuple(interpreter[:-1])))
        return Outcome(label, name, kernels.stdout.strip(), passed, skipped, failed, seconds, version=version)
    except subprocess.TimeoutExpired:
        return Outcome(label, name, problem=f"not done after {minutes:g} minutes")
    except subprocess.CalledProcessError as error:
        lines = (error.stderr or "").strip().splitlines()
        return Outcome(label, name, problem=lines[-1] if lines else str(error))
    except OSError as error:
        return Outcome(label, name, problem=str(error))


def environment_of(python: Python) -> list[str]:
    """The interpreter of an environment with the package, made by that Python, or kept from an earlier run."""
    asked = [*python.enter, python.path, "-c", VERSION]
    found = subprocess.run(asked, check=True, capture_output=True, text=True).stdout.strip()
    folder = ENVIRONMENTS / (f"{found}-sid" if python.enter else found)
    interpreter = folder / ("Scripts/python.exe" if os.name == "nt" else "bin/python")
    if not interpreter.is_symlink() and not interpreter.exists():  # a link may lead into the root folder
        subprocess.run([*python.enter, python.path, "-m", "venv", str(folder)], check=True)
    pip = [*python.enter, str(interpreter), "-m", "pip", "install", "-q", "--only-binary", ":all:"]
    subprocess.run(
        [*pip, "-e", f"{ROOT}[dev]", "-e", f"{ROOT}/integrations", "-e", f"{ROOT}/research[papers]"],
        check=True,
        stderr=subprocess.PIPE,
        text=True,
    )
    return [*python.enter, str(interpreter)]


def record(one: Outcome, path: Path) -> None:
    """Write down that all tests passed today, in the place of what was written for this version before."""
    kept = json.loads(path.read_text(encoding="utf-8")) if path.exists() else {}
    version = ".".join(one.version.split(".")[:2])
    today = datetime.now(UTC).date().isoformat()
    kept[version] = {"python": one.version, "date": today, "passed": one.passed, "skipped": one.skipped}
    ordered = dict(sorted(kept.items(), key=lambda item: tuple(map(int, item[0].split(".")))))
    path.write_text(json.dumps(ordered, indent=2) + "\n", encoding="utf-8")


def processors() -> tuple[int, int]:
    """One for the tests and one to be kept busy; the same where there is only one."""
    allowed = sorted(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else [0]
    return allowed[0], allowed[-1]


def pinned(processor: int) -> list[str]:
    """The prefix that makes a command run on one processor, if there is `taskset`."""
    return ["taskset", "-c", str(processor)] if shutil.which("taskset") else []


@contextlib.contextmanager
def busy(processor: int) -> Iterator[list[subprocess.Popen[bytes]]]:
    """Processes that do nothing as hard as they can. They end with this one, also where it is killed."""
    command = [*pinned(processor), sys.executable, "-c", BUSY]
    processes = [subprocess.Popen(command, stdin=subprocess.PIPE) for _ in range(BUSY_PROCESSES)]
    try:
        yield processes
    finally:
        for process in processes:
            process.kill()
            process.communicate()


def read_report(path: Path) -> tuple[int, int, tuple[str, ...]]:
    """Read a report: the numbers of tests that passed and were skipped, and the names of those that failed."""
    skipped, failed, count = 0, [], 0
    for case in ElementTree.parse(path).getroot().iter("testcase"):
        count += 1
        skipped += case.find("skipped") is not None
        if case.find("failure") is not None or case.find("error") is not None:
            failed.append(f"{case.get('classname', '').replace('.', '/')}.py::{case.get('name')}")
    return count - skipped - len(failed), skipped, tuple(failed)


def table(outcomes: Sequence[Outcome]) -> list[str]:
    """A line a run; below, what failed."""
    rows = [("python", "setting", "BLAS", "passed", "skipped", "failed", "seconds")]
    for one in outcomes:
        counts = (str(one.passed), str(one.skipped), str(len(one.failed)), f"{one.seconds:.0f}")
        rows.append((one.interpreter, one.setting, one.kernels, *(counts if not one.problem else ("-",) * 4)))
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    lines = ["  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip() for row in rows]
    for one in outcomes:
        lines += [f"{one.interpreter}, {one.setting}: {text}" for text in (one.problem, *one.failed) if text]
    return lines


if __name__ == "__main__":
    main()
