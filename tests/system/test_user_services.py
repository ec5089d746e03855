"""Definitions of services as systemd, launchd and the Task Scheduler read them, and what their programs are told."""

from __future__ import annotations

import plistlib
import shlex
import shutil
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path, PurePosixPath
from xml.etree import ElementTree

import pytest

from semsearch.errors import UsageError
from semsearch.system import user_services
from semsearch.system.user_services import (
    Launchd,
    Service,
    ServiceFailed,
    ServiceManager,
    Systemd,
    TaskScheduler,
    install,
    installed,
    lasting_program,
    manager_here,
    remove,
    run_program,
)

TASKS = "{http://schemas.microsoft.com/windows/2004/02/mit/task}"
AWKWARD = '/home/a b/50% "off"\\$HOME & <more>/docs'


class Programs:
    """Programs that do nothing: what was asked of them, and what they answer."""

    def __init__(self) -> None:
        self.asked: list[str] = []
        self.answers: dict[str, tuple[int, str]] = {}

    def __call__(self, arguments: Sequence[str]) -> tuple[int, str]:
        line = " ".join(arguments)
        self.asked.append(line)
        return next((answer for part, answer in self.answers.items() if part in line), (0, ""))


@pytest.fixture
def programs() -> Programs:
    return Programs()


@pytest.fixture
def service(tmp_path: Path) -> Service:
    command = (sys.executable, "-P", "-m", "semsearch", "watch", "--index", AWKWARD)
    return Service("semsearch-watch-docs", f"semsearch watch {AWKWARD}", command, 500, 10, tmp_path / "log" / "a.log")


@pytest.fixture(params=[Systemd, Launchd, TaskScheduler])
def manager(
    request: pytest.FixtureRequest, tmp_path: Path, programs: Programs, monkeypatch: pytest.MonkeyPatch
) -> ServiceManager:
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))
    monkeypatch.setattr(user_services, "home_folder", lambda: tmp_path / "home")
    made: ServiceManager = request.param(programs)
    return made


def test_a_definition_is_written_before_it_is_started_and_deleted_after_it_is_stopped(
    manager: ServiceManager, service: Service, programs: Programs
) -> None:
    path = install(service, manager)
    assert path.read_bytes() == manager.definition(service)
    assert installed(manager) == {service.name: path}
    asked = len(programs.asked)
    assert any(service.name in line for line in programs.asked)
    install(service, manager)
    assert programs.asked[asked : 2 * asked + 2] != programs.asked[:asked]  # the old one is stopped first
    remove(service.name, manager)
    assert installed(manager) == {}
    remove(service.name, manager)  # as often as one likes


@pytest.mark.parametrize("part", ["enable", "bootstrap", "/Create"])
def test_what_a_manager_refuses_is_told_and_leaves_no_definition(
    manager: ServiceManager, service: Service, programs: Programs, part: str
) -> None:
    programs.answers[part] = (5, "access denied")
    starts = {Systemd: "enable", Launchd: "bootstrap", TaskScheduler: "/Create"}[type(manager)]
    if starts != part:
        install(service, manager)
        return
    with pytest.raises(ServiceFailed, match="failed: access denied"):
        install(service, manager)
    assert installed(manager) == {}


def test_the_unit_is_valid_and_its_words_are_what_was_given(
    service: Service, programs: Programs, tmp_path: Path
) -> None:
    text = Systemd(programs).definition(service).decode()
    facts = dict(line.partition("=")[::2] for line in text.splitlines() if "=" in line)
    assert (facts["MemoryMax"], facts["Nice"], facts["WantedBy"]) == ("500000000", "10", "default.target")
    words = shlex.split(facts["ExecStart"])  # of the same quotes and backslashes
    assert [word.replace("%%", "%").replace("$$", "$") for word in words] == list(service.command)
    if not shutil.which("systemd-analyze"):
        pytest.skip("there is no systemd-analyze")
    unit = tmp_path / "semsearch-watch-docs.service"
    unit.write_text(text, encoding="utf-8")
    done = subprocess.run(["systemd-analyze", "verify", "--man=no", unit], capture_output=True, text=True)
    assert [line for line in done.stderr.splitlines() if unit.name in line] == []
    unit.write_text(text.replace("Nice=10", "Nice=ten"), encoding="utf-8")  # the verifier sees what is wrong
    done = subprocess.run(["systemd-analyze", "verify", "--man=no", unit], capture_output=True, text=True)
    assert "ten" in done.stderr


def test_the_property_list_has_the_keys_of_launchd(service: Service, programs: Programs) -> None:
    found = plistlib.loads(Launchd(programs).definition(service))
    assert found["ProgramArguments"] == list(service.command)
    assert (found["Label"], found["Nice"], found["RunAtLoad"]) == (service.name, 10, True)
    assert found["KeepAlive"] == {"SuccessfulExit": False}
    assert found["HardResourceLimits"] == {"ResidentSetSize": 500_000_000}
    assert PurePosixPath(Path(found["StandardErrorPath"]).as_posix()).name == "a.log"
    known = {
        "Label", "ProgramArguments", "WorkingDirectory", "RunAtLoad", "KeepAlive", "ThrottleInterval", "ProcessType",
        "Nice", "SoftResourceLimits", "HardResourceLimits", "StandardErrorPath",
    }  # fmt: skip
    assert set(found) == known


def test_the_task_keeps_the_rules_of_its_schema(service: Service, programs: Programs) -> None:
    programs.answers["whoami"] = (0, "R&D\\ada")
    data = TaskScheduler(programs).definition(service)
    assert data[:2] in (b"\xff\xfe", b"\xfe\xff")  # schtasks wants the mark
    task = ElementTree.fromstring(data)
    assert task.tag == f"{TASKS}Task"
    assert [each.tag.removeprefix(TASKS) for each in task] == [
        "RegistrationInfo", "Triggers", "Principals", "Settings", "Actions",
    ]  # fmt: skip
    texts = {each.tag.removeprefix(TASKS): each.text for each in task.iter()}
    assert texts["Command"] == sys.executable
    assert texts["Arguments"] == subprocess.list2cmdline(service.command[1:])
    assert (texts["UserId"], texts["LogonType"], texts["RunLevel"]) == (
        "R&D\\ada",
        "InteractiveToken",
        "LeastPrivilege",
    )
    assert (texts["ExecutionTimeLimit"], texts["Interval"], texts["Priority"]) == ("PT0S", "PT1M", "7")
    principal = task.find(f"{TASKS}Principals/{TASKS}Principal")
    actions = task.find(f"{TASKS}Actions")
    assert principal is not None
    assert actions is not None
    assert actions.get("Context") == principal.get("id")


@pytest.mark.parametrize(
    ("kind", "part", "answer", "expected"),
    [
        (Systemd, "is-active", (0, "active"), "running"),
        (Systemd, "is-active", (3, "inactive"), "stopped"),
        (Systemd, "is-active", (3, "failed"), "failed"),
        (Launchd, "print", (0, "{ state = running pid = 3 }"), "running"),
        (Launchd, "print", (0, "{ state = spawn scheduled }"), "stopped"),
        (Launchd, "print", (113, "Could not find service"), "stopped"),
        (TaskScheduler, "/Query", (0, '"\\a","N/A","Running"'), "running"),
        (TaskScheduler, "/Query", (1, "ERROR"), "stopped"),
    ],
)
def test_states_are_told_in_a_word(
    kind: type[Systemd], part: str, answer: tuple[int, str], expected: str, programs: Programs
) -> None:
    programs.answers[part] = answer
    assert kind(programs).state("semsearch-serve") == expected


def test_each_system_has_its_manager() -> None:
    assert isinstance(manager_here("linux"), Systemd)
    assert isinstance(manager_here("darwin"), Launchd)
    assert isinstance(manager_here("win32"), TaskScheduler)
    with pytest.raises(UsageError, match="not for sunos"):
        manager_here("sunos")


def test_a_program_that_is_not_there_is_told() -> None:
    assert run_program(["no-such-program", "x"]) == (127, "no-such-program is not installed")
    assert run_program([sys.executable, "-c", "print('a'); raise SystemExit(4)"]) == (4, "a")


@pytest.mark.parametrize(
    "program",
    ["/home/ada/.cache/uv/archive-v0/3fxA/bin/python", "/home/ada/.cache/pipx/8f1b/bin/python"],
)
def test_what_is_run_from_a_cache_is_refused(program: str) -> None:
    with pytest.raises(UsageError, match="is temporary; install semsearch first: pipx install semsearch"):
        lasting_program(program)


def test_the_program_of_an_environment_stays_its_own(tmp_path: Path) -> None:
    python = tmp_path / "pipx" / "venvs" / "semsearch" / "bin" / "python"
    python.parent.mkdir(parents=True)
    python.symlink_to(sys.executable)
    assert lasting_program(str(python)) == (str(python), "-P", "-m", "semsearch")  # not the Python that it leads to
    python.with_name("pythonw.exe").touch()
    assert lasting_program(str(python))[0] == str(python.with_name("pythonw.exe"))
    assert lasting_program(str(python), is_one_file=True) == (str(python),)
