"""Targets that are archives of XML: an input is a list of changes to the elements of a sound one's members.

A change to packed bytes is a wrong checksum, nearly always, and one to the bytes of XML is nearly always no XML any
more: what comes after the parser would never be reached. So what is changed are elements, which stay XML. An input
that begins with 255 is a member's text, or a whole file, as it is.
"""

from __future__ import annotations

import io
import zipfile
from collections.abc import Callable, Iterator, Mapping
from copy import deepcopy
from functools import cache
from typing import Any

from lxml import etree
from sample_files.valid_files import NAMES, sound

from fuzzing.archive_samples import MEMBERS
from fuzzing.reader_targets import check
from fuzzing.target import Run, Target

_AS_IT_IS = 255
_STEP = 5  # bytes of a change
_MOST_ELEMENTS = 3000  # after the changes
_MOST_TIMES = 40  # that an element is repeated, or wrapped
_VALUES = (
    *("", " ", "\n\n", "0", "1", "-1", "9" * 400, "9" * 5000, "1e308", "nan", "inf", "x" * 300, "The sea. It moves."),
    *("heading 1", "heading 99", "title", "A1", "ZZZZ9", "s", "b", "d", "n", "External", "nav", "../../x", "%00"),
    *("yyyy", "[$-409]h:mm", '"', "application/xhtml+xml", "\u0301\u200d\u2028", "<w:t>", "&amp;", "text/html"),
)
_Change = Callable[[Any, str, int], None]  # an element, the format, a number


def targets() -> Iterator[Target]:
    """A target for each format of such archives, called as its suffix."""
    for kind in MEMBERS:
        name = next(name for name in NAMES if name.endswith(f".{kind}"))
        yield Target(kind, _preparing(kind, name), _seeding(kind, name), longest=400, grows=False)


def _preparing(kind: str, name: str) -> Callable[[Any], Run]:
    def run(data: bytes) -> None:
        check(changed_archive(kind, data), name)

    return lambda _: run


def _seeding(kind: str, name: str) -> Callable[[], Iterator[bytes]]:
    def seeds() -> Iterator[bytes]:
        yield b""
        for member in range(len(MEMBERS[kind])):
            yield bytes([_AS_IT_IS, member]) + list(MEMBERS[kind].values())[member].encode()
            for change in range(len(_CHANGES)):
                yield bytes([member, change, 3 * change + 1, 7 * change, 1])
        yield bytes([_AS_IT_IS, _AS_IT_IS]) + sound(name)

    return seeds


def changed_archive(kind: str, data: bytes) -> bytes:
    """The archive after its changes: of each, bytes for the member, what is done, the element; two for a number."""
    members: dict[str, bytes] = {path: text.encode() for path, text in MEMBERS[kind].items()}
    if data[:1] == bytes([_AS_IT_IS]):
        if data[1:2] == bytes([_AS_IT_IS]):
            return data[2:]
        path = list(members)[data[1] % len(members) if len(data) > 1 else 0]
        return _packed({**members, path: data[2:]})
    trees: dict[str, Any] = {}
    for start in range(0, len(data) - _STEP + 1, _STEP):
        member, change, element, *numbers = data[start : start + _STEP]
        path = list(_parsed(kind))[member % len(_parsed(kind))]
        tree = trees.setdefault(path, deepcopy(_parsed(kind)[path]))
        found = list(tree.iter())
        if len(found) <= _MOST_ELEMENTS:
            _CHANGES[change % len(_CHANGES)](found[element % len(found)], kind, int.from_bytes(bytes(numbers), "big"))
    return _packed({**members, **{path: etree.tostring(tree) for path, tree in trees.items()}})


def _packed(members: Mapping[str, bytes]) -> bytes:
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w", zipfile.ZIP_STORED) as archive:
        for name, content in members.items():
            archive.writestr(name, content)
    return file.getvalue()


@cache
def _parsed(kind: str) -> dict[str, Any]:
    return {path: etree.fromstring(text) for path, text in MEMBERS[kind].items() if text.startswith("<")}


@cache
def _tags(kind: str) -> list[str]:
    return sorted({element.tag for tree in _parsed(kind).values() for element in tree.iter()})


@cache
def _keys(kind: str) -> list[str]:
    return sorted({key for tree in _parsed(kind).values() for element in tree.iter() for key in element.attrib})


@cache
def _values(kind: str) -> list[str]:
    elements = [element for tree in _parsed(kind).values() for element in tree.iter()]
    own = {value for element in elements for value in (*element.attrib.values(), element.text or "")}
    return [*sorted(own), *_VALUES]


def _remove(element: Any, _: str, __: int) -> None:
    if element.getparent() is not None:
        element.getparent().remove(element)


def _repeat(element: Any, _: str, number: int) -> None:
    for _ in range(number % _MOST_TIMES if element.getparent() is not None else 0):
        element.addnext(deepcopy(element))


def _wrap(element: Any, kind: str, number: int) -> None:
    """Put an element into one of another kind, or of its own, that many times."""
    tag = element.tag if number & 0x8000 else _tags(kind)[number % len(_tags(kind))]
    for _ in range(1 + (number >> 8) % _MOST_TIMES if element.getparent() is not None else 0):
        outer = etree.Element(tag)
        element.getparent().replace(element, outer)
        outer.append(element)


def _rename(element: Any, kind: str, number: int) -> None:
    element.tag = _tags(kind)[number % len(_tags(kind))]


def _write(element: Any, kind: str, number: int) -> None:
    element.text = _values(kind)[number % len(_values(kind))]


def _follow(element: Any, kind: str, number: int) -> None:
    if element.getparent() is not None:
        element.tail = _values(kind)[number % len(_values(kind))]


def _set(element: Any, kind: str, number: int) -> None:
    key = _keys(kind)[(number >> 8) % len(_keys(kind))]
    element.set(key, _values(kind)[number % 256 % len(_values(kind))])


def _replace(element: Any, kind: str, number: int) -> None:
    """Give one of the attributes that an element has another value."""
    if keys := list(element.attrib):
        element.set(keys[(number >> 8) % len(keys)], _values(kind)[number % 256 % len(_values(kind))])


def _forget(element: Any, _: str, number: int) -> None:
    if keys := list(element.attrib):
        del element.attrib[keys[number % len(keys)]]


def _add(element: Any, kind: str, number: int) -> None:
    etree.SubElement(element, _tags(kind)[number % len(_tags(kind))]).text = "The sea."


def _move(element: Any, _: str, number: int) -> None:
    """Put a copy of an element into another one of its member."""
    others = list(element.getroottree().getroot().iter())
    others[number % len(others)].append(deepcopy(element))


_CHANGES: tuple[_Change, ...] = (
    *(_remove, _repeat, _wrap, _rename, _write, _follow, _set, _replace, _forget, _add, _move),
)
