"""Let the network and the server fail under an index whose vectors an engine keeps, at random moments of each action.

    python scale/tests/torture/engines.py postgres
    python scale/tests/torture/engines.py lance                      # pip install 'moto[s3]' flask flask-cors
    python scale/tests/torture/engines.py postgres --rounds 500 --seed 7 --only sync compact --trouble cut kill

An index and one like it in files are treated alike. Between the first and its engine is a proxy. In each round it is
told to do something with the connections before a piece of data that was chosen at random: cut them, swallow all that
comes, or hold everything back; or the server is killed with all its processes. What the action must do then:

- a question is answered as the index in files answers it, or fails with StorageError in time;
- a write succeeds, or fails with StorageError, and the index answers as it did before. Once the trouble is over, the
  same write succeeds;
- the engine holds what the manifest names, and nothing else, after the next write, and `verify` finds nothing.

Prints how often each action met each trouble and failed, and what was not as promised; the exit status says whether
there was any such thing.
"""

from __future__ import annotations

import argparse
import os
import random
import secrets
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any, Protocol

sys.path[:0] = [str(Path(__file__).parents[depth] / folder) for depth, folder in ((1, "support"), (3, "tests/support"))]

from scale_servers.tcp_proxy import TcpProxy
from small import small_vectors, write_articles

from semsearch.dense.engines import get_address, open_stores
from semsearch.errors import StorageError
from semsearch.index import Index
from semsearch.readers.document import Text
from semsearch.storage.database import IndexDatabase
from semsearch.storage.segments import get_segments

SECONDS = 2.0  # that the engine may take
SLACK = 3.0  # seconds more, on a busy machine
CLOSE = 1e-4  # scores
QUESTIONS = ["the ship in the night", "a telescope of old", "bread and butter", "violin and concert", "roses and soil"]
ACTIONS = ("query", "sync", "compact", "refit")
TROUBLES = ("none", "delay", "cut", "silence", "kill")


class EngineServer(Protocol):
    """The protocol of a server of an engine."""

    port: int

    def address(self, port: int) -> str:
        """The URI of a place that was never used, for a server that is asked through a port, with SECONDS of time."""

    def kill(self) -> None:
        """Kill it with all its processes."""

    def start(self) -> None:
        """Start it on the same port and data, and wait until it answers."""

    def remove(self) -> None:
        """Stop it and delete its data."""


def postgres() -> EngineServer:
    """A server of PostgreSQL; graphs are made and asked of twenty vectors on, so that they are in danger too."""
    from scale_servers.postgres_server import PostgresServer

    from semsearch_scale.stores import postgres_reader, postgres_store

    postgres_store.INDEXED, postgres_reader._SPACING = 20, 0.0

    class Server(PostgresServer):
        def address(self, port: int) -> str:
            return f"{self.uri_at(port)}&timeout={SECONDS:g}"

    return Server()


def lance() -> EngineServer:
    """Tables of Lance in an emulator of S3; killed, it keeps what it has."""
    from scale_servers.s3_emulator import S3Server

    os.environ |= {"AWS_ACCESS_KEY_ID": "test", "AWS_SECRET_ACCESS_KEY": "test"}

    class Server(S3Server):
        def address(self, port: int) -> str:
            place = f"s3://bucket/{secrets.token_hex(4)}"
            return f"lance:{place}?endpoint=http://127.0.0.1:{port}&region=x&timeout={SECONDS:g}"

    return Server()


def milvus() -> EngineServer:
    """The Milvus server of the wheel, as root. Questions fail until one that was killed has read its log again."""
    from scale_servers.milvus_process import MilvusProcess

    from semsearch_scale.stores import milvus_server

    milvus_server.PATIENCE = 2.5

    class Server(MilvusProcess):
        def address(self, port: int) -> str:
            collection = f"torture_{secrets.token_hex(4)}"
            return f"milvus:http://127.0.0.1:{port}?collection={collection}&timeout={2 * SECONDS:g}"

        def start(self) -> None:
            if self.pid:
                return
            super().start()
            self.wait_until_loaded()

    server = Server(Path(tempfile.mkdtemp(prefix="milvus-")))
    server.start()
    return server


ENGINES: dict[str, Callable[[], EngineServer]] = {"postgres": postgres, "lance": lance, "milvus": milvus}


class Round:
    """An index over an engine, the one like it in files, and what has gone wrong with them."""

    def __init__(self, folder: Path, server: EngineServer, proxy: TcpProxy, chance: random.Random) -> None:
        self.docs, self.server, self.proxy, self.chance = folder / "docs", server, proxy, chance
        self.wrong: list[str] = []
        self.usual = Counter[str]()  # pieces that pass in an action
        self._number = 12
        small_vectors(folder)
        write_articles(self.docs, 12)
        self.files = Index.create(folder / "files", vectors=folder / "small")
        self.index = Index.create(folder / "index", vectors=folder / "small", store=server.address(proxy.port))
        for each in (self.files, self.index):
            each.sync(self.docs)

    def run(self, action: str, trouble: str) -> bool:
        """Do an action in trouble, and see that it keeps the promises; return whether it failed."""
        self._number += 1
        if action == "sync":
            self._change_documents()
        if action == "compact":  # so that there is something to merge
            for each in (self.files, self.index):
                each.add([Text(f"note {self._number}", f"The ship and the violin in the night, {self._number} times.")])
        before = self._answers(self.files)
        if action != "query":
            self._do(self.files, action)
        after = self._answers(self.files)
        self._prepare(action, trouble)
        began, failure, answers = time.monotonic(), None, None
        try:
            answers = self._do(self.index, action)
        except StorageError as error:
            failure = error
        except Exception as error:
            self._report(f"{type(error).__name__}: {error}")
            failure = error
        self._check_time(action, time.monotonic() - began, failure)
        if not failure and trouble in ("none", "delay"):
            self.usual[action] = max(self.usual[action], self.proxy.pieces)
        self._mend()
        if failure and trouble in ("none", "delay"):
            self._report(f"{action} failed without trouble: {failure}")
        if action == "query":
            if failure is None and not _same(answers, after):
                self._report("a wrong answer")
            return failure is not None
        self._check_write(action, before, after, has_failed=failure is not None)
        return failure is not None

    def _check_write(self, action: str, before: Any, after: Any, *, has_failed: bool) -> None:
        answers = self._answers(self.index)
        if not _same(answers, after) and not (has_failed and _same(answers, before)):
            self._report("after a write the index answers neither as before nor as it should")
        if has_failed:
            self._do(self.index, action)
        if not _same(self._answers(self.index), after):
            self._report("the write that was done again was lost in part")
        self.index.add([])  # the next write, which sweeps
        with IndexDatabase(self.index.path).reading() as db:
            named = {one.file for one in get_segments(db) if one.kind == "passage"}
            held = {*open_stores(get_address(db), self.index.path)["passage"].names()}
        if named - held or (held - named and not has_failed):
            self._report(f"the engine holds {sorted(held)}, and the manifest names {sorted(named)}")
        if problems := self.index.verify():
            self._report(f"verify: {problems}")

    def _change_documents(self) -> None:
        paths = sorted(self.docs.glob("*"))
        for path in self.chance.sample(paths, min(len(paths) - 8, 2) if len(paths) > 8 else 0):
            path.unlink()
        write_articles(self.docs, self.chance.randint(1, 3), first=self._number)
        self._number += 4

    def _do(self, index: Index, action: str) -> Any:
        if action == "query":
            return self._answers(index)
        return {"sync": lambda: index.sync(self.docs), "compact": index.compact, "refit": index.refit}[action]()

    def _answers(self, index: Index) -> list[list[tuple[str, float]]]:
        found = [index.search(question, 5) for question in QUESTIONS]
        return [[(hit.document, hit.score) for hit in hits] for hits in found]

    def _prepare(self, action: str, trouble: str) -> None:
        doing = {"cut": self.proxy.cut, "silence": self.proxy.silence, "kill": self.server.kill}.get(
            trouble, lambda: None
        )
        self.proxy.arm(self.chance.randint(1, max(self.usual[action], 5)), doing)
        self.proxy.delay = 0.01 if trouble == "delay" else 0.0

    def _mend(self) -> None:
        self.server.start()
        self.proxy.mend()

    def _check_time(self, action: str, seconds: float, failure: Exception | None) -> None:
        most = SECONDS * (2 if action == "query" else 4) + SLACK  # a question broken late is asked again
        if failure and seconds > most:
            self._report(f"{action} failed after {seconds:.1f} s, not within {most:g}")

    def _report(self, what: str) -> None:
        self.wrong.append(what)


def _same(found: Any, expected: Any) -> bool:
    """Return whether two answers are the same but for the last bits of vectors that were made anew: 1e-5 of a score."""
    return len(found) == len(expected) and all(
        sorted(document for document, _ in own) == sorted(document for document, _ in other)
        and all(abs(score - wanted) < CLOSE for (_, score), (_, wanted) in zip(own, other, strict=True))
        for own, other in zip(found, expected, strict=True)
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("engine", choices=ENGINES)
    parser.add_argument("--rounds", type=int, default=100)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--only", nargs="+", choices=ACTIONS, default=ACTIONS)
    parser.add_argument("--trouble", nargs="+", choices=TROUBLES, default=TROUBLES)
    given = parser.parse_args()
    chance, met, failed, wrong = random.Random(given.seed), Counter[str](), Counter[str](), 0
    server = ENGINES[given.engine]()
    try:
        with tempfile.TemporaryDirectory() as name, TcpProxy(server.port) as proxy:
            rounds = Round(Path(name), server, proxy, chance)
            for action in given.only:
                rounds.run(action, "none")  # so many pieces pass without trouble
            for number in range(given.rounds):
                action, trouble = chance.choice(given.only), chance.choice(given.trouble)
                has_failed = rounds.run(action, trouble)
                met[f"{action:<8} {trouble:<8}"] += 1
                failed[f"{action:<8} {trouble:<8}"] += has_failed
                for one in rounds.wrong:
                    print(f"round {number}, {action} with {trouble}: {one}", flush=True)
                wrong += len(rounds.wrong)
                rounds.wrong.clear()
    finally:
        server.remove()
    for each in sorted(met):
        print(f"{each} {met[each]:>5,} times, {failed[each]:>5,} failed with an error")
    print(f"{wrong} things were not as promised")
    sys.exit(1 if wrong else 0)


if __name__ == "__main__":
    main()
