"""The operations that say how an index is: its health, the files that were not read, how much of each file was."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from semsearch.results.state.checkup import Checkup
from semsearch.results.state.problems import FileCoverage, Problem
from semsearch.serve.open_indexes import OpenIndexes
from semsearch.serve.operations.asking import INDEX
from semsearch.serve.operations.operation import Operation
from semsearch.serve.operations.parameters import Given, Parameter

_PAGE = (
    Parameter("offset", "whole number", "How many to leave out.", default=0, least=0, most=10**9),
    Parameter("limit", "whole number", "How many at most.", default=100, least=1, most=1000),
)


@dataclass(frozen=True, slots=True)
class ProblemsAnswer:
    """A part of the list of an index's problems. `next` is the offset of the part after it; null at the end."""

    index: str
    problems: tuple[Problem, ...]
    total: int
    next: int | None


@dataclass(frozen=True, slots=True)
class CoverageAnswer:
    """A part of the list of how much of each document was taken in. `next` as in ProblemsAnswer."""

    index: str
    coverage: tuple[FileCoverage, ...]
    next: int | None


def get_checkup(indexes: OpenIndexes, given: Given) -> dict[str, Any]:
    """Return the health of an index: its status, what takes how much room, and what there is to do."""
    return indexes.get(given["index"]).checkup(stale=given["stale"]).to_dict()


def list_problems(indexes: OpenIndexes, given: Given) -> dict[str, Any]:
    """List the files that were not read, or not wholly, each with the reason and what to do."""
    offset, limit = given["offset"], given["limit"]
    found = indexes.get(given["index"]).problems()
    return {
        "index": indexes.name_of(given["index"]),
        "problems": [problem.to_dict() for problem in found[offset : offset + limit]],
        "total": len(found),
        "next": offset + limit if len(found) > offset + limit else None,
    }


def list_coverage(indexes: OpenIndexes, given: Given) -> dict[str, Any]:
    """List the documents with how much of each was taken in: characters, sentences, pages, words with a vector."""
    offset, limit = given["offset"], given["limit"]
    page = indexes.get(given["index"]).coverage(offset=offset, limit=limit + 1)
    return {
        "index": indexes.name_of(given["index"]),
        "coverage": [each.to_dict() for each in page[:limit]],
        "next": offset + limit if len(page) > limit else None,
    }


CHECKING = (
    Operation(
        "GET",
        "/v1/checkup",
        "get_checkup",
        get_checkup.__doc__ or "",
        get_checkup,
        Checkup,
        (INDEX, Parameter("stale", "true or false", "Count the files that a sync would look at.", default=True)),
    ),
    Operation(
        "GET",
        "/v1/problems",
        "list_problems",
        list_problems.__doc__ or "",
        list_problems,
        ProblemsAnswer,
        (INDEX, *_PAGE),
        {"limit": 20},
    ),
    Operation(
        "GET",
        "/v1/coverage",
        "list_coverage",
        list_coverage.__doc__ or "",
        list_coverage,
        CoverageAnswer,
        (INDEX, *_PAGE),
        {"limit": 20},
    ),
)
