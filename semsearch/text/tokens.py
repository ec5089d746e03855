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
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import lru_cache
from typing import NamedTuple

import numpy as np

from semsearch.arrays.types import Bool, Int64, UInt8, UInt32, UInt64

TOKENISER_VERSION = "1"
_SEPARATORS = re.compile(r"[\W_]+")
_ENDINGS = re.compile(r"(?<=[^\W_])'[A-Za-z]{1,2}(?![^\W_])")
_SOLITARY_RANGES = (  # characters that are words by themselves: the first and the last of each range
    "\u1100\u11ff\u3040\u30ff\u3130\u318f\u3400\u4dbf\u4e00\u9fff\ua960\ua97f\uac00\ud7ff\uf900\ufaff\U00020000\U0003134f"
)
_SOLITARY = "[" + re.sub("(.)(.)", r"\1-\2", _SOLITARY_RANGES) + "]"  # compiled when it is needed: 2 ms
_BASE = 0x9E3779B97F4A7C15  # odd, so that it has an inverse modulo 2^64
_INVERSE = pow(_BASE, -1, 1 << 64)
_APOSTROPHE = ord("'")
_FEW = 64  # texts, which a search reads
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
    parted = re.sub(f"{_SOLITARY}+", lambda run: f" {' '.join(run[0])} ", composed)
    return " ".join(_SEPARATORS.sub(" ", _ENDINGS.sub("", parted)).split())


def storable(text: str) -> str:
    """Replace lone surrogates in a text by question marks: they are not characters, and no database stores them."""
    return text if text.isascii() else text.encode("utf-8", "replace").decode("utf-8")


_SIGNS = bytes(byte for byte in range(128) if not chr(byte).isalnum())
_TYPOGRAPHY = "‘’“”–—…•«»\u00a0\u2009"  # signs that often differ between two copies of one text


def letters_of(text: str) -> bytes:
    """The letters and digits of a text in lower case, the same in near-duplicates; the text itself if it has none."""
    letters = text if text.isascii() else unicodedata.normalize("NFC", text.lower())
    for sign in () if text.isascii() else _TYPOGRAPHY:
        letters = letters.replace(sign, "")
    return letters.lower().encode("utf-8", "surrogatepass").translate(None, _SIGNS) or text.encode()


class HashedWords(NamedTuple):
    """The words of n texts as hashes (t,) uint64, in order: text i has hashes[indptr[i]:indptr[i + 1]]."""

    hashes: UInt64
    indptr: Int64


class WordChunk(NamedTuple):
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


def hash_words(texts: Sequence[str], *, marks: bool = False) -> HashedWords:
    """Hash the words of each text, those of `words(text)`. A million texts take about a second. `marks`: see below."""
    chunks = list(hash_chunks(texts, marks=marks))
    counts = np.concatenate([np.zeros(1, dtype=np.int64), *(chunk.counts for chunk in chunks)])
    hashes = [chunk.hashes for chunk in chunks] or [np.zeros(0, dtype=np.uint64)]
    return HashedWords(np.concatenate(hashes), np.cumsum(counts))


def hash_chunks(
    texts: Sequence[str], *, marks: bool = False, spell: Callable[[str], str] | None = None
) -> Iterable[WordChunk]:
    """Like `hash_words`, but gives the words of some consecutive texts at a time, with their positions.

    `marks`: whether marks that are no characters by themselves, such as the vowel signs of Hindi, belong to words.
    `spell`: called with many texts at once, lines of one string, and gives them in the spelling to be hashed.
    """
    if spell is None and 0 < len(texts) <= _FEW and sum(map(len, texts)) <= _SHORT:
        return [_hash_short(tuple(texts), marks and not all(map(str.isascii, texts)))]
    return (_hash_chunk(chunk, marks, spell) for chunk in in_chunks(texts))


def in_chunks(texts: Sequence[str]) -> Iterator[Sequence[str]]:
    """Consecutive texts that are read together."""
    ends = np.array([*map(len, texts)], dtype=np.int64).cumsum()
    first = done = 0
    while first < len(texts):
        last = int(np.searchsorted(ends, done + _CHUNK)) + 1
        yield texts[first:last]
        first, done = last, int(ends[min(last, len(texts)) - 1])


@lru_cache(maxsize=32)  # a question is read by several parts of a search, as are the passages of a page of hits
def _hash_short(texts: tuple[str, ...], marks: bool) -> WordChunk:
    return _hash_chunk(texts, marks)


def _hash_chunk(texts: Sequence[str], marks: bool, spell: Callable[[str], str] | None = None) -> WordChunk:
    encoded, ends_of_texts = _encoded(texts, marks) if spell is None else _encoded_lines(texts, marks, spell)
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


def hashes_of(parts: Sequence[str]) -> UInt64:
    """The hash of each stem or part of a word, whatever characters it has. (n,)"""
    encoded = [part.encode() for part in parts]
    ends = np.cumsum(np.array([0, *map(len, encoded)], dtype=np.int64))
    return hash_spans(np.frombuffer(b"".join(encoded), dtype=np.uint8), ends[:-1], ends[1:])


def hash_spans(data: UInt8, starts: Int64, ends: Int64) -> UInt64:
    """Hash each data[starts[i]:ends[i]], lower-case UTF-8: Σ byte_i · B^i, mixed. (n,), (n,) -> (n,)"""
    powers, inverses = _powers(_bucket(len(data)))
    prefix = np.zeros(len(data) + 1, dtype=np.uint64)
    (powers[: len(data)] * data).cumsum(out=prefix[1:])
    return mix((prefix[ends] - prefix[starts]) * inverses[starts])


def _encoded(texts: Sequence[str], marks: bool) -> tuple[bytes, Int64]:
    """The texts as UTF-8 with a separator between them, and the end of each (n,). Bytes over 127 all belong to words.

    A few characters outside ASCII would make a whole long string wide, so where few texts have any, only these do.
    """
    foreign = [index for index, text in enumerate(texts) if not text.isascii()]
    if 2 * len(foreign) > len(texts):
        return _encoded_lines(texts, marks)
    lengths = np.array([*map(len, texts)], dtype=np.int64)
    if not foreign:
        return "\n".join(texts).encode(), (lengths + 1).cumsum() - 1
    together = _encoded_lines([texts[index] for index in foreign], marks)[0].split(b"\n")
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


def _encoded_lines(texts: Sequence[str], marks: bool, spell: Callable[[str], str] | None = None) -> tuple[bytes, Int64]:
    """Like `_encoded`, each text as a line, all in one string."""
    joined = "\n".join(texts)
    if joined.count("\n") >= len(texts):
        joined = "\n".join([text.replace("\n", " ") for text in texts])
    if spell is not None:
        joined = spell(joined)
    encoded = (joined if joined.isascii() else _plain(joined, marks)).encode()
    return encoded, np.append(np.flatnonzero(np.frombuffer(encoded, dtype=np.uint8) == ord("\n")), len(encoded))


# -- Characters outside ASCII ------------------------------------------------------------------------------------------

_ALONE, _COMBINES = 1 << 30, 1 << 31  # a word by itself; perhaps one character with others, or several when lower-cased
_CODE = (1 << 21) - 1


def _plain(text: str, marks: bool) -> str:
    """A text lower-cased and composed, without its separators outside ASCII, and with words by themselves apart.

    `str.lower` and `normalize` take ten times as long as looking each character up, and few texts need them.
    """
    read = _look_up(text, marks)
    if read.max() >= _COMBINES:
        read = _look_up(unicodedata.normalize("NFC", text.lower()), marks)
    if read.max() > _CODE:
        is_alone = read & _ALONE != 0
        places = np.arange(len(read)) + 2 * np.cumsum(is_alone) - is_alone
        spaced = np.full(len(read) + 2 * np.count_nonzero(is_alone), ord(" "), dtype=np.uint32)
        spaced[places] = read & _CODE
        read = spaced
    return read.tobytes().decode("utf-32-le", "surrogatepass")


def _look_up(text: str, marks: bool) -> UInt32:
    """The characters of a text as `_character` gives them, each of which is found out once. (n,)"""
    codes = np.frombuffer(text.encode("utf-32-le", "surrogatepass"), dtype=np.uint32)
    characters = _characters(marks)
    read = characters.take(codes, mode="clip")
    if not read.all():
        for code in set(codes[read == 0].tolist()):
            characters[code] = _character(chr(code), marks)
        read = characters.take(codes, mode="clip")
    return read


@lru_cache(maxsize=2)
def _characters(marks: bool) -> UInt32:  # noqa: ARG001  # a table for each
    return np.zeros(0x110000, dtype=np.uint32)  # takes memory where it is written


def _character(char: str, marks: bool) -> int:
    """What a character is for the tokeniser: the code of its lower case or of a space, with flags."""
    lower = char.lower()
    if char.isascii():
        return ord(lower) or ord(" ")
    is_mark = unicodedata.category(char) in ("Mn", "Mc")
    if char == "’":
        code = ord("'")
    elif _SEPARATORS.match(lower) and not (marks and is_mark and "\u0300" <= char < "\u1b00"):
        code = ord(" ")  # the marks of symbols and emoji lie elsewhere, and separate
    else:
        code = ord(lower[0]) | (_ALONE if lower >= _SOLITARY_RANGES[0] and re.match(_SOLITARY, lower) else 0)
    is_part = is_mark or unicodedata.combining(char) or "\u1100" <= char <= "\u11ff"  # of a Korean syllable
    is_several = char == "Σ" or len(lower) > 1 or unicodedata.normalize("NFC", lower) != lower
    return code | _COMBINES if is_part or is_several else code


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
