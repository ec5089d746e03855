"""`semsearch serve`: an address on stdout, answers until it is interrupted."""

from __future__ import annotations

import http.client
import json
import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import urlsplit

import pytest
from console import index_docs, semsearch, work_in, write_docs
from packages import needed
from serving import TOKEN, Asker, running

from semsearch.server.open_indexes import OpenIndexes
from semsearch.server.running import ServerSettings
from semsearch.word_vectors.table import VectorTable

needed("uvicorn", reason="an optional dependency")


@pytest.fixture(autouse=True)
def _indexed(tmp_path: Path, small_vectors: VectorTable, monkeypatch: pytest.MonkeyPatch) -> None:
    write_docs(tmp_path)
    index_docs(tmp_path, small_vectors)
    work_in(tmp_path, monkeypatch)
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))


@pytest.mark.skipif(os.name == "nt", reason="there is no Ctrl-C to send there")
def test_it_serves_at_the_address_that_it_prints_until_it_is_interrupted(
    tmp_path: Path, small_vectors: VectorTable
) -> None:
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    command = [sys.executable, "-m", "semsearch", "serve", "--port", "0", "--vectors", str(small_vectors.folder)]
    with subprocess.Popen(
        command, cwd=tmp_path, env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    ) as server:
        assert server.stdout is not None
        assert server.stderr is not None
        address = urlsplit(server.stdout.readline().strip())
        connection = http.client.HTTPConnection(str(address.hostname), address.port or 0)
        connection.request("GET", "/v1/search?query=ship")
        found = json.load(connection.getresponse())
        connection.close()
        server.send_signal(signal.SIGINT)
        told = server.stderr.read()
    assert found["hits"][0]["path"] == "docs/guide.md"
    assert server.returncode == 0
    assert "serving docs; the token is in" in told
    assert "stopped serving" in told
    assert "Traceback" not in told


def test_without_an_index_or_a_free_port_it_says_so(tmp_path: Path) -> None:
    assert "no index in ./other" in semsearch("serve", "--indexes", "other").err
    taken = semsearch("serve", "--host", "192.0.2.1", "--port", "0")  # not one of this machine's addresses
    assert taken.status == 2
    assert "choose another with --host or --port" in taken.err


def test_without_the_extra_the_error_names_the_cure(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "semsearch.server.running", None)
    found = semsearch("serve", "--port", "0")
    assert found.status == 2
    assert "pip install '.[serve]'" in found.err


@pytest.fixture
def asker(tmp_path: Path) -> Iterator[Asker]:
    with running(OpenIndexes(folder=tmp_path / "indexes")) as asker:
        yield asker


@pytest.mark.parametrize(
    "options", [["--json"], ["--jsonl", "--explain"], ["-o", "plain", "-C", "1"], ["-f", "year>2030"]]
)
def test_a_query_to_a_server_prints_what_one_here_prints(options: list[str], asker: Asker) -> None:
    here = semsearch("query", "a ship in the storm", *options)
    there = semsearch("query", "a ship in the storm", *options, "--server", asker.url)
    assert (there.status, there.out) == (here.status, here.out)


def test_what_can_only_be_done_here_is_refused(asker: Asker) -> None:
    assert (
        "--refresh works with local indexes only" in semsearch("query", "ship", "--refresh", "--server", asker.url).err
    )
    assert (
        "--vectors works with local indexes only"
        in semsearch("query", "ship", "--vectors", "x", "--server", asker.url).err
    )


def test_the_token_comes_from_the_environment(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with running(OpenIndexes(folder=tmp_path / "indexes"), ServerSettings(port=0, always_token=True)) as asker:
        assert "this request needs a token" in semsearch("query", "ship", "--server", asker.url).err
        monkeypatch.setenv("SEMSEARCH_TOKEN", TOKEN)
        assert semsearch("query", "ship", "--server", asker.url).status == 0


@pytest.fixture
def notes(tmp_path: Path, small_vectors: VectorTable) -> list[str]:
    """A second index; the options that name both."""
    assert semsearch("index", "docs/more", "--name", "notes", "--vectors", small_vectors.folder).status == 0
    return ["-i", "docs", "-i", "notes"]


@pytest.mark.parametrize(
    "asked",
    [
        ["query", "a ship in the storm", "--explain"],
        ["query", "the judge", "--json"],
        ["similar", "docs/guide.md", "--json"],
        ["context", "the judge in the court"],
        ["ask", "the judge in the court", "--show-prompt"],
    ],
)
def test_several_indexes_of_a_server_answer_as_those_here(asked: list[str], notes: list[str], asker: Asker) -> None:
    here = semsearch(*asked, *notes)
    assert here.status == 0
    assert semsearch(*asked, *notes, "--server", asker.url).out == here.out
