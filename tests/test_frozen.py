"""Frozen data classes are as those of the standard library, but compile nothing before they are used."""

from __future__ import annotations

import copy
import dataclasses
import inspect
import pickle
import re
from collections.abc import Callable
from dataclasses import dataclass as standard, field
from functools import partial
from typing import Any, get_type_hints

import pytest

from semsearch.frozen import dataclass, pattern


@dataclass(frozen=True, slots=True)
class Ours:
    """A point."""

    x: int
    tags: list[str] = field(default_factory=list, compare=False)
    y: int = 0
    note: str = field(default="", repr=False, kw_only=True)

    def __post_init__(self) -> None:
        if self.x < 0:
            raise ValueError(self.x)


@standard(frozen=True, slots=True)
class Theirs:
    """A point."""

    x: int
    tags: list[str] = field(default_factory=list, compare=False)
    y: int = 0
    note: str = field(default="", repr=False, kw_only=True)

    def __post_init__(self) -> None:
        if self.x < 0:
            raise ValueError(self.x)


class Subclass(Ours):
    """A class that allows further attributes."""


@dataclass(frozen=True, slots=True)
class Named:
    """A class with methods of its own, which stay."""

    name: str

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Named) and self.name.lower() == other.name.lower()

    def __hash__(self) -> int:
        return 1

    def __repr__(self) -> str:
        return "named"


def outcome(act: Callable[[Any], Any], cls: Any) -> str:
    """What an act says, or the error that it raises, without the class's name."""
    try:
        said = repr(act(cls))
    except Exception as error:
        said = f"{type(error).__name__}: {error}"
    return said.replace(cls.__name__, "Point")


ACTS: dict[str, Callable[[Any], Any]] = {
    "made": lambda cls: [cls(1), cls(1, ["a"], 2, note="n"), cls(y=3, x=1)],
    "no arguments": lambda cls: cls(),
    "too many": lambda cls: cls(1, [], 2, "n"),
    "twice": lambda cls: cls(1, x=1),
    "by position and name": lambda cls: cls(1, [], note="m", y=2),
    "unknown": lambda cls: cls(1, z=2),
    "refused by __post_init__": lambda cls: cls(-1),
    "not shared default": lambda cls: cls(1).tags is cls(1).tags,
    "equal": lambda cls: [cls(1) == other for other in (cls(1), cls(2), cls(1, ["a"]), cls(1, note="n"), (1,))],
    "hash": lambda cls: hash(cls(1, ["a"], 2)) == hash(cls(1, ["b"], 2)),
    "assigned": lambda cls: setattr(cls(1), "x", 2),
    "deleted": lambda cls: delattr(cls(1), "x"),
    "no dict": lambda cls: vars(cls(1)),
    "fields": lambda cls: [(each.name, each.type, each.kw_only) for each in dataclasses.fields(cls)],
    "asdict": lambda cls: [dataclasses.asdict(cls(1)), dataclasses.astuple(cls(1))],
    "replace": lambda cls: dataclasses.replace(cls(1, ["a"]), y=9),
    "pickle": lambda cls: [pickle.loads(pickle.dumps(cls(1, ["a"]), n)) for n in range(2, 6)],  # noqa: S301
    "copy": lambda cls: [copy.copy(cls(1, ["a"])), copy.deepcopy(cls(1, ["a"]))],
    "signature": lambda cls: [inspect.signature(cls), inspect.signature(cls.__init__), cls.__init__.__qualname__],
    "hints": lambda cls: get_type_hints(cls.__init__),
    "pattern": lambda cls: [cls.__match_args__, cls.__slots__],
    "frozen subclass": lambda cls: standard(frozen=True)(type("Sub", (cls,), {"__doc__": ""}))(1),
    "mutable subclass": lambda cls: standard(type("Sub", (cls,), {"__doc__": ""})),
}


@pytest.mark.parametrize("act", ACTS.values(), ids=ACTS)
def test_a_frozen_class_is_as_that_of_the_standard_library(act: Callable[[Any], Any]) -> None:
    assert outcome(act, Ours) == outcome(act, Theirs)


@pytest.mark.parametrize("act", ACTS.values(), ids=ACTS)
def test_so_are_its_first_objects(act: Callable[[Any], Any], monkeypatch: pytest.MonkeyPatch) -> None:
    namespace = {name: value for name, value in vars(Theirs).items() if name in ("__doc__", "__module__")}
    annotations = {"x": "int", "tags": "list[str]", "y": "int", "note": "str"}
    fields = {
        "tags": field(default_factory=list, compare=False), "y": 0, "note": field(default="", repr=False, kw_only=True),
        "__annotations__": annotations, "__post_init__": Theirs.__post_init__, "__qualname__": "Ours",
    }  # fmt: skip
    fresh = dataclass(frozen=True, slots=True)(type("Ours", (), {**namespace, **fields}))
    monkeypatch.setattr(f"{__name__}.Ours", fresh)  # which pickle looks up
    assert outcome(act, fresh) == outcome(act, Theirs)


def test_an_object_that_holds_itself_can_be_shown() -> None:
    tags: list[Any] = []
    ours, theirs = Ours(1, tags), Theirs(1, tags)
    tags += [ours, theirs]
    assert repr(ours).replace("Ours", "Theirs").count("...") == repr(theirs).count("...") > 0


def test_methods_of_a_class_stay_and_a_subclass_may_have_further_attributes() -> None:
    assert (Named("a") == Named("A"), hash(Named("a")), repr(Named("a"))) == (True, 1, "named")
    further: Any = Subclass(1)
    further.z = 2
    del further.z
    exact: Any = Ours(1)
    for change in (partial(setattr, exact, "z", 2), partial(delattr, exact, "z")):
        with pytest.raises(dataclasses.FrozenInstanceError):
            change()
    with pytest.raises(dataclasses.FrozenInstanceError):
        further.x = 2


def test_a_pattern_is_as_that_of_the_standard_library() -> None:
    ours, theirs = pattern("(a)(b)?", re.IGNORECASE), re.compile("(a)(b)?", re.IGNORECASE)
    assert [each.group(0) for each in ours.finditer("xABa")] == [each.group(0) for each in theirs.finditer("xABa")]
    assert (ours.sub("-", "xab"), ours.pattern, ours.groups) == (theirs.sub("-", "xab"), theirs.pattern, 2)
    with pytest.raises(re.error):
        pattern("(").match("")


def test_other_classes_are_made_by_the_standard_library() -> None:
    @dataclass(slots=True)
    class Mutable:
        """May change."""

        x: int

    made = Mutable(1)
    made.x = 2
    assert made == Mutable(2)


def test_nothing_is_compiled_before_the_third_object() -> None:
    @dataclass(frozen=True, slots=True)
    class Late:
        """Not used at once."""

        x: int

    before = vars(Late)["__init__"]
    assert not inspect.isfunction(before)
    assert [Late(1).x, Late(x=2).x] == [1, 2]
    assert vars(Late)["__init__"] is before
    assert Late(3).x == 3
    assert inspect.isfunction(vars(Late)["__init__"])
