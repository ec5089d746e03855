"""Services of a user: programs that the operating system starts at login and starts again after a failure.

| system | manager | definition | limits |
|---|---|---|---|
| Linux | systemd, `systemctl --user` | ~/.config/systemd/user/NAME.service | memory (by cgroups), nice |
| macOS | launchd, `launchctl` | ~/Library/LaunchAgents/NAME.plist | memory (which macOS may exceed), nice |
| Windows | Task Scheduler, `schtasks` | services/NAME.xml beside semsearch.toml | priority |

A definition is a file of its own, written whole; a service whose start fails leaves none behind. Managers are asked by
their programs alone, which `Run` replaces in tests.
"""

from __future__ import annotations

import os
import plistlib
import shutil
import subprocess
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar, Protocol
from xml.sax.saxutils import escape

from semsearch.errors import SemsearchError, UsageError
from semsearch.system.durable import write_durably
from semsearch.system.locations import config_folder, home_folder

PREFIX = "semsearch-"
AGAIN_AFTER = 30  # seconds from a failure to the next start
_MB = 1_000_000

Run = Callable[[Sequence[str]], tuple[int, str]]  # a program with its arguments -> exit status, output


class ServiceFailed(SemsearchError):
    """The operating system's manager of services refuses, or is not there."""


@dataclass(frozen=True, slots=True)
class Service:
    """A program to run at login: its name, what it is for, its command with arguments, its limits, its log."""

    name: str
    description: str
    command: tuple[str, ...]
    memory_mb: int
    nice: int  # 0 to 19
    log: Path  # for what the program prints before it keeps a log itself


class ServiceManager(Protocol):
    """What an operating system offers. Each raises ServiceFailed where the manager refuses."""

    suffix: ClassVar[str]
    folder: Path

    def definition(self, service: Service) -> bytes:
        """The file that defines a service."""

    def start(self, name: str) -> None:
        """Start a service whose definition has been written, now and at each login."""

    def stop(self, name: str) -> None:
        """Stop a service, which may not run or not be known, and forget it."""

    def forget(self) -> None:
        """Notice that definitions are gone."""

    def state(self, name: str) -> str:
        """In one word or two: `running`, `stopped`, or what the manager says instead."""


def install(service: Service, manager: ServiceManager) -> Path:
    """Define and start a service; one of the same name is replaced. Returns the path of its definition."""
    path = manager.folder / f"{service.name}{manager.suffix}"
    if path.exists():
        manager.stop(service.name)
    path.parent.mkdir(parents=True, exist_ok=True)
    service.log.parent.mkdir(parents=True, exist_ok=True)
    data = manager.definition(service)
    write_durably(path, lambda write: write(data))
    try:
        manager.start(service.name)
    except BaseException:
        remove(service.name, manager)
        raise
    return path


def remove(name: str, manager: ServiceManager) -> None:
    """Stop a service and delete its definition."""
    manager.stop(name)
    (manager.folder / f"{name}{manager.suffix}").unlink(missing_ok=True)
    manager.forget()


def installed(manager: ServiceManager) -> dict[str, Path]:
    """The definitions of semsearch's services, by name."""
    return {path.stem: path for path in sorted(manager.folder.glob(f"{PREFIX}*{manager.suffix}"))}


_CODING = "oem" if os.name == "nt" else None  # of what programs of Windows print: the code page of its console


def run_program(arguments: Sequence[str], *, encoding: str | None = _CODING) -> tuple[int, str]:
    """Run a program to its end; a program that is not there has the exit status 127."""
    if shutil.which(arguments[0]) is None:
        return 127, f"{arguments[0]} is not installed"
    done = subprocess.run(
        arguments, capture_output=True, text=True, encoding=encoding, errors="replace", stdin=subprocess.DEVNULL
    )
    return done.returncode, " ".join((done.stdout + done.stderr).split())


def _needed(run: Run, *arguments: str) -> str:
    status, said = run(arguments)
    if status:
        raise ServiceFailed(f"`{' '.join(arguments)}` failed: {said or f'exit status {status}'}")
    return said


# -- Linux -------------------------------------------------------------------------------------------------------------


class Systemd:
    """The user's own systemd. Services end with the user's last session, unless `loginctl enable-linger` was run."""

    suffix: ClassVar[str] = ".service"

    def __init__(self, run: Run = run_program) -> None:
        self._run = run
        given = os.environ.get("XDG_CONFIG_HOME", "").strip()
        self.folder: Path = Path(given or home_folder() / ".config") / "systemd" / "user"

    def definition(self, service: Service) -> bytes:
        """A unit. Memory beyond the limit ends the program, which is then started again."""
        lines = (
            "[Unit]",
            f"Description={_unit_text(service.description)}",
            "StartLimitIntervalSec=600",
            "StartLimitBurst=5",
            "",
            "[Service]",
            "Type=exec",
            f"ExecStart={' '.join(map(_unit_argument, service.command))}",
            "WorkingDirectory=%h",
            "Restart=on-failure",
            f"RestartSec={AGAIN_AFTER}",
            "SuccessExitStatus=130",
            f"Nice={service.nice}",
            f"MemoryMax={service.memory_mb * _MB}",
            "",
            "[Install]",
            "WantedBy=default.target",
            "",
        )
        return "\n".join(lines).encode()

    def start(self, name: str) -> None:
        _needed(self._run, "systemctl", "--user", "daemon-reload")
        _needed(self._run, "systemctl", "--user", "enable", "--now", f"{name}.service")

    def stop(self, name: str) -> None:
        self._run(("systemctl", "--user", "disable", "--now", f"{name}.service"))
        self._run(("systemctl", "--user", "reset-failed", f"{name}.service"))

    def forget(self) -> None:
        self._run(("systemctl", "--user", "daemon-reload"))

    def state(self, name: str) -> str:
        said = self._run(("systemctl", "--user", "is-active", f"{name}.service"))[1]
        return {"active": "running", "inactive": "stopped"}.get(said, said)


def _unit_text(text: str) -> str:
    return " ".join(text.split()).replace("%", "%%")


def _unit_argument(text: str) -> str:
    """A word of a command line of systemd, whose quotes have C's escapes, and which expands $ and %."""
    for sign, written in (("\\", "\\\\"), ('"', '\\"'), ("\n", "\\n"), ("\t", "\\t"), ("%", "%%"), ("$", "$$")):
        text = text.replace(sign, written)
    return f'"{text}"'


# -- macOS -------------------------------------------------------------------------------------------------------------


class Launchd:
    """Launchd's agents of the user's graphical session."""

    suffix: ClassVar[str] = ".plist"

    def __init__(self, run: Run = run_program) -> None:
        self._run = run
        self.folder: Path = home_folder() / "Library" / "LaunchAgents"

    @property
    def _domain(self) -> str:
        return f"gui/{os.getuid()}" if hasattr(os, "getuid") else "gui"

    def definition(self, service: Service) -> bytes:
        """A property list."""
        limit = {"ResidentSetSize": service.memory_mb * _MB}
        return plistlib.dumps(
            {
                "Label": service.name,
                "ProgramArguments": list(service.command),
                "WorkingDirectory": str(home_folder()),
                "RunAtLoad": True,
                "KeepAlive": {"SuccessfulExit": False},
                "ThrottleInterval": AGAIN_AFTER,
                "ProcessType": "Background" if service.nice else "Standard",
                "Nice": service.nice,
                "SoftResourceLimits": limit,
                "HardResourceLimits": limit,
                "StandardErrorPath": str(service.log),
            }
        )

    def start(self, name: str) -> None:
        _needed(self._run, "launchctl", "bootstrap", self._domain, str(self.folder / f"{name}.plist"))

    def stop(self, name: str) -> None:
        self._run(("launchctl", "bootout", f"{self._domain}/{name}"))

    def forget(self) -> None:
        """Nothing: what is not loaded is not known."""

    def state(self, name: str) -> str:
        status, said = self._run(("launchctl", "print", f"{self._domain}/{name}"))
        return "stopped" if status or "state = running" not in said else "running"


# -- Windows -----------------------------------------------------------------------------------------------------------


class TaskScheduler:
    """Tasks that run while their user is logged on. They have a priority, and no limit of memory."""

    suffix: ClassVar[str] = ".xml"

    def __init__(self, run: Run = run_program) -> None:
        self._run = run
        self.folder: Path = config_folder() / "services"

    def definition(self, service: Service) -> bytes:
        """The task's XML, in UTF-16, as schtasks reads it."""
        user = escape(_needed(self._run, "whoami"))
        program, *arguments = service.command
        text = f"""<?xml version="1.0" encoding="UTF-16"?>
<Task version="1.2" xmlns="http://schemas.microsoft.com/windows/2004/02/mit/task">
  <RegistrationInfo><Description>{escape(service.description)}</Description></RegistrationInfo>
  <Triggers><LogonTrigger><Enabled>true</Enabled><UserId>{user}</UserId></LogonTrigger></Triggers>
  <Principals>
    <Principal id="Author">
      <UserId>{user}</UserId><LogonType>InteractiveToken</LogonType><RunLevel>LeastPrivilege</RunLevel>
    </Principal>
  </Principals>
  <Settings>
    <MultipleInstancesPolicy>IgnoreNew</MultipleInstancesPolicy>
    <DisallowStartIfOnBatteries>false</DisallowStartIfOnBatteries>
    <StopIfGoingOnBatteries>false</StopIfGoingOnBatteries>
    <StartWhenAvailable>true</StartWhenAvailable>
    <Hidden>true</Hidden>
    <ExecutionTimeLimit>PT0S</ExecutionTimeLimit>
    <Priority>{7 if service.nice else 6}</Priority>
    <RestartOnFailure><Interval>PT1M</Interval><Count>5</Count></RestartOnFailure>
  </Settings>
  <Actions Context="Author">
    <Exec>
      <Command>{escape(program)}</Command>
      <Arguments>{escape(subprocess.list2cmdline(arguments))}</Arguments>
    </Exec>
  </Actions>
</Task>
"""
        return text.encode("utf-16")

    def start(self, name: str) -> None:
        _needed(self._run, "schtasks", "/Create", "/F", "/TN", name, "/XML", str(self.folder / f"{name}{self.suffix}"))
        _needed(self._run, "schtasks", "/Run", "/TN", name)

    def stop(self, name: str) -> None:
        self._run(("schtasks", "/End", "/TN", name))
        self._run(("schtasks", "/Delete", "/F", "/TN", name))

    def forget(self) -> None:
        """Nothing: a task that has been deleted is not known."""

    def state(self, name: str) -> str:
        status, said = self._run(("schtasks", "/Query", "/TN", name, "/FO", "CSV", "/NH"))
        return "stopped" if status else said.rpartition(",")[2].strip('" ').lower()


# -- Here --------------------------------------------------------------------------------------------------------------


def manager_here(platform: str = sys.platform) -> ServiceManager:
    """The manager of this operating system. Raises UsageError where none is known."""
    managers: dict[str, Callable[[], ServiceManager]] = {"linux": Systemd, "darwin": Launchd, "win32": TaskScheduler}
    if platform not in managers:
        raise UsageError(f"services are known for systemd, launchd and the Task Scheduler, not for {platform}")
    return managers[platform]()


def lasting_program(executable: str = sys.executable, *, is_one_file: bool = False) -> tuple[str, ...]:
    """The command that starts semsearch here, and still does after an upgrade: by Python, or the program itself.

    Raises UsageError for an environment that uvx or `pipx run` made for this run, which they delete some day.
    """
    program = Path(executable)
    of_uv = "uv" in program.parts and any(part.startswith(("archive-v", "environments-v")) for part in program.parts)
    if of_uv or {".cache", "pipx"} <= set(program.parts):
        raise UsageError(f"{program.parent} is temporary; install semsearch first: pipx install semsearch")
    if is_one_file:
        return (str(program),)
    windowless = program.with_name("pythonw.exe")  # opens no console
    return (str(windowless if windowless.exists() else program), "-P", "-m", "semsearch")
