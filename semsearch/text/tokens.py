"""Split text into words: the one normalisation, used for documents, queries, counts and word vectors alike.

A word is a maximal run of letters and digits, lower-cased; everything else separates. The short ending of a contraction
or a genitive (don't, we'll, Python's) is dropped: alone it would look like a rare word, and it says nothing. A
Chinese, Japanese or Korean character is a word by itself, for those scripts put no spaces between words.

`words` is the definition. `hash_words` is the fast form: a word is identified by a 64-bit polynomial hash of its UTF-8
bytes, and all words of a batch are found by a handful of array operations: with prefix sums P of byte·B^position, the
hash of the word from i to j is (P[j] - P[i]) · B^-i, modulo 2^64 (B is odd, so B^-1 exists). A test compares the two.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache

import numpy as np

from semsearch.arrays.types import Bool, Int64, UInt8, UInt64

TOKENISER_VERSION = "1"
_SEPARATORS = re.compile(r"[\W_]+")
_FOREIGN_SEPARATORS = re.compile(r"[^\w\x00-\x7f]")
_ENDINGS = re.compile(r"(?<=[^\W_])'[A-Za-z]{1,2}(?![^\W_])")
_SOLITARY_RANGES = (  # characters that are words by themselves: the first and the last of each range
    "\u1100\u11ff\u3040\u30ff\u3130\u318f\u3400\u4dbf\u4e00\u9fff\ua960\ua97f\uac00\ud7ff\uf900\ufaff\U00020000\U0003134f"
)
_SOLITARY = re.compile("([" + re.sub("(.)(.)", r"\1-\2", _SOLITARY_RANGES) + "])")
_EDGES = np.array([ord(char) + number % 2 for number, char in enumerate(_SOLITARY_RANGES)], dtype=np.uint32)
_BASE = 0x9E3779B97F4A7C15  # odd, so that it has an inverse modulo 2^64
_INVERSE = pow(_BASE, -1, 1 << 64)
_APOSTROPHE = ord("'")
_FEW = 64  # different characters: for so many, one replacement each is faster than regular expressions
_SHORT = 20_000  # characters of what a search reads
_CHUNK = 1 << 17  # characters per pass: the working arrays stay within a core's cache; fastest of 2^14 to 2^20
# byte -> its value in the hash, 0 for a separator: lower-case letters and digits, and all bytes of longer characters
_VALUES = bytes(byte if byte > 127 else ord(chr(byte).lower()) if chr(byte).isalnum() else 0 for byte in range(256))


def words(text: str) -> list[str]:
    """The words of a text, in order. `words("Don't panic!")` is `["don", "panic"]`."""
    return normalise(text).split()


def normalise(text: str) -> str:
    """The words of a text, lower-cased and composed (NFC), with one space between them."""
    if text.isascii():
        return _SEPARATORS.sub(" ", _ENDINGS.sub("", text.lower())).strip()
    composed = unicodedata.normalize("NFC", text.lower()).replace("’", "'")
    # these first: an ending belongs to the word before it, not to such a character
    parted = _SOLITARY.sub(r" \1 ", composed)
    return " ".join(_SEPARATORS.sub(" ", _ENDINGS.sub("", parted)).split())


CODE = frozenset(("code", "python"))  # formats whose identifiers are searched by their parts, too
_IDENTIFIER = re.compile(r"[A-Za-z0-9]*(?:[a-z0-9][A-Z]|[A-Z]{2}[a-z])[A-Za-z0-9]*")
_PART = re.compile(r"[A-Z]{2,}s?(?![a-z])|[A-Z]?[a-z]+|[A-Z]+")


_IN_GROUPS = re.compile(r"\b[A-Z]{2}\d\d(?: [A-Z\d]{4}){2,7}(?: [A-Z\d]{1,3})?\b")  # the number of an account: an IBAN
_MAY_BE_GROUPS = re.compile(r"[A-Z]\d\d [A-Z\d]{4} ")


def with_parts(text: str, format: str) -> str:
    """A text, and then what is also searched for it: numbers as one word, and of source code the parts of identifiers.

    The tokeniser divides others: `getHTTPResponse` has the parts get, HTTP and Response, as `get_http_response` has.
    """
    text = with_whole_numbers(text)
    if format not in CODE:
        return text
    parts = [part for identifier in _IDENTIFIER.findall(text) for part in _PART.findall(identifier) if len(part) > 1]
    return f"{text} {' '.join(parts)}" if parts else text


def with_whole_numbers(text: str) -> str:
    """A text, and then each IBAN that it has in groups as one word: "DE89 3704 0044 …" is searched as DE8937040044…."""
    if not _MAY_BE_GROUPS.search(text):
        return text
    return " ".join([text, *(number.replace(" ", "") for number in _IN_GROUPS.findall(text))])


@dataclass(frozen=True, slots=True)
class HashedWords:
    """The words of n texts as hashes (t,) uint64, in order: text i has hashes[indptr[i]:indptr[i + 1]]."""

    hashes: UInt64
    indptr: Int64


@dataclass(frozen=True, slots=True)
class WordChunk:
    """The words of n consecutive texts and their positions: word i is data[starts[i]:ends[i]], in its original case."""

    data: UInt8
    starts: Int64  # (t,)
    ends: Int64  # (t,)
    hashes: UInt64  # (t,)
    counts: Int64  # number of words of each text (n,)

    def word(self, index: int, *, through: int | None = None) -> str:
        """The word at `index`, in lower case; with `through`, all text from it to the end of that later word."""
        end = self.ends[index if through is None else through]
        return self.data[self.starts[index] : end].tobytes().decode().lower()

    def words(self, indices: Int64) -> list[str]:
        """The words at the given indices, in lower case. (n,) -> n words"""
        data, spans = self.data.tobytes(), zip(self.starts[indices].tolist(), self.ends[indices].tolist(), strict=True)
        return [data[start:end].decode().lower() for start, end in spans]

    def letters(self, indices: Int64) -> UInt8:
        """The bytes of the words at the given indices, lower-cased, one word after the other."""
        lengths = self.ends[indices] - self.starts[indices]
        offsets = self.starts[indices] - (np.cumsum(lengths) - lengths)
        positions = np.arange(lengths.sum()) + np.repeat(offsets, lengths)
        return np.frombuffer(self.data[positions].tobytes().translate(_VALUES), dtype=np.uint8)


def hash_words(texts: Sequence[str]) -> HashedWords:
    """Hash the words of each text, those of `words(text)`. A million texts take about a second."""
    chunks = list(hash_chunks(texts))
    counts = np.concatenate([np.zeros(1, dtype=np.int64), *(chunk.counts for chunk in chunks)])
    hashes = [chunk.hashes for chunk in chunks] or [np.zeros(0, dtype=np.uint64)]
    return HashedWords(np.concatenate(hashes), np.cumsum(counts))


def hash_chunks(texts: Sequence[str], *, marks: bool = False) -> Iterator[WordChunk]:
    """Like `hash_words`, but yields the words of some consecutive texts at a time, with their positions.

    `marks`: whether marks that are no characters by themselves, such as the vowel signs of Hindi, belong to words.
    """
    ends = np.array([*map(len, texts)], dtype=np.int64).cumsum()
    if 0 < len(texts) <= _FEW and ends[-1] <= _SHORT:
        yield _hash_short(tuple(texts), marks and not all(map(str.isascii, texts)))
        return
    if len(texts) and ends[-1] <= _CHUNK:
        yield _hash_chunk(texts, marks=marks)
        return
    first, done = 0, 0
    while first < len(texts):
        last = int(np.searchsorted(ends, done + _CHUNK)) + 1
        yield _hash_chunk(texts[first:last], marks=marks)
        first, done = last, int(ends[min(last, len(texts)) - 1])


def hash_whole(texts: Sequence[str], *, marks: bool = False) -> WordChunk:
    """Like `hash_chunks`, but all texts at once, however long one is, as a word of a query may be."""
    if len(texts) <= _FEW and sum(map(len, texts)) <= _SHORT:
        return next(hash_chunks(texts, marks=marks))
    return _hash_chunk(texts, marks=marks)


@lru_cache(maxsize=32)  # a question is read by several parts of a search, as are the passages of a page of hits
def _hash_short(texts: tuple[str, ...], marks: bool) -> WordChunk:
    return _hash_chunk(texts, marks=marks)


def _hash_chunk(texts: Sequence[str], *, marks: bool) -> WordChunk:
    encoded, ends_of_texts = _encoded(texts, _separators_but_marks() if marks else _FOREIGN_SEPARATORS)
    data = np.frombuffer(encoded, dtype=np.uint8)
    values = np.frombuffer(bytearray(encoded.translate(_VALUES)), dtype=np.uint8)
    if b"'" in encoded:
        _blank_endings(data, values)
    inside = np.zeros(len(values) + 2, dtype=np.bool_)
    np.not_equal(values, 0, out=inside[1:-1])
    edges = (inside[1:] != inside[:-1]).nonzero()[0]
    starts, ends = edges[0::2], edges[1::2]
    if len(texts) == 1:
        counts = np.array([len(starts)], dtype=np.int64)
    else:
        counts = starts.searchsorted(ends_of_texts)
        counts[1:] -= counts[:-1].copy()
    return WordChunk(data, starts, ends, hash_spans(values, starts, ends), counts)


def hash_spans(data: UInt8, starts: Int64, ends: Int64) -> UInt64:
    """Hash each data[starts[i]:ends[i]], lower-case UTF-8: Σ byte_i · B^i, mixed. (n,), (n,) -> (n,)"""
    powers, inverses = _powers(_bucket(len(data)))
    prefix = np.zeros(len(data) + 1, dtype=np.uint64)
    (powers[: len(data)] * data).cumsum(out=prefix[1:])
    return mix((prefix[ends] - prefix[starts]) * inverses[starts])


def _encoded(texts: Sequence[str], separators: re.Pattern[str]) -> tuple[bytes, Int64]:
    """The texts as UTF-8 with a separator between them, and the end of each (n,). Bytes over 127 all belong to words.

    A few characters outside ASCII would make a whole long string wide, so only the texts that have some are processed.
    """
    lengths = np.array([*map(len, texts)], dtype=np.int64)
    foreign = [index for index, text in enumerate(texts) if not text.isascii()]
    if not foreign:
        return "\n".join(texts).encode(), (lengths + 1).cumsum() - 1
    joined = "\n".join([texts[index] for index in foreign])
    if joined.count("\n") >= len(foreign):
        joined = "\n".join([texts[index].replace("\n", " ") for index in foreign])
    together = _foreign(joined, separators).encode().split(b"\n")
    lengths[foreign] = list(map(len, together))
    parts, done = list[bytes](), 0
    for index, encoded in zip(foreign, together, strict=True):
        if done < index:
            parts.append("\n".join(texts[done:index]).encode())  # many at once
        parts.append(encoded)
        done = index + 1
    if done < len(texts):
        parts.append("\n".join(texts[done:]).encode())
    return b"\n".join(parts), np.cumsum(lengths + 1) - 1


def _foreign(text: str, separators: re.Pattern[str]) -> str:
    """A text without its separators outside ASCII: the other characters outside ASCII all belong to words."""
    composed = unicodedata.normalize("NFC", text.lower()).replace("’", "'")
    codes = np.frombuffer(composed.encode("utf-32-le", "surrogatepass"), dtype=np.uint32)
    is_there = np.zeros(int(codes.max(initial=0)) + 1, dtype=np.bool_)
    is_there[codes] = True
    others = "".join(map(chr, (np.flatnonzero(is_there[128:]) + 128).tolist()))
    signs, alone = separators.findall(others), _SOLITARY.findall(others)
    if len(signs) > _FEW:
        composed = separators.sub(" ", composed)
    else:
        for char in signs:
            composed = composed.replace(char, " ")
    if len(alone) > _FEW:
        return _spaced(composed)
    for char in alone:
        composed = composed.replace(char, f" {char} ")
    return composed


def _spaced(text: str) -> str:
    """A text with spaces around each character that is a word by itself."""
    codes = np.frombuffer(text.encode("utf-32-le", "surrogatepass"), dtype=np.uint32)
    alone = np.searchsorted(_EDGES, codes, side="right") % 2 == 1
    places = np.arange(len(codes)) + 2 * np.cumsum(alone) - alone
    spaced = np.full(len(codes) + 2 * np.count_nonzero(alone), ord(" "), dtype=np.uint32)
    spaced[places] = codes
    return spaced.tobytes().decode("utf-32-le", "surrogatepass")


@lru_cache(maxsize=1)
def _separators_but_marks() -> re.Pattern[str]:
    """What separates words where marks do not. The marks of symbols and emoji lie elsewhere, and separate."""
    marks = "".join(char for char in map(chr, range(0x300, 0x1B00)) if unicodedata.category(char) in ("Mn", "Mc"))
    return re.compile(rf"[^\w\x00-\x7f{marks}]")


def _blank_endings(data: UInt8, values: UInt8) -> None:
    """Turn the one or two letters between a word's apostrophe and the next separator into separators: 's, 't, 're."""
    marks = (data[1:-1] == _APOSTROPHE).nonzero()[0] + 1  # a letter must stand before and after one
    marks = marks[values[marks - 1] != 0]
    last = len(values) - 1
    first, second, third = (values[np.minimum(marks + step, last)] * (marks + step <= last) for step in (1, 2, 3))
    is_letter_first, is_letter_second = _is_letter(first), _is_letter(second)
    values[marks[is_letter_first & (second == 0)] + 1] = 0
    both = marks[is_letter_first & is_letter_second & (third == 0)]
    values[both + 1] = values[both + 2] = 0


def _is_letter(values: UInt8) -> Bool:
    return np.asarray((values >= ord("a")) & (values <= ord("z")))


def _bucket(size: int) -> int:
    """A size rounded up to a power of two, so that few tables of powers are ever made."""
    return 1 << max(12, (max(size, 1) - 1).bit_length())


@lru_cache(maxsize=8)
def _powers(size: int) -> tuple[UInt64, UInt64]:
    """B^0 … B^(size-1) and the same of B^-1, modulo 2^64."""
    tables = []
    for base in (_BASE, _INVERSE):
        table = np.full(size, base, dtype=np.uint64)
        table[0] = 1
        tables.append(np.cumprod(table, dtype=np.uint64))
    return tables[0], tables[1]


def mix(hashes: UInt64) -> UInt64:
    """Spread every bit over the others (the last step of MurmurHash3), since hash tables use the low bits. Never 0."""
    mixed = hashes >> np.uint64(33)
    mixed ^= hashes
    mixed *= np.uint64(0xFF51AFD7ED558CCD)
    mixed ^= mixed >> np.uint64(33)
    mixed *= np.uint64(0xC4CEB9FE1A85EC53)
    mixed ^= mixed >> np.uint64(33)
    mixed[mixed == 0] = 1
    return mixed
