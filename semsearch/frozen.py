"""`@dataclass(frozen=True, slots=True)` for the modules that a query imports: nothing is compiled before it is used.

The decorator of the standard library compiles six methods of each class, .45 ms; a cold `semsearch query` defines 88
such classes, and makes objects of a third. Here `__init__` is compiled for the first object, and the other methods
read the fields. All else is as `dataclasses` documents it: signatures, defaults, `fields`, `replace`, `asdict`,
patterns, pickling and errors.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from dataclasses import dataclass as dataclass
else:

    def dataclass(**options: Any) -> Any:
        """As `dataclasses.dataclass`, which makes all classes that are not just frozen and with slots."""
        return _frozen if options == {"frozen": True, "slots": True} else dataclasses.dataclass(**options)


import dataclasses
from reprlib import recursive_repr

_PARAMETERS: Any = vars(dataclasses.dataclass(frozen=True)(type("Empty", (), {"__doc__": ""})))["__dataclass_params__"]


def _frozen(original: type) -> type:
    """Make a frozen data class with slots. `InitVar` and `init=False` are not for it."""
    made: Any = dataclasses.dataclass(init=False, repr=False, eq=False, slots=True)(original)
    made.__dataclass_params__ = _PARAMETERS
    made.__init__ = _Init(made)
    for name, method in _METHODS.items():
        if vars(original).get(name) is None:  # None: the __hash__ of a class that defines only __eq__
            setattr(made, name, method)
    return made  # type: ignore[no-any-return]


class _Methods:
    """The methods that each class gets, unless it defines them."""

    def __eq__(self: Any, other: object) -> bool:
        return _compared(self) == _compared(other) if other.__class__ is self.__class__ else NotImplemented

    def __hash__(self: Any) -> int:
        return hash(_compared(self))

    @recursive_repr()
    def __repr__(self: Any) -> str:
        shown = (f"{each.name}={getattr(self, each.name)!r}" for each in dataclasses.fields(self) if each.repr)
        return f"{type(self).__qualname__}({', '.join(shown)})"

    def __setattr__(self: Any, name: str, value: object) -> None:
        if _is_frozen(self, name):
            raise dataclasses.FrozenInstanceError(f"cannot assign to field {name!r}")
        object.__setattr__(self, name, value)

    def __delattr__(self: Any, name: str) -> None:
        if _is_frozen(self, name):
            raise dataclasses.FrozenInstanceError(f"cannot delete field {name!r}")
        object.__delattr__(self, name)

    def __getstate__(self: Any) -> list[Any]:
        return [getattr(self, each.name) for each in dataclasses.fields(self)]

    def __setstate__(self: Any, state: list[Any]) -> None:
        for each, value in zip(dataclasses.fields(self), state, strict=True):
            object.__setattr__(self, each.name, value)


_METHODS = {name: method for name, method in vars(_Methods).items() if callable(method)}


def _compared(value: Any) -> tuple[Any, ...]:
    return tuple([getattr(value, each.name) for each in dataclasses.fields(value) if each.compare])


def _is_frozen(value: Any, name: str) -> bool:
    """Whether an attribute is a field, or a class without further attributes has it not: subclasses may have more."""
    return name in type(value).__dataclass_fields__ or not hasattr(value, "__dict__")


class _Init:
    """The `__init__` of a class, which is compiled when it is first looked up."""

    def __init__(self, cls: type) -> None:
        self._of = cls

    def __get__(self, instance: object, owner: type | None = None) -> Any:
        cls: Any = self._of
        if (init := vars(cls)["__init__"]) is self:
            init = cls.__init__ = _compiled(cls)
        return init.__get__(instance, owner)


class _Factory:
    """Stands for a default that is made anew for each object."""

    def __repr__(self) -> str:
        return "<factory>"


def _compiled(cls: type) -> Any:
    """`__init__` with a class's fields as its parameters, those by position first."""
    known: dict[str, Any] = {"_set": object.__setattr__, "_made": _Factory()}
    parameters, body = ["self"], ["pass"]
    fields = sorted(dataclasses.fields(cls), key=lambda field: field.kw_only is True)
    for number, field in enumerate(fields):
        name, value, default = field.name, field.name, ""
        if field.kw_only and "*" not in parameters:
            parameters.append("*")
        if field.default is not dataclasses.MISSING:
            known[f"_default{number}"], default = field.default, f"=_default{number}"
        elif field.default_factory is not dataclasses.MISSING:
            known[f"_default{number}"], default = field.default_factory, "=_made"
            value = f"_default{number}() if {name} is _made else {name}"
        parameters.append(name + default)
        body.append(f"_set(self, {name!r}, {value})")
    if hasattr(cls, "__post_init__"):
        body.append("self.__post_init__()")
    exec(f"def __init__({', '.join(parameters)}):\n " + "\n ".join(body), known)  # as `dataclasses` does
    init = known["__init__"]
    init.__annotations__ = {**{field.name: field.type for field in fields}, "return": None}
    init.__qualname__, init.__module__ = f"{cls.__qualname__}.__init__", cls.__module__
    return init
