"""The contract of vector stores, held by PostgreSQL and Lance."""

from __future__ import annotations

from pathlib import Path

import pytest
from scale_servers.postgres_server import postgres_store
from vector_store_law import *  # noqa: F403
from vector_store_law import Opener

from semsearch.dense.vector_store import VectorStore
from semsearch_scale.stores.lance_store import LanceStore
from semsearch_scale.stores.lance_tables import LancePlace
from semsearch_scale.stores.postgres_store import PostgresStore


def lance_store(folder: Path) -> VectorStore:
    pytest.importorskip("lance", reason="pylance is not installed: pip install './scale[lance]'")
    return LanceStore(LancePlace(f"lance:{folder}"), "passage")


class GraphStore(PostgresStore):
    """Few vectors are many."""

    gathering = 40


EXACT: dict[str, Opener] = {
    "lance": lambda folder: lance_store(folder),
    "postgres": lambda _: postgres_store(),
}
APPROXIMATE: dict[str, Opener] = {
    "postgres with graphs": lambda _: GraphStore(postgres_store().location),
}


@pytest.fixture(params=[*EXACT, *APPROXIMATE], scope="module")
def opener(request: pytest.FixtureRequest) -> Opener:
    return {**EXACT, **APPROXIMATE}[request.param]


@pytest.fixture(params=[*EXACT], scope="module")
def exact_opener(request: pytest.FixtureRequest) -> Opener:
    return EXACT[request.param]


@pytest.fixture(params=[*APPROXIMATE], scope="module")
def approximate_opener(request: pytest.FixtureRequest) -> Opener:
    return APPROXIMATE[request.param]
