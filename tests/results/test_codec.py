"""Results to plain dicts and back: nothing is lost on the way, and nothing is taken on trust."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import fields, is_dataclass
from importlib import import_module
from inspect import getmembers, isclass
from pkgutil import walk_packages
from typing import Any, Literal, get_args, get_origin, get_type_hints

import pytest
from hypothesis import given, settings, strategies as st
from some_hit import some_hit

import semsearch.results
from semsearch.errors import UsageError
from semsearch.results.codec import from_dict, to_dict
from semsearch.results.hits import Hit
from semsearch.results.options import SearchOptions
from semsearch.results.origin import Origin, Weights

MODULES = [
    import_module(module.name)
    for module in walk_packages(semsearch.results.__path__, "semsearch.results.")
    if not module.ispkg
]
RESULTS = sorted(
    {member for module in MODULES for _, member in getmembers(module, isclass) if is_dataclass(member)},
    key=lambda cls: cls.__name__,
)
JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=5,
)

WHOLE = st.integers(-(2**63), 2**63 - 1)  # of 64 bits, as an index can hold them


def of_type(hint: Any) -> st.SearchStrategy[Any]:
    """Values that a field of a result may have."""
    outer, inner = get_origin(hint), get_args(hint)
    if hint is Any:
        return JSON
    if type(None) in inner:
        return st.none() | of_type(next(each for each in inner if each is not type(None)))
    if outer is Literal:
        return st.sampled_from(inner)
    if outer is tuple and inner[-1] is not ...:
        return st.tuples(*map(of_type, inner))
    if outer in (tuple, Sequence):
        return st.lists(of_type(inner[0]), max_size=3).map(tuple)
    if outer is Mapping:
        return st.dictionaries(st.text(), of_type(inner[1]), max_size=3)
    if is_dataclass(hint):
        return records(hint)
    return {str: st.text(), int: WHOLE, float: st.floats(allow_nan=False), bool: st.booleans()}[hint]


def records(cls: Any) -> st.SearchStrategy[Any]:
    hints = get_type_hints(cls)
    values = {field.name: of_type(hints[field.name]) for field in fields(cls) if field.init}
    if cls is SearchOptions:  # which checks its numbers
        ids = st.none() | st.lists(st.integers(0, 2**63 - 1), max_size=3).map(tuple)
        values |= {"k": st.integers(1, 99), "context": st.integers(0, 9), "passages": ids}
        values |= {"per_document": st.none() | st.integers(1, 9), "floor": st.floats(0, 1)}
        values |= {"min_score": st.none() | st.floats(allow_nan=False, allow_infinity=False)}
    return st.builds(cls, **values)


@pytest.mark.parametrize("cls", RESULTS, ids=lambda cls: cls.__name__)
@given(data=st.data())
@settings(max_examples=8, deadline=None)
def test_what_was_written_as_json_is_read_back_as_it_was(cls: type[Any], data: st.DataObject) -> None:
    result = data.draw(records(cls))
    plain = to_dict(result)
    again = from_dict(cls, json.loads(json.dumps(plain)))
    assert again == result
    assert to_dict(again) == plain  # also what equality passes over


HIT = some_hit(headings=("A", "B"), metadata={"tags": ["x"]}, origin=Origin("it", "hybrid", 7, Weights(0.5, 0.5)))


def test_a_hit_shows_its_origin_only_when_asked() -> None:
    assert "origin" not in HIT.to_dict()
    assert Hit.from_dict(HIT.to_dict()).origin is None
    assert Hit.from_dict(HIT.to_dict(origin=True)).origin == HIT.origin


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"colour": "red"}, r"Hit has no field 'colour'; it has rank, score, "),
        ({"line": "3"}, r"Hit\.line: Expected `int`, got `str`"),
        ({"line": True}, r"Hit\.line: "),
        ({"passage_id": 2**63}, "more than 64 bits"),
        ({"score": 10**400}, "more than 64 bits"),
        ({"score": None}, r"Hit\.score: "),
        ({"headings": "A"}, r"Hit\.headings: "),
        ({"headings": ["A", 2]}, r"Hit\.headings\[\.*1?\.*\]: "),
        ({"metadata": [1]}, r"Hit\.metadata: "),
        ({"duplicates": [{"path": "a"}]}, r"Hit\.duplicates\[.*\]: .*missing required field"),
        ({"origin": {**to_dict(HIT.origin), "mode": "magic"}}, r"Hit\.origin\.mode: "),
        ({"origin": {**to_dict(HIT.origin), "mode": "\ud800"}}, "surrogates not allowed"),
    ],
)
def test_what_is_no_such_result_is_refused(change: dict[str, Any], message: str) -> None:
    with pytest.raises(UsageError, match=message):
        Hit.from_dict({**HIT.to_dict(), **change})


def test_what_is_missing_or_no_object_is_refused() -> None:
    plain = HIT.to_dict()
    del plain["sentence"]
    with pytest.raises(UsageError, match="missing required field `sentence`"):
        Hit.from_dict(plain)
    with pytest.raises(UsageError, match="Hit must be an object"):
        Hit.from_dict(["rank"])  # type: ignore[arg-type]
