"""`semsearch mcp` in a process of its own, spoken to line by line."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from agent_messages import line


def environment() -> dict[str, str]:
    """The environment of a process of a test: what the test has set, and where its packages are."""
    return {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}


@dataclass(frozen=True)
class AgentProcess:
    """A running server."""

    process: subprocess.Popen[bytes]

    def send(self, value: Any) -> None:
        """Send a message, or bytes as they are."""
        assert self.process.stdin is not None
        self.process.stdin.write(value if isinstance(value, bytes) else line(value))
        self.process.stdin.flush()

    def receive(self) -> Any:
        """The next message."""
        assert self.process.stdout is not None
        return json.loads(self.process.stdout.readline())

    def ask(self, value: Any) -> Any:
        """Send a request; its answer, where no other is under way."""
        self.send(value)
        return self.receive()

    def end(self) -> tuple[list[Any], str]:
        """Close the pipe; the messages that still came, and what was said on stderr. It has to end well."""
        out, said = self.process.communicate(timeout=60)
        assert self.process.returncode == 0, said.decode()
        return [json.loads(each) for each in out.splitlines()], said.decode()


@contextmanager
def agent_process(folder: Path, *options: str, command: list[str] | None = None) -> Iterator[AgentProcess]:
    """Run `semsearch mcp` in a folder while the block runs."""
    run = command or [sys.executable, "-m", "semsearch", "mcp", *options]
    pipe = subprocess.PIPE
    with subprocess.Popen(run, cwd=folder, env=environment(), stdin=pipe, stdout=pipe, stderr=pipe) as process:
        try:
            yield AgentProcess(process)
        finally:
            process.kill()
