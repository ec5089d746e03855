"""Files that would kill their reader, or keep it for ever, cost themselves: the process that reads them is another."""

from __future__ import annotations

import io
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import replace
from pathlib import Path

import pytest
from fixtures import reading_here
from packages import needed
from processes import reading_functions
from sample_files.bombs import BOMBS, sound
from sample_files.valid_files import NAMES, sound as valid

from semsearch import Index
from semsearch.errors import SourceError, UsageError
from semsearch.readers import reader_process
from semsearch.readers.document import Block, Document, NotADocument, Omission, Spot, decode_document, encode_document
from semsearch.readers.read import read_bytes, read_text
from semsearch.readers.reader_child import MessageError, receive
from semsearch.readers.reader_process import Limits, end_reader_processes, in_reader_process
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
    started = set[int]()
    for task in Path("/proc/self/task").glob("*/children"):
        with suppress(FileNotFoundError):  # a thread that has ended meanwhile
            started.update(map(int, task.read_text().split()))
    return {child for child in started if "reader_child" in Path(f"/proc/{child}/cmdline").read_text()}


def asked(name: str, *arguments: object, data: bytes = b"data", limits: Limits | None = None) -> bytes:
    return in_reader_process(getattr(reading_functions, name), data, "a.pdf", *arguments, limits=limits)


# -- The process -------------------------------------------------------------------------------------------------------


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
def test_what_goes_beyond_a_limit_or_crashes_is_an_error_of_that_file(
    name: str, reason: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(reader_process, "_TIMES", 300)  # a second of processor time may take minutes
    asked("echo")
    with pytest.raises(SourceError, match=f"a.pdf {reason}") as caught:
        asked(name, limits=LITTLE)
    assert caught.value.__cause__ is None  # it would be so again
    assert asked("echo") == b"data()"


def test_errors_of_the_user_stay_what_they_are() -> None:
    with pytest.raises(UsageError, match="no page 3"):
        asked("refuse")


def test_a_file_that_waits_is_given_up_and_tried_again_another_time() -> None:
    with pytest.raises(SourceError, match="on a busy machine") as caught:
        asked("wait", limits=Limits(0.05, 64 << 20))
    assert isinstance(caught.value.__cause__, OSError)


@posix
def test_it_has_no_secrets_and_few_rights(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("PGPASSWORD", "secret")
    assert asked("tell") == repr((None, [0, 0, 64])).encode()
    with pytest.raises(SourceError, match="File too large"):
        asked("write", data=os.fsencode(tmp_path / "trace"))
    if os.getuid():  # whom the limit does not bind
        with pytest.raises(SourceError, match="BlockingIOError"):
            asked("start")


@linux
def test_a_process_that_has_ended_is_replaced() -> None:
    asked("echo")
    (process,) = children()
    os.kill(process, signal.SIGKILL)
    os.waitid(os.P_PID, process, os.WEXITED | os.WNOWAIT)  # it has ended, and can still be asked for its status
    assert asked("echo") == b"data()"


@linux
@pytest.mark.filterwarnings("ignore:lance is not fork-safe")  # which another test may have imported
def test_a_fork_has_processes_of_its_own() -> None:
    asked("echo")
    before = children()
    pid = os.fork()
    if not pid:
        os._exit(0 if not children() and asked("echo") == b"data()" and children() else 1)
    assert os.waitpid(pid, 0)[1] == 0
    assert asked("echo") == b"data()"
    assert children() == before


# -- Interruptions -----------------------------------------------------------------------------------------------------

_READING = """
import signal, sys
for number in (signal.SIGHUP, signal.SIGTERM):
    signal.signal(number, signal.SIG_DFL)  # whoever started the tests may ignore them
signal.signal(signal.SIGINT, signal.default_int_handler)
from processes.reading_functions import spin
from semsearch.readers.reader_process import Limits, in_reader_process
print("asking", flush=True)
in_reader_process(spin, b"", "a.pdf", limits=Limits(600.0, 1 << 30))
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


@linux
def test_an_interruption_ends_the_process(monkeypatch: pytest.MonkeyPatch) -> None:
    asked("echo")
    before = children()

    def interrupted(*_: object) -> None:
        raise KeyboardInterrupt

    with monkeypatch.context() as patched:
        patched.setattr(reader_process, "receive", interrupted)
        with pytest.raises(KeyboardInterrupt):
            asked("echo")
    assert not before & children()
    assert asked("echo") == b"data()"


# -- Documents ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", NAMES)
def test_a_document_is_the_same_as_read_in_this_process(name: str) -> None:
    data = valid(name)
    with reading_here():
        here = read_bytes(data, name)
    assert read_bytes(data, name) == here
    again = decode_document(encode_document(here))
    assert replace(again, format=here.format, blocks=[*again.blocks]) == replace(here, blocks=[*here.blocks])


@linux
@pytest.mark.parametrize("format", ["markdown", "rst", "html", "org", "latex", "python"])
def test_a_large_text_is_read_isolated_and_is_the_same(format: str) -> None:
    text = "".join(f"Tide *{number}* rises, Größe {number}.\n\n" for number in range(4000))
    apart = read_text(text, "a", format=format)
    assert children()
    with reading_here():
        assert read_text(text, "a", format=format) == apart


# -- Answers that a file has written -----------------------------------------------------------------------------------

ENCODED = encode_document(
    Document(
        "Tide\n\nThe sea é rises.",
        [
            Block("Tide", 0, 1, 1, sentences=((0, 4),)),
            Block("The sea rises.", 6, 0, 2, ((0, 6), (8, 16)), "top", "a", (Spot(0, 2, "top"),)),
        ],
        title="Tide",
        metadata={"author": "Ann"},
        omissions=(Omission("attachments", 2, "a, b"),),
    )
)


@pytest.mark.parametrize(
    ("old", "new"),
    [
        (b'"title":"Tide"', b'"title":7'), (b'"title":"Tide"', b'"title":"\\ud800"'),
        (b'{"author":"Ann"}', b'["Ann"]'), (b'"Ann"', b'"\\ud800"'), (b"attachments", b"whatever"),
        (b'"place":"top","part":"a"', b'"place":1,"part":"a"'), (b'"count":2', b'"count":-2'),
        (b'"start":6', b'"start":99'), (b'"start":6', b'"start":-1'), (b'"start":6', b'"start":1.5'),
        (b'"start":6', b'"start":true'), (b'"start":6', b'"start":"6"'), (b'"start":6', b'"start":2e9'),
        (b'"level":1', b'"level":-1'), (b'"level":1', b'"level":9999'), (b'"start":6,', b""),
        (b'"page":2,"anchors"', b'"page":99999999999999999999,"anchors"'),
        (b'"page":2,"anchors"', b'"page":-1,"anchors"'),
        (b"[[0,6],[8,16]]", b"[[8,6],[0,16]]"), (b"[[0,6],[8,16]]", b"[[0,6],[8,99]]"),
        (b"[[0,6],[8,16]]", b"[[0],[8,16]]"),
        (b'[[0,2,"top"]]', b'[[1,2,"top"]]'), (b'[[0,2,"top"]]', b'[[0,-2,"top"]]'), (b"[[0,4]]", b"[[0,5]]"),
        (b"[[0,4]]", b"[[4,0]]"), (b'"Ann"', b"[" * 100_000), (b'"text":"Tide"', b'"text":"Tide, and much more of it"'),
    ],
)  # fmt: skip
def test_what_is_no_document_is_refused(old: bytes, new: bytes) -> None:
    decode_document(ENCODED)
    assert ENCODED.count(old) == 1
    with pytest.raises(NotADocument):
        decode_document(ENCODED.replace(old, new))


# -- Messages ----------------------------------------------------------------------------------------------------------


def header(text: bytes, length: int, data: int = 0) -> bytes:
    return length.to_bytes(4, "big") + data.to_bytes(8, "big") + text


@pytest.mark.parametrize(
    "sent",
    [
        b"", b"\0" * 11, b"\xff" * 12, header(b"[]", 2), header(b"{", 2), header(b"{x", 2), header(b"{}", 2, 1),
        header(b"{}", 2, 101), header(b"{}", 20_000_000), header(b"[" * 2000, 2000), header(b"\xff", 1),
    ],
)  # fmt: skip
def test_what_is_no_message_is_refused(sent: bytes) -> None:
    with pytest.raises(MessageError):
        receive(io.BytesIO(sent), 100)


# -- Bombs -------------------------------------------------------------------------------------------------------------


@posix
@pytest.mark.parametrize("processes", [1, 2])
def test_bombs_are_set_aside_and_the_files_beside_them_are_indexed(
    processes: int, tmp_path: Path, small_vectors: VectorTable, monkeypatch: pytest.MonkeyPatch
) -> None:
    docs = tmp_path / "docs"
    docs.mkdir()
    bombs = [*BOMBS] if processes == 1 else ["saves its state"]
    if processes == 1:  # where the real limits need not hold
        monkeypatch.setattr(Limits, "of", lambda _: Limits(30.0, 200_000_000))
    for name in bombs:
        (docs / f"{name}.pdf").write_bytes(BOMBS[name]())
    (docs / "sound.pdf").write_bytes(sound())
    (docs / "the last.txt").write_text("The bread bakes.")
    for path in docs.iterdir():
        os.utime(path, (1e9, 1e9))  # long ago: what was just written may change unseen, and is read again
    with Index.create(tmp_path / "index", vectors=small_vectors) as index:
        report = index.sync(docs, processes=processes)
        assert report.added == 2, report.skipped
        assert {Path(item.path).stem for item in report.skipped} == {*bombs}
        for item in report.skipped:
            assert item.reason.startswith(f"{item.path} ")
            assert "takes more than" in item.reason or "made its reader crash" in item.reason
        reasons = {item.path: item.reason for item in report.skipped}
        problems = {problem.path: problem.reason for problem in index.problems()}
        assert reasons == {path: f"{path} {reason}" for path, reason in problems.items()}
        assert index.search("captain")[0].document == "sound.pdf"

        if processes == 1:
            monkeypatch.setattr("semsearch.readers.read._read_isolated", refused)
        again = index.sync(processes=processes)
        assert {item.reason for item in again.skipped} == {item.reason for item in report.skipped}
        monkeypatch.undo()
        (docs / "nested.pdf").write_bytes(sound() + b"\n")
        assert index.sync(processes=processes).added == 1


def refused(*_: object) -> None:
    raise AssertionError("a file that has not changed is read again")
