"""A systemd of a user of its own: in a mount namespace where /run is empty, in a home folder of its own.

It needs root, for the namespace. `systemctl` and the services' files are those of a real machine; there is no journal.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import time
from pathlib import Path

import pytest

_SYSTEMD = Path("/lib/systemd/systemd")
_HIERARCHIES = ("/sys/fs/cgroup/systemd", "/sys/fs/cgroup/unified", "/sys/fs/cgroup")
_START = """
for group in {groups}; do mkdir -p "$group" && echo $$ > "$group/cgroup.procs"; done
mount -t tmpfs tmpfs /run && mkdir -p /run/systemd/system && exec {systemd} --user
"""


class UserSystemd:
    """The manager of a user's services; `environment` is for the user's programs."""

    def __init__(self, home: Path, runtime: Path) -> None:
        """Prepare its folders; `runtime` has a short path, for sockets."""
        self._runtime = runtime
        self._groups = [
            Path(hierarchy, f"semsearch-test-{os.getpid()}")
            for hierarchy in _HIERARCHIES
            if Path(hierarchy, "cgroup.procs").exists()
        ]
        self._process: subprocess.Popen[bytes] | None = None
        programs = runtime / "bin"
        programs.mkdir(mode=0o700)
        self._systemctl = programs / "systemctl"
        kept = ("LANG", "PYTHONPATH", "SEMSEARCH_INDEXES")
        self.environment = {name: os.environ[name] for name in kept if name in os.environ} | {
            "HOME": str(home),
            "XDG_RUNTIME_DIR": str(runtime),
            "PATH": f"{programs}{os.pathsep}{os.defpath}",
        }

    def log_in(self) -> None:
        """Start it, with all services that start at login."""
        script = _START.format(groups=" ".join(map(str, self._groups)), systemd=_SYSTEMD)
        command = ["unshare", "--mount", "sh", "-euc", script]
        null = subprocess.DEVNULL
        self._process = subprocess.Popen(command, env=self.environment, stdin=null, stdout=null, stderr=null)
        own = f"nsenter --mount --wd=/ -t {self._process.pid} {shutil.which('systemctl')}"
        self._systemctl.write_text(f'#!/bin/sh\nexec {own} "$@"\n', encoding="utf-8")
        self._systemctl.chmod(0o700)
        until = time.monotonic() + 30
        while self.systemctl("is-active", "default.target") != "active":
            assert self._process.poll() is None, "systemd does not start here"
            assert time.monotonic() < until, "systemd did not start"
            time.sleep(0.1)

    def log_out(self) -> None:
        """Stop it with all services."""
        if self._process is not None:
            self._process.terminate()
            self._process.wait()
        for group in self._groups:
            for folder in sorted(group.rglob("*/"), reverse=True) if group.exists() else ():
                folder.rmdir()
            if group.exists():
                group.rmdir()

    def systemctl(self, *arguments: str) -> str:
        """What systemctl prints, without the line's end."""
        done = subprocess.run(
            [self._systemctl, "--user", *arguments], env=self.environment, capture_output=True, text=True
        )
        return done.stdout.strip()


def skip_unless_possible() -> None:
    """Skip a test where no such systemd can be started."""
    if not hasattr(os, "getuid") or os.getuid() != 0 or not _SYSTEMD.exists() or not shutil.which("nsenter"):
        pytest.skip("needs root, systemd and util-linux")
    if subprocess.run(["unshare", "--mount", "true"], capture_output=True).returncode:
        pytest.skip("this machine allows no mount namespaces")
