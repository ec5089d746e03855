"""Maps over HTTP: made without a token, sent as bytes, searched within."""

from __future__ import annotations

import json
import struct
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
from serving import Asker, running
from small import write_articles

from semsearch.index import Index
from semsearch.server.open_indexes import OpenIndexes
from semsearch.word_vectors.table import VectorTable

pytestmark = pytest.mark.usefixtures("maps_in_few_steps")


@pytest.fixture
def folder(tmp_path: Path, small_vectors: VectorTable) -> Path:
    """A folder with an index of eight files, which has no map yet."""
    write_articles(tmp_path / "docs", 8)
    with Index.create(tmp_path / "indexes" / "docs", vectors=small_vectors) as docs:
        docs.sync(tmp_path / "docs")
    return tmp_path


@pytest.fixture
def asker(folder: Path) -> Iterator[Asker]:
    """A client of its server."""
    pytest.importorskip("uvicorn", reason="an optional dependency")
    with running(OpenIndexes(folder=folder / "indexes")) as asker:
        yield asker


def test_before_it_is_made_there_is_none(asker: Asker) -> None:
    found = asker.get("/v1/map").json
    assert (found["state"], found["passages"], found["colourings"], found["regions"]) == ("absent", 0, [], [])
    assert found["of"] > 0
    reply = asker.get("/v1/map/points")
    assert (reply.status, "POST /v1/map" in reply.detail) == (404, True)


def test_making_it_from_this_machine_needs_no_token(asker: Asker) -> None:
    made = asker.post("/v1/map", {}).json
    assert (made["state"], made["passages"]) == ("ready", made["of"])
    assert asker.get("/v1/map").json == made


def test_progress_comes_as_events(asker: Asker) -> None:
    reply = asker.post("/v1/map", {}, headers={"Accept": "text/event-stream"})
    events = [event.split("\n") for event in reply.body.decode().strip().split("\n\n")]
    assert {event[0] for event in events[:-1]} <= {"event: progress"}
    assert events[-1][0] == "event: report"
    assert json.loads(events[-1][1].removeprefix("data: ")) == asker.get("/v1/map").json


def test_the_points_are_those_of_the_index(asker: Asker, folder: Path) -> None:
    made = asker.post("/v1/map", {}).json
    reply = asker.get("/v1/map/points")
    assert reply.headers["content-type"] == "application/octet-stream"
    data = reply.body
    magic, count, generation = struct.unpack("<8sII", data[:16])
    assert (magic, count, generation) == (b"semmap 1", made["passages"], made["seen"])
    assert len(data) == 16 + count * (8 + 8 + 3)
    with Index.open(folder / "indexes" / "docs") as index:
        expected = index.map()
    assert np.frombuffer(data, "<f8", count, 16).astype(int).tolist() == expected.ids.tolist()
    assert data[16 + 8 * count : 16 + 16 * count] == expected.points.astype("<f4").tobytes()
    groups = np.frombuffer(data, np.uint8, offset=16 + 16 * count).reshape(3, count)
    for colouring, own in zip(made["colourings"], groups, strict=True):
        sizes = np.bincount(own, minlength=len(colouring["groups"])).tolist()
        assert sizes == [group["passages"] for group in colouring["groups"]]


def test_after_a_write_the_map_is_outdated_until_it_is_asked_for(asker: Asker) -> None:
    asker.post("/v1/map", {})
    asker.writer.put("/v1/documents/new", {"text": "A captain on a ship."})
    found = asker.get("/v1/map").json
    assert (found["state"], found["of"] - found["passages"]) == ("outdated", 1)
    assert asker.get("/v1/map/points").status == 200
    assert asker.post("/v1/map", {}).json["state"] == "ready"


def test_the_passages_behind_points_are_told(asker: Asker) -> None:
    first, second = search(asker)
    found = asker.get("/v1/map/passages", ids=[second["passage_id"], first["passage_id"]]).json["passages"]
    assert [each["passage_id"] for each in found] == [second["passage_id"], first["passage_id"]]
    assert found[1]["text"] == first["passage"]


def search(asker: Asker, **more: object) -> list[dict[str, object]]:
    hits: list[dict[str, object]] = asker.post("/v1/search", {"query": "a ship in the storm", "k": 2, **more}).json[
        "hits"
    ]
    return hits


def test_a_search_can_be_restricted_to_passages(asker: Asker) -> None:
    _, second = search(asker)
    (only,) = search(asker, passages=[second["passage_id"]])
    assert only["passage_id"] == second["passage_id"]
    assert search(asker, passages=[]) == []
