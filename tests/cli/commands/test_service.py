"""`semsearch service`: from installing to removing, with a manager of the test's own and with a real systemd."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from console import semsearch, write_docs
from packages import needed
from servers.user_systemd import UserSystemd, skip_unless_possible

from semsearch.cli.commands import service_command
from semsearch.index import Index
from semsearch.system.user_services import Service, ServiceFailed
from semsearch.word_vectors.table import VectorTable


class Manager:
    """A manager that remembers what it was told."""

    suffix = ".service"

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.told: list[str] = []
        self.fails = False
        self.services: dict[str, Service] = {}

    def definition(self, service: Service) -> bytes:
        self.services[service.name] = service
        return "\n".join(service.command).encode()

    def start(self, name: str) -> None:
        self.told.append(f"start {name}")
        if self.fails:
            raise ServiceFailed("there is no session")

    def stop(self, name: str) -> None:
        self.told.append(f"stop {name}")

    def forget(self) -> None:
        self.told.append("forget")

    def state(self, name: str) -> str:
        return "running" if f"start {name}" in self.told else "stopped"


@pytest.fixture
def manager(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Manager:
    made = Manager(tmp_path / "home" / "semsearch" / "services")
    monkeypatch.setattr(service_command, "manager_here", lambda: made)
    monkeypatch.setattr(service_command, "log_folder", lambda: tmp_path / "home" / "semsearch" / "log")
    monkeypatch.setattr(service_command, "is_installed", lambda _: True)
    return made


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory, small_vectors: VectorTable) -> Path:
    folder = tmp_path_factory.mktemp("made")
    write_docs(folder)
    with Index.create(folder / "indexes" / "docs", vectors=small_vectors) as index:
        index.sync(folder / "docs")
    return shutil.copytree(folder / "indexes", folder / "other").parent


@pytest.fixture
def docs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, made: Path) -> Path:
    """The current folder, with documents and two indexes of the same name."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("SEMSEARCH_INDEXES", raising=False)
    return shutil.copytree(made, tmp_path, dirs_exist_ok=True)


def test_a_service_is_installed_listed_and_removed(docs: Path, manager: Manager) -> None:
    found = semsearch("service", "install", "watch", "serve", "--memory", "500", "--nice", "5", "--indexes", "indexes")
    assert (found.status, found.err) == (0, "")
    watch, serve = manager.services["semsearch-watch-docs"], manager.services["semsearch-serve"]
    assert watch.command[-5:-3] == ("run", str(watch.log))
    assert watch.command[-3:] == ("watch", "--index", str(docs / "indexes/docs"))
    assert serve.command[-5:] == ("serve", "--port", "8765", "--indexes", str(docs / "indexes"))
    assert (watch.memory_mb, watch.nice) == (500, 5)
    for name in manager.services:
        assert f"{name}: runs `semsearch" in found.out
        assert f"`semsearch service remove {name}`" in found.out
    watch.log.write_text("one\ntwo\nthree\n", encoding="utf-8")
    assert semsearch("service", "logs", "watch-docs", "-n", "2").lines == [
        "semsearch-watch-docs: two",
        "semsearch-watch-docs: three",
    ]
    assert [line.split(";")[0] for line in semsearch("service", "status").lines] == [
        "semsearch-serve: running",
        "semsearch-watch-docs: running",
    ]
    assert semsearch("service", "remove").lines == [
        "semsearch-serve: stopped and removed",
        "semsearch-watch-docs: stopped and removed",
    ]
    assert list((docs / "home").iterdir()) == []
    assert semsearch("service", "status").out.startswith("no service is installed")


def test_without_a_name_it_serves_what_serve_would(
    docs: Path, manager: Manager, small_vectors: VectorTable, monkeypatch: pytest.MonkeyPatch
) -> None:
    (docs / "indexes").rename(docs / "elsewhere")
    monkeypatch.setenv("SEMSEARCH_HOME", str(docs / "own"))
    with Index.create(docs / "own" / "indexes" / "sea", vectors=small_vectors) as index:
        index.sync(docs / "docs")
    monkeypatch.chdir(docs / "docs")
    assert semsearch("service", "install", "serve").status == 0
    assert manager.services["semsearch-serve"].command[-2:] == ("--index", str(docs / "own/indexes/sea"))


def test_installing_again_replaces_and_another_index_of_the_name_gets_its_own(docs: Path, manager: Manager) -> None:
    for index in ("indexes/docs", "indexes/docs", "other/docs"):
        assert semsearch("service", "install", "watch", "--index", index).status == 0
    names = sorted(path.stem for path in manager.folder.iterdir())
    assert len(names) == 2
    assert names[0] == "semsearch-watch-docs"
    assert names[1].startswith("semsearch-watch-docs-")
    assert manager.told[:3] == ["start semsearch-watch-docs", "stop semsearch-watch-docs", "start semsearch-watch-docs"]


def test_a_service_that_does_not_start_leaves_nothing(docs: Path, manager: Manager) -> None:
    manager.fails = True
    found = semsearch("service", "install", "serve", "--index", "indexes/docs")
    assert (found.status, found.err) == (2, "semsearch: there is no session\n")
    assert list(manager.folder.iterdir()) == []


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["install", "watch", "--index", "none"], "there is no index 'none'"),
        (["install", "serve", "--indexes", "empty"], "no index in ./empty"),
        (["logs", "watch-docs"], "semsearch-watch-docs: no such service; installed: none"),
        (["remove"], "no service is installed"),
    ],
)
def test_mistakes_are_one_line(docs: Path, manager: Manager, arguments: list[str], said: str) -> None:
    found = semsearch("service", *arguments)
    assert (found.status, len(found.err.splitlines())) == (2, 1)
    assert said in found.err


@pytest.mark.parametrize(("kind", "package"), [("watch", "watchfiles"), ("serve", "uvicorn")])
def test_without_the_extra_nothing_is_installed(
    docs: Path, manager: Manager, kind: str, package: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(service_command, "is_installed", lambda name: name != package)
    found = semsearch("service", "install", kind, "--index", "indexes/docs")
    assert (found.status, f"pip install 'semsearch[{kind}]'" in found.err) == (2, True)
    assert manager.told == []


def test_a_service_writes_to_its_log_which_does_not_grow_for_ever(tmp_path: Path) -> None:
    log = tmp_path / "log" / "semsearch-serve.log"
    log.parent.mkdir()
    log.write_text("old line\n" * 300_000, encoding="utf-8")
    command = [sys.executable, "-m", "semsearch", "service", "run", str(log), "query", "ship", "--index", "none"]
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    done = subprocess.run(command, env=environment, cwd=tmp_path, capture_output=True, text=True)
    assert (done.returncode, done.stdout, done.stderr) == (2, "", "")
    lines = log.read_text(encoding="utf-8").splitlines()
    assert set(lines[:-1]) == {"old line"}
    assert len(lines) < 100_000
    assert lines[-1].startswith("semsearch: there is no index 'none'")


@pytest.fixture
def systemd(docs: Path) -> Iterator[UserSystemd]:
    skip_unless_possible()
    runtime = Path(tempfile.mkdtemp())  # a socket's path may have a hundred bytes
    home = docs / "home"
    home.mkdir()
    running = UserSystemd(home, runtime)
    running.environment["PYTHONPATH"] = os.pathsep.join(path for path in sys.path if path)
    running.environment["PYTHONSAFEPATH"] = "1"
    try:
        running.log_in()
        yield running
    finally:
        running.log_out()
        shutil.rmtree(runtime)


def test_systemd_runs_it_at_each_login_and_nothing_is_left(docs: Path, systemd: UserSystemd) -> None:
    needed("watchfiles")
    home = docs / "home"
    runs: Callable[..., subprocess.CompletedProcess[str]] = lambda *arguments: subprocess.run(  # noqa: E731
        [sys.executable, "-m", "semsearch", *arguments],
        env=systemd.environment, cwd=docs, capture_output=True, text=True, check=True,
    )  # fmt: skip
    runs("index", "docs", "--index", "indexes/sea")
    before = _files(home)
    said = runs("service", "install", "watch", "--index", "indexes/sea", "--memory", "700", "--nice", "7").stdout
    assert "semsearch-watch-sea: runs `semsearch watch --index" in said
    assert "running, at most 700 MB, nice 7" in said
    log = home / ".local/state/semsearch/log/semsearch-watch-sea.log"
    _wait(lambda: log.exists() and "Ctrl-C stops it" in log.read_text(encoding="utf-8"))  # it watches
    (docs / "docs" / "new.txt").write_text("A violin and a piano in the concert.", encoding="utf-8")
    _wait(lambda: "1 added" in log.read_text(encoding="utf-8"))
    assert "semsearch-watch-sea: " in runs("service", "logs").stdout
    shown = systemd.systemctl("show", "semsearch-watch-sea", "-p", "MemoryMax,Nice,Restart,MainPID").splitlines()
    facts = dict(line.split("=") for line in shown)
    assert (facts["MemoryMax"], facts["Nice"], facts["Restart"]) == ("700000000", "7", "on-failure")
    assert os.getpriority(os.PRIO_PROCESS, int(facts["MainPID"])) == 7
    systemd.log_out()
    assert not Path("/proc", facts["MainPID"]).exists()
    systemd.log_in()
    _wait(lambda: systemd.systemctl("is-active", "semsearch-watch-sea") == "active")
    assert runs("service", "status").stdout.startswith("semsearch-watch-sea: running; defined by ")
    assert runs("service", "remove").stdout == "semsearch-watch-sea: stopped and removed\n"
    assert systemd.systemctl("is-active", "semsearch-watch-sea") == "inactive"
    assert "semsearch" not in systemd.systemctl("list-unit-files")
    assert _files(home) == before


def _files(home: Path) -> set[str]:
    """The files in a home folder; without those of word vectors and settings, which every command may make."""
    found = {path.relative_to(home).as_posix() for path in home.rglob("*") if path.is_file() or path.is_symlink()}
    return {path for path in found if not path.startswith((".cache/", ".config/semsearch/"))}


def _wait(holds: Callable[[], bool]) -> None:
    until = time.monotonic() + 60
    while not holds():
        assert time.monotonic() < until
        time.sleep(0.1)
