"""Run Python as a process of its own, and measure its time and peak memory."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from semsearch.errors import SemsearchError

_THREADS = ("OMP", "OPENBLAS", "MKL", "NUMBA", "RAYON")
ONE_THREAD = {
    **{f"{name}_NUM_THREADS": "1" for name in _THREADS},
    "VECLIB_MAXIMUM_THREADS": "1",
    "TOKENIZERS_PARALLELISM": "false",
}
_LAUNCHER = Path(__file__).with_name("launcher.py")


@dataclass(frozen=True, slots=True)
class ProcessRun:
    """The time and peak memory of a process, and its output."""

    seconds: float
    peak: int | None  # bytes; None where the operating system does not tell


def is_one_thread() -> bool:
    """Return whether the environment limits linear algebra to one thread."""
    return all(os.environ.get(name) == "1" for name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS"))


def run_python(*arguments: str) -> ProcessRun:
    """Run `python ARGUMENTS...` with one thread. Raises SemsearchError if it fails."""
    command = [sys.executable, *arguments]
    tells_peak = hasattr(os, "wait4")
    started = time.perf_counter()
    out, error, status = _run([sys.executable, "-I", str(_LAUNCHER), *command] if tells_peak else command)
    seconds, peak = time.perf_counter() - started, None
    if tells_peak and status == 0:
        seconds, peak, status = json.loads(out)
    if status != 0:
        lines = error.strip().splitlines()
        reason = lines[-1] if lines else f"exit status {status}"
        raise SemsearchError(f"a process that was measured failed: python {' '.join(arguments[:3])} ...: {reason}")
    return ProcessRun(seconds, peak)


def _run(command: Sequence[str]) -> tuple[str, str, int]:
    """Run a process to its end; its outputs and exit status. If this process is interrupted, the other ends too."""
    pipe = subprocess.PIPE
    with subprocess.Popen(
        command, stdout=pipe, stderr=pipe, encoding="utf-8", errors="replace", env={**os.environ, **ONE_THREAD}
    ) as process:
        try:
            out, error = process.communicate()
        except BaseException:
            process.terminate()
            process.wait()
            raise
        return out, error, process.returncode
