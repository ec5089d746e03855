"""Conditions of other frameworks become filters that hold for the same documents, or are refused; none is dropped."""

from __future__ import annotations

import operator
from collections.abc import Mapping
from datetime import date
from itertools import product
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, strategies as st

from semsearch.errors import UsageError
from semsearch.filters import parse
from semsearch.index import Index
from semsearch.readers.document import Text
from semsearch.word_vectors.table import VectorTable
from semsearch_integrations.conditions import Condition, compared, filters_of

COLOURS, NUMBERS = ("red", "blue|grey", None), (1, 5, None)
DOCUMENTS = {
    f"{colour} {number}": {key: value for key, value in (("colour", colour), ("n", number)) if value is not None}
    for colour, number in product(COLOURS, NUMBERS)
}
SIGNS: Mapping[str, Any] = {"$lt": operator.lt, "$lte": operator.le, "$gt": operator.gt, "$gte": operator.ge}


@pytest.mark.parametrize(
    ("given", "filters"),
    [
        (None, ()),
        ({}, ()),
        ("guide/", ("guide/",)),
        (["guide/", "year>=2024"], ("guide/", "year>=2024")),
        ({"year": 2024, "author.name": "Ada Lovelace"}, ("year=2024", "author.name=Ada Lovelace")),
        ({"year": {"$gte": 2020, "$lt": 2024}}, ("year>=2020", "year<2024")),
        ({"$and": [{"a": 1}, {"b": {"$ne": True}}]}, ("a=1", "b!=true")),
        ({"$or": [{"a": 1, "b": 2}, {"c": 3}]}, ("a=1|c=3", "b=2|c=3")),
        ({"tag": {"$in": ["sea", "air"]}, "kind": {"$nin": ["a", "b"]}}, ("tag=sea|tag=air", "kind!=a", "kind!=b")),
        ({"day": {"$gt": date(2024, 5, 1)}, "empty": ""}, ("day>2024-05-01", "empty=")),
        ({"$not": {"a": 1, "b": {"$in": [1, 2]}}}, ("a!=1|b!=1", "a!=1|b!=2")),
        ({"a": {"$lt": 3}, "$not": {"b": {"$gt": 3}}}, ("a<3", "!b>3")),
        ({"a key": "a|b", "path": "[x]*.md"}, ('"a key"=a\\|b', "path=[[]x][*].md")),
    ],
)
def test_conditions_are_filters(given: Any, filters: tuple[str, ...]) -> None:
    assert filters_of(given) == filters
    for text in filters:
        parse(text)


@pytest.mark.parametrize(
    "given",
    [
        {"$or": []},
        {"$nor": [{"a": 1}]},
        {"$not": {}},
        {"$not": [{"a": 1}]},
        {"a": {"$in": []}},
        {"a": {"$in": "letters"}},
        {"a": {"$regex": ".*"}},
        {"a": {"$gt": ""}},
        {"a": " blank"},
        {"a": "1..9"},
        {"a": None},
        {"a": ["several"]},
        {'a"b': 1},
        {"": 1},
        {"$and": {"a": 1}},
        {"$and": ["a=1"]},
        {"$or": [{"a": "ends in \\"}, {"b": 1}]},
        {"$or": [{"a": 1, "b": 1, "c": 1, "d": 1}] * 4},
    ],
)
def test_what_filters_cannot_say_is_refused(given: Any) -> None:
    with pytest.raises(UsageError):
        filters_of(given)


@pytest.mark.parametrize("value", ["plain", "a=b", "a != b", "<x>", "~*", 'say "it"', "7", "-1.5", "a|b", "\\|", "[|]"])
@pytest.mark.parametrize(("operator", "sign"), [("==", "="), ("!=", "!="), (">", ">"), ("<=", "<=")])
def test_a_value_comes_through_as_it_is(value: str, operator: str, sign: str) -> None:
    (written,) = filters_of(compared("key", operator, value))
    assert parse(written).only == ("key", sign, value)


def test_an_unknown_comparison_names_those_there_are() -> None:
    with pytest.raises(UsageError, match="unknown comparison 'like'; known: ==, "):
        compared("a", "like", 1)


def holds(condition: Condition, metadata: Mapping[str, Any]) -> bool:
    """What a condition means, literally."""
    ((key, value),) = condition.items()
    if key == "$not":
        return not holds(value, metadata)
    if key in ("$and", "$or"):
        return (any if key == "$or" else all)(holds(each, metadata) for each in value)
    ((name, operand),) = value.items()
    if name in SIGNS:
        return key in metadata and bool(SIGNS[name](metadata[key], operand))
    is_equal = metadata.get(key) in (operand if isinstance(operand, list) else [operand])
    return is_equal != (name in ("$ne", "$nin"))


@pytest.fixture(scope="module")
def index(tmp_path_factory: pytest.TempPathFactory, small_vectors: VectorTable) -> Any:
    with Index.create(Path(tmp_path_factory.mktemp("filtered")) / "index", vectors=small_vectors) as index:
        index.add([Text(name, "A ship.", metadata=metadata) for name, metadata in DOCUMENTS.items()])
        yield index


def comparisons(key: str, names: list[str], values: list[Any]) -> st.SearchStrategy[Any]:
    return st.builds(lambda name, value: {key: {name: value}}, st.sampled_from(names), st.sampled_from(values))


COMPARED = st.one_of(
    comparisons("colour", ["$eq", "$ne"], ["red", "blue|grey", "x"]),
    comparisons("n", [*SIGNS, "$eq", "$ne"], [1, 3, 5]),
    comparisons("n", ["$in", "$nin"], [[1], [1, 5], [3, 5]]),
)
CONDITIONS: st.SearchStrategy[Any] = st.recursive(
    COMPARED,
    lambda inner: (
        st.builds(
            lambda name, parts: {name: parts}, st.sampled_from(["$and", "$or"]), st.lists(inner, min_size=1, max_size=3)
        )
        | st.builds(lambda part: {"$not": part}, inner)
    ),
    max_leaves=6,
)


@given(CONDITIONS)
def test_filters_hold_for_the_documents_that_a_condition_is_true_of(index: Index, condition: Condition) -> None:
    try:
        filters = filters_of(condition)
    except UsageError:
        return
    found = {document.document for document in index.documents(filters)}
    assert found == {name for name, metadata in DOCUMENTS.items() if holds(condition, metadata)}
