"""`@dataclass(frozen=True, slots=True)` and `pattern` for what a query imports: nothing is compiled before it is used.
And `blake2b` without OpenSSL, which `hashlib` loads for other digests: 2.5 ms.

The decorator of the standard library compiles six methods of each class, .45 ms; a cold `semsearch query` defines 90
such classes, and makes objects of a half, often one or two. Here the fields are examined when something asks for them,
`__init__` is compiled for the third object, and the other methods read the fields. All else is as `dataclasses`
documents it: signatures, defaults, `fields`, `replace`, `asdict`, patterns, pickling and errors. Half of the regular
expressions of these modules are not used by a query either.
"""

from __future__ import annotations

import dataclasses
import re
from functools import cache, partial
from reprlib import recursive_repr
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from dataclasses import dataclass as dataclass
    from hashlib import blake2b as blake2b
else:
    try:
        from _blake2 import blake2b as blake2b  # which `hashlib` has, once OpenSSL is loaded
    except ImportError:  # a Python that was built with OpenSSL's digests only
        from hashlib import blake2b as blake2b

    def dataclass(**options: Any) -> Any:
        """As `dataclasses.dataclass`, which makes all classes that are not just frozen and with slots."""
        if options.keys() <= _OURS and options.get("frozen") and options.get("slots"):
            return partial(_frozen, eq=options.get("eq", True))
        return dataclasses.dataclass(**options)


def pattern(text: str, flags: int = 0) -> re.Pattern[str]:
    """As `re.compile`, at the first use."""
    return _Pattern(text, flags)  # type: ignore[return-value]


_EXAMINED = ("__dataclass_fields__", "__dataclass_params__", "__match_args__")
_OURS = {"frozen", "slots", "eq"}
_FEW = 2  # objects of a class before its `__init__` is compiled, which takes as long as to make ten without


class _Pattern:
    """A regular expression. What is asked of it is then found as an attribute, without this class's help."""

    def __init__(self, text: str, flags: int) -> None:
        self._made = text, flags

    def __getattr__(self, name: str) -> Any:
        found = getattr(re.compile(*self._made), name)
        setattr(self, name, found)
        return found


def _frozen(original: type, *, eq: bool) -> type:
    """Make a frozen data class with slots. `InitVar` and `init=False` are not for it."""
    if original.__doc__ is None:  # which is then its signature
        return dataclasses.dataclass(frozen=True, slots=True, eq=eq)(original)
    written = vars(original)
    own = [name for name, kind in written.get("__annotations__", {}).items() if not str(kind).startswith("ClassVar")]
    bases = [base for base in original.__mro__[-2:0:-1] if hasattr(base, "__dataclass_fields__")]
    defaults = {field.name: field for base in bases for field in dataclasses.fields(base)}
    defaults |= {name: written.get(name, dataclasses.MISSING) for name in own}
    taken = {name for base in original.__mro__[1:-1] for name in vars(base).get("__slots__", ())}
    kept = {name: value for name, value in written.items() if name not in (*own, "__dict__", "__weakref__")}
    made: Any = type(original)(
        original.__name__, original.__bases__, {**kept, "__slots__": tuple(name for name in own if name not in taken)}
    )
    made.__qualname__ = original.__qualname__
    for name in _EXAMINED:
        setattr(made, name, _Examined(made, original, eq, name))
    made.__init__ = _Init(made, defaults)
    for name, method in _METHODS.items():
        if written.get(name) is None and (eq or name not in ("__eq__", "__hash__")):
            setattr(made, name, method)  # None: the __hash__ of a class that defines only __eq__
    return made  # type: ignore[no-any-return]


class _Examined:
    """What the standard library finds out about a class from its annotations, when that is first looked up."""

    def __init__(self, made: type, original: type, eq: bool, name: str) -> None:
        self._made, self._original, self._eq, self._name = made, original, eq, name

    def __get__(self, instance: object, owner: type | None = None) -> Any:
        found: Any = dataclasses.dataclass(init=False, repr=False, eq=False)(self._original)
        found.__dataclass_params__ = _parameters(self._eq)
        for name in _EXAMINED:
            setattr(self._made, name, getattr(found, name))
        return getattr(found, self._name)


@cache
def _parameters(eq: bool) -> Any:
    return vars(dataclasses.dataclass(frozen=True, eq=eq)(type("Empty", (), {"__doc__": ""})))["__dataclass_params__"]


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

    def __replace__(self: Any, /, **changes: Any) -> Any:
        return dataclasses.replace(self, **changes)

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
    """The `__init__` of a class, which is compiled when it is looked up on the class, or for an object that is no
    longer one of the first.
    """

    def __init__(self, cls: type, defaults: dict[str, Any]) -> None:
        self._of, self._defaults, self._left = cls, defaults, _FEW

    def __get__(self, instance: object, owner: type | None = None) -> Any:
        if instance is not None and self._left:
            self._left -= 1
            return partial(self._fill, instance)
        return self._compiled().__get__(instance, owner)

    def _compiled(self) -> Any:
        cls: Any = self._of
        if vars(cls)["__init__"] is self:
            cls.__init__ = _compiled(cls)
        return cls.__init__

    def _fill(self, made: Any, /, *given: Any, **named: Any) -> None:
        """Do as the compiled one does, and have that one tell what is wrong with arguments."""
        by_position = [
            name for name, default in self._defaults.items() if getattr(default, "kw_only", False) is not True
        ]
        values = dict(zip(by_position, given, strict=False)) | named
        is_wrong = len(values) < len(given) + len(named)
        for name, default in self._defaults.items():
            if name not in values:
                if isinstance(default, dataclasses.Field):
                    factory, default = default.default_factory, default.default
                    default = default if factory is dataclasses.MISSING else factory()
                values[name] = default
        if (
            is_wrong
            or len(values) > len(self._defaults)
            or any(each is dataclasses.MISSING for each in values.values())
        ):
            self._compiled()(made, *given, **named)
        for name, value in values.items():
            object.__setattr__(made, name, value)
        if hasattr(made, "__post_init__"):
            made.__post_init__()


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
