"""Files damaged as disks, transfers and careless programs damage them: cut, overwritten, doubled, with signs put in."""

from __future__ import annotations

import io
import random
import zipfile
from contextlib import suppress

_SIGNS = (
    "< > \" ' \\ { } [ ] \0 \n \r % & * ` _ = # | - : 9999999999 -1 \\ud800 \x85 \u2028 \x0c \x1b 0 null e999 /* ~ ) ("
).split(" ")
_BYTES = (*(sign.encode() for sign in _SIGNS), b"\xff", b"\xef\xbb\xbf", b"\xed\xa0\x80")
_MARKUP = (".xml", ".rels", ".opf", ".xhtml")


def damaged(data: bytes, seed: object) -> bytes:
    """The file with some damage, the same for the same seed. Of a zip archive mostly to what is in one of its members:
    damage to the archive itself would nearly always be told by a checksum.
    """
    chance = random.Random(str(seed))
    if data.startswith(b"PK") and chance.random() < 0.8:
        with suppress(Exception):  # of any kind: it is no whole archive, or one without markup
            return _rezipped(data, chance)
    return _damaged(data, chance)


def _damaged(data: bytes, chance: random.Random) -> bytes:
    kind = chance.random()
    first, last = sorted((chance.randrange(len(data) + 1), chance.randrange(len(data) + 1)))
    if kind < 0.15:
        return data[:first]
    if kind < 0.2:
        return data[:first] + data[last:]
    for _ in range(chance.choice([1, 1, 2, 5, 20])):
        data = _hurt(data, chance)
    return data


def _hurt(data: bytes, chance: random.Random) -> bytes:
    """One wound."""
    kind, at, sign = chance.random(), chance.randrange(len(data) + 1), chance.choice(_BYTES)
    if kind < 0.5:
        return data[:at] + bytes([chance.randrange(256)]) + data[at + 1 :]
    if kind < 0.7:
        return data[:at] + sign * chance.choice([1, 1, 1, 3, 50]) + data[at:]
    if kind < 0.8:
        return data[:at] + data[at + chance.choice([1, 2, 10, 100]) :]
    if kind < 0.9:
        again = chance.randrange(len(data) + 1)
        return data[:at] + data[again : again + chance.choice([5, 50, 500])] + data[at:]
    return data[:at] + sign + data[at + len(sign) :]


def _rezipped(data: bytes, chance: random.Random) -> bytes:
    file = io.BytesIO()
    with zipfile.ZipFile(io.BytesIO(data)) as old, zipfile.ZipFile(file, "w") as new:
        victim = chance.choice([name for name in old.namelist() if name.endswith(_MARKUP)])
        for name in old.namelist():
            if name != victim:
                new.writestr(name, old.read(name))
            elif chance.random() < 0.9:
                new.writestr(name, _damaged(old.read(name), chance))
    return file.getvalue()
