"""What stands at the path of an indexed file is opened without waiting, and only below its root.

Whoever can write to an indexed folder, or has made the index, chooses what stands there: a pipe, a device, a link.
"""

from __future__ import annotations

import os
import threading
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from console import semsearch as command
from serving import running

from semsearch.errors import SourceChanged, SourceError
from semsearch.index import Index
from semsearch.readers.read import read_file
from semsearch.results.hits import Hit
from semsearch.server.open_indexes import OpenIndexes
from semsearch.system.source_files import NotTheFile, opened_source, read_source, source_digest
from semsearch.word_vectors.table import VectorTable

# -- What the function does --------------------------------------------------------------------------------------------

posix = pytest.mark.skipif(os.name != "posix", reason="pipes and links are POSIX's")


def pipe(path: Path) -> None:
    path.unlink(missing_ok=True)
    os.mkfifo(path)


def link(path: Path) -> None:
    (path.parent.parent / "secret.md").write_text("A secret of three lines.\n\nHere.\n\nAnd there.\n" * 9)
    path.unlink(missing_ok=True)
    path.symlink_to(path.parent.parent / "secret.md")


def device(path: Path) -> None:
    path.unlink(missing_ok=True)
    path.symlink_to("/dev/zero")


STRANGE = pytest.mark.parametrize("put", [pipe, link, device])


@posix
@STRANGE
def test_only_a_regular_file_below_the_root_is_read(tmp_path: Path, put: Callable[[Path], None]) -> None:
    (tmp_path / "docs").mkdir()
    put(tmp_path / "docs" / "a.md")
    reads: list[Callable[..., object]] = [read_source, lambda path, _, root: source_digest(path, root=root)]
    for read in reads:
        with pytest.raises(NotTheFile):
            read(tmp_path / "docs" / "a.md", 100, root=str(tmp_path / "docs"))
    with pytest.raises(NotTheFile):
        read_source(tmp_path / "docs" / "a.md", 100, root=str(tmp_path / "docs" / "a.md"))
    with pytest.raises(NotTheFile):
        read_source(tmp_path, 100)


@posix
def test_links_in_the_root_and_to_the_root_are_followed(tmp_path: Path) -> None:
    (tmp_path / "docs").mkdir()
    (tmp_path / "docs" / "a.md").write_text("A ship.")
    (tmp_path / "docs" / "b.md").symlink_to("a.md")
    (tmp_path / "linked").symlink_to("docs")
    for path in ("docs/a.md", "docs/b.md", "linked/a.md"):
        for root in ("docs", "linked"):
            assert read_source(tmp_path / path, 100, root=str(tmp_path / root)).data == b"A ship."
    assert read_source(tmp_path / "docs" / "a.md", 100, root=str(tmp_path / "docs" / "a.md")).data == b"A ship."
    assert read_source(tmp_path / "linked" / "a.md", 100, root=str(tmp_path / "linked" / "a.md")).data == b"A ship."


def test_size_and_time_are_limited(tmp_path: Path) -> None:
    (tmp_path / "a.bin").write_bytes(b"a" * 5_000_000)
    assert len(read_source(tmp_path / "a.bin", 1000).data) == 1000
    assert len(read_source(tmp_path / "a.bin", 9_000_000).data) == 5_000_000
    with pytest.raises(TimeoutError, match="takes too long"):
        read_source(tmp_path / "a.bin", 9_000_000, seconds=-1.0)
    with pytest.raises(FileNotFoundError), opened_source(tmp_path / "b.bin"):
        pass


# -- What an index does with it ----------------------------------------------------------------------------------------


@pytest.fixture
def index(tmp_path: Path, small_vectors: VectorTable) -> Iterator[Index]:
    (tmp_path / "docs").mkdir()
    (tmp_path / "docs" / "a.md").write_text("# Ship\n\nA ship in the storm.\n")
    with Index.create(tmp_path / "index", vectors=small_vectors) as made:
        made.sync(tmp_path / "docs")
        yield made


def soon(call: Callable[[], object]) -> object:
    """What a call returns or raises. A call that waits for the writer of a pipe fails the test."""
    found: list[object] = []

    def run() -> None:
        try:
            found.append(call())
        except Exception as error:
            found.append(error)

    thread = threading.Thread(target=run, daemon=True)
    thread.start()
    thread.join(30)
    assert found, "it hangs"
    return found[0]


@posix
@STRANGE
def test_a_search_does_not_open_what_has_taken_the_place_of_a_file(
    index: Index, tmp_path: Path, put: Callable[[Path], None]
) -> None:
    (document,) = index.documents()
    put(tmp_path / "docs" / "a.md")
    found = soon(lambda: index.search("ship"))
    assert isinstance(found, list)
    assert found[0].stale
    assert "ends at line 3" in str(soon(lambda: index.similar(document.path, 9)))
    hit = found[0]
    assert isinstance(hit, Hit)
    report = soon(lambda: index.sync())
    assert getattr(report, "added", None) == 0, report


@posix
def test_another_file_of_the_same_size_is_not_read_through_a_link(index: Index, tmp_path: Path) -> None:
    file, other = tmp_path / "docs" / "a.md", tmp_path / "other.md"
    other.write_bytes(file.read_bytes())
    file.unlink()
    file.symlink_to(other)
    os.utime(other, (1, 1))
    assert index.search("ship")[0].stale  # though it is the same


@posix
@STRANGE
def test_a_server_does_not_tell_how_long_a_file_is_that_was_not_indexed(
    index: Index, tmp_path: Path, put: Callable[[Path], None]
) -> None:
    put(tmp_path / "docs" / "a.md")
    with running(OpenIndexes(places={"index": index.path})) as asker:
        for line in (9, 40):
            reply = soon(lambda line=line: asker.get("/v1/similar", path="a.md", line=line))  # type: ignore[misc]
            assert "ends at line 3" in getattr(reply, "detail", "")
        assert getattr(soon(lambda: asker.get("/v1/search", query="ship")), "status", 0) == 200


@posix
@STRANGE
def test_vimgrep_does_not_wait(index: Index, tmp_path: Path, put: Callable[[Path], None]) -> None:
    put(tmp_path / "docs" / "a.md")
    done = soon(lambda: command("query", "ship", "--format", "vimgrep", "--index", str(index.path)))
    assert ":3:1:A ship in the storm." in getattr(done, "out", "")


@posix
def test_ignore_rules_that_are_a_pipe_are_not_waited_for(index: Index, tmp_path: Path) -> None:
    pipe(tmp_path / "docs" / ".semsearchignore")
    (tmp_path / "docs" / "b.md").write_text("A captain.\n")
    report = soon(lambda: index.sync())
    assert getattr(report, "added", None) == 1, report


@posix
def test_a_reader_is_not_given_it(tmp_path: Path) -> None:
    pipe(tmp_path / "a.md")
    assert isinstance(soon(lambda: read_file(tmp_path / "a.md")), SourceError)


@posix
@STRANGE
def test_a_page_is_not_made_of_it(tmp_path: Path, small_vectors: VectorTable, put: Callable[[Path], None]) -> None:
    from sample_files.valid_files import pdf

    (tmp_path / "docs").mkdir()
    (tmp_path / "docs" / "a.pdf").write_bytes(pdf(lambda canvas: canvas.drawString(30, 460, "A ship in the storm.")))
    with Index.create(tmp_path / "index", vectors=small_vectors) as index:
        index.sync(tmp_path / "docs")
        put(tmp_path / "docs" / "a.pdf")
        assert isinstance(soon(lambda: index.page("a.pdf", 1)), SourceChanged)
