"""Files that would kill their reader, or keep it for ever, cost themselves: the process that reads them is another."""

from __future__ import annotations

import gc
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from packages import needed
from sample_files.bombs import BOMBS, nested, sound
from sample_files.valid_files import NAMES, sound as valid

from semsearch import Index
from semsearch.errors import SourceError, UsageError
from semsearch.readers import document_codec, reader_process
from semsearch.readers.read import read_bytes, read_text
from semsearch.readers.reader_process import Limits, end_reader_processes, in_reader_process
from semsearch.readers.registry import FORMATS
from semsearch.word_vectors.table import VectorTable

for package in ("docx", "pptx", "openpyxl", "nbformat", "reportlab", "pypdfium2"):
    needed(package)

posix = pytest.mark.skipif(os.name != "posix", reason="signals and limits are POSIX's")
linux = pytest.mark.skipif(sys.platform != "linux", reason="/proc shows processes")
LITTLE = Limits(1.0, 64 << 20)


@pytest.fixture(autouse=True)
def _no_process_before() -> Iterator[None]:
    end_reader_processes()
    yield
    end_reader_processes()


def children() -> set[int]:
    """The processes that this one has started and that run."""
    tasks = Path("/proc/self/task").glob("*/children")
    found = {int(child) for task in tasks for child in task.read_text().split()}
    return {child for child in found if "reader_child" in Path(f"/proc/{child}/cmdline").read_text()}


def asked(name: str, *arguments: object, data: bytes = b"data", limits: Limits | None = None) -> bytes:
    return in_reader_process(f"processes.reading_functions:{name}", data, "a.pdf", *arguments, limits=limits)


# -- The process -------------------------------------------------------------------------------------------------------


def test_it_answers_with_bytes_of_any_size() -> None:
    assert (
        asked("echo", "\udcff", [1, 2.5, None], data=b"x" * 3_000_000)
        == b"x" * 3_000_000 + repr(("\udcff", [1, 2.5, None])).encode()
    )


@linux
def test_one_process_reads_file_after_file_and_none_runs_before_the_first() -> None:
    assert children() == set()
    asked("echo")
    first = children()
    asked("echo")
    assert len(first) == 1
    assert children() == first
    end_reader_processes()
    assert children() == set()


@posix
@pytest.mark.parametrize(
    ("name", "reason"),
    [
        ("spin", "takes more than 1 seconds to read"),
        ("fill", "takes more than 67 MB of memory"),
        ("fill_at_once", "takes more than 67 MB of memory"),
        ("crash", "made its reader crash .SIGSEGV"),
        ("fail", "could not be parsed: ZeroDivisionError: a parser's own bug"),
    ],
)
def test_what_goes_beyond_a_limit_or_crashes_is_an_error_of_that_file(name: str, reason: str) -> None:
    asked("echo")
    with pytest.raises(SourceError, match=f"a.pdf {reason}") as caught:
        asked(name, limits=LITTLE)
    assert caught.value.__cause__ is None  # it would be so again
    assert asked("echo") == b"data()"


def test_errors_of_the_user_stay_what_they_are() -> None:
    with pytest.raises(UsageError, match="no page 3"):
        asked("refuse")


def test_a_file_that_waits_is_given_up_and_tried_again_another_time(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(reader_process, "_LOOK", 0.01)
    with pytest.raises(SourceError, match="on a busy machine") as caught:
        asked("wait", limits=Limits(0.05, 64 << 20))
    assert isinstance(caught.value.__cause__, OSError)


@posix
def test_it_has_no_secrets_and_few_rights(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("PGPASSWORD", "secret")
    assert asked("tell") == repr((None, [0, 0, 64])).encode()
    with pytest.raises(SourceError, match="File too large"):
        asked("write", data=os.fsencode(tmp_path / "trace"))


def test_a_process_that_has_ended_is_replaced() -> None:
    asked("echo")
    (process,) = reader_process._processes._waiting
    process._process.kill()
    process._process.wait()
    assert asked("echo") == b"data()"


def test_threads_read_at_the_same_time() -> None:
    answers: list[bytes] = []
    threads = [threading.Thread(target=lambda n=n: answers.append(asked("echo", n))) for n in range(12)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(answers) == sorted(f"data({n},)".encode() for n in range(12))
    assert len(reader_process._processes._waiting) <= reader_process._PROCESSES


@posix
def test_a_fork_has_processes_of_its_own() -> None:
    asked("echo")
    (before,) = reader_process._processes._waiting
    pid = os.fork()
    if not pid:
        os._exit(0 if not reader_process._processes._waiting and asked("echo") == b"data()" else 1)
    assert os.waitpid(pid, 0)[1] == 0
    assert asked("echo") == b"data()"
    assert reader_process._processes._waiting == [before]


# -- Interruptions -----------------------------------------------------------------------------------------------------

_READING = """
import sys
from semsearch.readers.reader_process import Limits, in_reader_process
print("asking", flush=True)
in_reader_process("processes.reading_functions:spin", b"", "a.pdf", limits=Limits(600.0, 1 << 30))
"""


@linux
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGKILL])
def test_whatever_ends_a_program_ends_the_process_that_reads_for_it(number: int) -> None:
    program = subprocess.Popen(
        [sys.executable, "-c", _READING], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
        env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)},
    )  # fmt: skip
    with program:
        assert program.stdout is not None
        assert program.stdout.readline() == b"asking\n"
        task = Path(f"/proc/{program.pid}/task/{program.pid}/children")
        while not (reading := task.read_text().split()):
            time.sleep(0.01)
        (reader,) = reading
        os.kill(program.pid, number)
    assert program.returncode
    while Path(f"/proc/{reader}").exists():
        if "State:\tZ" in Path(f"/proc/{reader}/status").read_text():  # of a machine whose first process reaps none
            break
        time.sleep(0.01)


def test_an_interruption_ends_the_process(monkeypatch: pytest.MonkeyPatch) -> None:
    asked("echo")
    (process,) = reader_process._processes._waiting

    def interrupted(*_: object) -> None:
        raise KeyboardInterrupt

    with monkeypatch.context() as patched:
        patched.setattr(reader_process, "receive", interrupted)
        with pytest.raises(KeyboardInterrupt):
            asked("echo")
    assert process.has_ended
    assert reader_process._processes._waiting == []
    assert asked("echo") == b"data()"
    del process
    gc.collect()


# -- Documents ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", NAMES)
def test_a_document_is_the_same_as_read_in_this_process(name: str, request: pytest.FixtureRequest) -> None:
    data = valid(name)
    apart = read_bytes(data, name)
    request.getfixturevalue("read_here")
    here = read_bytes(data, name)
    assert apart == here
    again = document_codec.decode(document_codec.encode(here))
    assert (again.source, list(again.blocks), again.metadata) == (here.source, list(here.blocks), here.metadata)


def test_a_large_text_is_read_apart_and_is_the_same(request: pytest.FixtureRequest) -> None:
    for name in ("markdown", "rst", "html", "org", "latex", "python"):
        text = "".join(f"Tide *{number}* rises, Größe \ud800 {number}.\n\n" for number in range(4000))
        assert FORMATS[name].apart is not None
        assert len(text) > (FORMATS[name].apart or 0)
        apart = read_text(text, "a", format=name)
        assert reader_process._processes._waiting
        with pytest.MonkeyPatch.context() as patched:
            patched.setattr("semsearch.readers.read._read_apart", lambda kind, text, name, _: kind.load()(text, name))
            assert read_text(text, "a", format=name) == apart


def test_small_texts_start_no_process() -> None:
    for name in NAMES:
        if not name.endswith((".pdf", "x", ".odt", ".epub")):
            read_bytes(valid(name), name)
    assert reader_process._processes._waiting == []


# -- Bombs -------------------------------------------------------------------------------------------------------------


@posix
@pytest.mark.parametrize("processes", [1, 2])
def test_bombs_are_set_aside_and_the_files_beside_them_are_indexed(
    processes: int, tmp_path: Path, small_vectors: VectorTable, monkeypatch: pytest.MonkeyPatch
) -> None:
    docs = tmp_path / "docs"
    docs.mkdir()
    bombs = [*BOMBS] if processes == 1 else ["nested"]
    if processes == 1:  # where the real limits need not hold
        monkeypatch.setattr(Limits, "of", lambda _: Limits(30.0, 200_000_000))
    for name in bombs:
        (docs / f"{name}.pdf").write_bytes(BOMBS[name]())
    (docs / "sound.pdf").write_bytes(sound())
    (docs / "the last.txt").write_text("The bread bakes.")
    with Index.create(tmp_path / "index", vectors=small_vectors) as index:
        report = index.sync(docs, processes=processes)
        assert report.added == 2
        assert {Path(item.path).stem for item in report.skipped} == {*bombs}
        for item in report.skipped:
            assert item.reason.startswith(f"{item.path} ")
            assert "takes more than" in item.reason or "made its reader crash" in item.reason
        reasons = {item.path: item.reason for item in report.skipped}
        problems = {problem.path: problem.reason for problem in index.problems()}
        assert reasons == {path: f"{path} {reason}" for path, reason in problems.items()}
        assert index.search("captain")[0].document == "sound.pdf"

        if processes == 1:
            monkeypatch.setattr("semsearch.readers.read._read_apart", refused)
        for path in docs.glob("*.pdf"):
            os.utime(path)  # touched, and the same
        again = index.sync(processes=processes)
        assert {item.reason for item in again.skipped} == {item.reason for item in report.skipped}
        monkeypatch.undo()
        (docs / "nested.pdf").write_bytes(sound() + b"\n")
        assert index.sync(processes=processes).added == 1


def refused(*_: object) -> None:
    raise AssertionError("a file that has not changed is read again")


@linux
def test_a_bomb_under_a_memory_limit_costs_only_itself(tmp_path: Path, small_vectors: VectorTable) -> None:
    docs = tmp_path / "docs"
    docs.mkdir()
    (docs / "nested.pdf").write_bytes(nested())
    (docs / "sound.pdf").write_bytes(sound())
    code = (
        "import sys; from semsearch import Index; from semsearch.word_vectors.table import VectorTable\n"
        "from pathlib import Path\n"
        "with Index.create(sys.argv[2], vectors=VectorTable(Path(sys.argv[3]))) as index:\n"
        "    report = index.sync(sys.argv[1])\n"
        "print(report.added, len(report.skipped))"
    )
    command = f'ulimit -v 1500000; exec "{sys.executable}" -c "$0" "$@"'
    done = subprocess.run(
        ["bash", "-c", command, code, str(docs), str(tmp_path / "index"), str(small_vectors.folder)],
        capture_output=True, text=True, check=False,
        env={**os.environ, "OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"},
    )  # fmt: skip
    assert (done.returncode, done.stdout) == (0, "1 1\n"), done.stderr
