"""A table of word vectors in a folder of memory-mapped arrays: opened in a millisecond, never parsed.

    card.json        its description: words, dimension, dtype, source, licence, the command that made it, digest
    words.txt        the words, most frequent first, one per line; a word's id is its line, from 0
    vectors.npy      (V, d) int8, float16 or float32
    scales.npy       (V,) float32; int8 only: a row is vectors[i] · scales[i]
    frequencies.npy  (V,) float32: p(w) in general text
    keys.npy         (slots,) uint64: the words' hashes (text/tokens.py), by open addressing (arrays/hash_table.py)
    slots.npy        (slots,) int32: the word's id, -1 for an empty slot
    piece*           for out-of-vocabulary words; optional (semsearch.word_vectors.pieces)

The vocabulary is looked up by hash, without ever making a dict of all words: at 64 bits, one of a million OOV words is
taken for one of a hundred thousand known ones only once in ten million such corpora. The tables that come with
semsearch are folders beside this file; semsearch-research makes others. Other processes and machines get a reference,
by which they open the table themselves: by memory mapping, all processes of a machine share one copy.
"""

from __future__ import annotations

import errno
import json
import platform
from functools import cached_property, lru_cache
from hashlib import blake2b
from pathlib import Path
from tokenize import TokenError
from typing import Any, Literal, NamedTuple, Protocol, runtime_checkable

import numpy as np
import numpy.typing as npt

from semsearch.arrays.hash_table import look_up
from semsearch.arrays.types import Float32, Int32, UInt64
from semsearch.errors import EXHAUSTED, UsageError, VectorsError, VectorsMismatch
from semsearch.system.locations import usable_path
from semsearch.text.ragged import OovWords
from semsearch.text.tokens import TOKENISER_VERSION, hash_words
from semsearch.word_vectors.pieces import Pieces

FORMAT = "semsearch word vectors 1"
Dtype = Literal["int8", "float16", "float32"]


@runtime_checkable
class WordVectors(Protocol):
    """The word vectors that an embedder works with: V words with ids from 0, vectors of d dimensions, and p(w)."""

    @property
    def name(self) -> str:
        """The name of the word vectors, for people."""

    @property
    def digest(self) -> str:
        """A digest of words, vectors and p(w): equal digests mean equal sentence vectors."""

    @property
    def dimension(self) -> int:
        """The number of dimensions of a vector, d."""

    @property
    def frequencies(self) -> Float32:
        """The probability p(w) of each word in general text. (V,)"""

    def __len__(self) -> int: ...

    def lookup(self, hashes: UInt64) -> Int32:
        """Word hashes to ids, -1 for unknown words. (n,) -> (n,)"""

    def rows(self, ids: npt.NDArray[np.integer[Any]]) -> Float32:
        """The vectors of word ids. (n,) -> (n, d)"""

    def oov_rows(self, unknown_words: OovWords) -> Float32:
        """Predict the vectors of OOV words; zero for a word without known parts. (u,) -> (u, d)"""


class VectorTable:
    """Word vectors in a folder, memory-mapped. Raises VectorsError if the folder is not such a table."""

    def __init__(self, folder: Path) -> None:
        self.folder: Path = Path(folder)
        self.card: dict[str, Any] = _read_card(self.folder)
        self.name: str = str(self.card.get("name", self.folder.name))
        self.digest: str = str(self.card["digest"])
        self._vectors = self._array("vectors", np.int8, np.float16, np.float32, dimensions=2)
        self._scales = self._array("scales", np.float32) if self._vectors.dtype == np.int8 else None
        self.frequencies: Float32 = self._array("frequencies", np.float32)
        self._keys: UInt64 = self._array("keys", np.uint64)
        self._slots: Int32 = self._array("slots", np.int32)
        scales = self.frequencies if self._scales is None else self._scales
        if not len(self._vectors) == len(self.frequencies) == len(scales) == self.card["words"]:
            raise self._damage(f"its arrays do not have the {self.card['words']} rows of its card")
        if len(self._keys) != len(self._slots) or len(self._keys).bit_count() != 1:
            raise self._damage("keys.npy and slots.npy do not belong together")

    @property
    def dimension(self) -> int:
        """The number of dimensions of a vector, d."""
        return int(self._vectors.shape[1])

    def __len__(self) -> int:
        return len(self._vectors)

    def __repr__(self) -> str:
        return f"VectorTable({self.name!r}, {len(self)} words, {self.dimension} dimensions)"

    @cached_property
    def words(self) -> list[str]:
        """All words in the order of their ids. Reads words.txt: for people and tools, not for embedding.

        Raises VectorsError if it is not text.
        """
        try:
            return (self.folder / "words.txt").read_text(encoding="utf-8").splitlines()
        except UnicodeDecodeError as error:
            raise self._damage(f"words.txt is no text ({error})") from error

    def lookup(self, hashes: UInt64) -> Int32:
        """Word hashes to ids, -1 for unknown words. (n,) -> (n,). Raises VectorsError for the id of no word."""
        ids = look_up(self._keys, self._slots, hashes)
        if len(ids) and not -1 <= ids.min() <= ids.max() < len(self._vectors):
            raise self._damage("slots.npy has ids of no words")
        return ids

    def id_of(self, word: str) -> int:
        """The id of one word as the tokeniser gives it, -1 if it is not known."""
        hashes = hash_words([word]).hashes
        return int(self.lookup(hashes)[0]) if len(hashes) == 1 else -1

    def rows(self, ids: npt.NDArray[np.integer[Any]]) -> Float32:
        """The vectors of word ids. (n,) -> (n, d)"""
        rows: Float32 = self._vectors.take(ids, axis=0).astype(np.float32)  # copies whole rows, as [ids] does not
        if self._scales is not None:
            rows *= self._scales[ids][:, None]
        return rows

    @cached_property
    def pieces(self) -> Pieces | None:
        """The pieces that predict the vectors of OOV words; None if the table has none.

        Raises VectorsError if they are damaged.
        """
        if not (self.folder / "pieces.npy").exists():
            return None
        vectors = self._array("pieces", np.int8, dimensions=2)
        scales, maps = self._array("piece_scales", np.float32), self._array("piece_maps", np.float16, dimensions=3)
        keys, slots = self._array("piece_keys", np.uint64), self._array("piece_slots", np.int32)
        n, d = len(scales), self.dimension
        if vectors.shape != (n, d) or maps.shape != (2, d, d) or len(keys) != len(slots):
            raise self._damage("its pieces do not belong together")
        if len(keys).bit_count() != 1 or not -1 <= slots.min() <= slots.max() < n:
            raise self._damage("piece_keys.npy or piece_slots.npy has what is no piece")
        return Pieces(vectors, scales, keys, slots, maps)

    def oov_rows(self, unknown_words: OovWords) -> Float32:
        """Predict the vectors of OOV words; zero for a word without known parts. (u,) -> (u, d)"""
        if self.pieces is None:
            return np.zeros((len(unknown_words), self.dimension), dtype=np.float32)
        return self.pieces.oov_rows(unknown_words, self)

    def verify(self) -> bool:
        """Return whether the arrays have the digest that the card gives, and every word is found. Reads everything."""
        if digest_of(self.folder) != self.digest or len(self.words) != len(self):
            return False
        return np.array_equal(self.lookup(hash_words(self.words).hashes), np.arange(len(self)))

    def _array(self, name: str, *dtypes: type[np.generic], dimensions: int = 1) -> Any:
        path = self.folder / f"{name}.npy"
        try:
            array = _loaded(path)
        except (OSError, ValueError, EOFError, TokenError) as error:  # NumPy reads the header of an array as Python
            if getattr(error, "errno", None) in EXHAUSTED:
                raise  # nothing is wrong with the file
            raise self._damage(f"{path.name} cannot be read ({error})") from error
        if array.dtype not in dtypes or array.ndim != dimensions:
            raise self._damage(f"{path.name} has {array.dtype} {array.shape}")
        return np.asarray(array)  # still mapped, but without what memmap adds to every slice

    def _damage(self, what: str) -> VectorsError:
        return VectorsError(f"the word vectors in {self.folder} are damaged: {what}; make or import them again")


def _loaded(path: Path) -> Any:
    try:
        return np.load(path, mmap_mode="r", allow_pickle=False)
    except OSError as error:
        if error.errno != errno.ENODEV:  # a disk without memory maps
            raise
        return np.load(path, allow_pickle=False)


def _read_card(folder: Path) -> dict[str, Any]:
    path = folder / "card.json"
    try:
        card = json.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError as error:
        raise VectorsError(f"{folder} has no card.json; it is not a folder of word vectors") from error
    except (OSError, ValueError, RecursionError) as error:
        raise VectorsError(f"{path} cannot be read ({error}); make or import the word vectors again") from error
    if not isinstance(card, dict) or (card.get("format"), card.get("tokeniser")) != (FORMAT, TOKENISER_VERSION):
        raise VectorsError(
            f"{path} is not of format {FORMAT!r} and tokeniser {TOKENISER_VERSION}: another version of semsearch made "
            "the word vectors; import them again"
        )
    if not isinstance(card.get("words"), int) or not isinstance(card.get("digest"), str):
        raise VectorsError(f"{path} has no number of words, or no digest; import the word vectors again")
    return card


def digest_of(folder: Path) -> str:
    """The BLAKE2b digest of all that determines sentence vectors: words, vectors, scales, frequencies and pieces."""
    digest = blake2b(digest_size=16)
    pieces = ("pieces.txt", "pieces.npy", "piece_scales.npy", "piece_maps.npy")
    for name in ("words.txt", "vectors.npy", "scales.npy", "frequencies.npy", *pieces):
        path = folder / name
        if path.exists():
            with path.open("rb") as file:
                while block := file.read(1 << 22):
                    digest.update(block)
    return digest.hexdigest()


# -- Shipped tables ----------------------------------------------------------------------------------------------------

DEFAULT_VECTORS = "english"
_HERE = Path(__file__).parent


def shipped(name: str) -> VectorTable | None:
    """Open the shipped word vectors of that name. None if there are none."""
    return VectorTable(_HERE / name) if is_shipped(name) else None


def is_shipped(name: str) -> bool:
    """Return whether word vectors of that name come with semsearch."""
    return len(Path(name).parts) == 1 and (_HERE / name / "card.json").is_file()


def shipped_name(folder: Path) -> str | None:
    """The name of the shipped word vectors in a folder; None if they are not shipped ones."""
    return folder.name if folder.resolve().parent == _HERE.resolve() else None


def shipped_names() -> list[str]:
    """The names of the word vectors that come with semsearch."""
    return sorted(card.parent.name for card in _HERE.glob("*/card.json"))


WordVectorsLike = str | Path | WordVectors


def load_vectors(name_or_path: str | Path = DEFAULT_VECTORS) -> VectorTable:
    """Open word vectors by name (shipped), or by the path of their folder.

    For a GloVe, word2vec or fastText file, the folder beside it that `semsearch vectors import` has made is opened.
    Raises VectorsError if there are none, or they cannot be read.
    """
    path = usable_path(name_or_path)
    if table := shipped(str(path)):
        return table
    if path.is_file():
        folder = path.with_name(f"{path.name}.semsearch")
        if not folder.is_dir():
            raise VectorsError(f"{path} is a file, not a folder of word vectors; run: semsearch vectors import {path}")
        path = folder
    if path.is_dir():
        return VectorTable(path)
    raise VectorsError(
        f"there are no word vectors {str(name_or_path)!r}; expected {', '.join(shipped_names())}, or a path"
    )


def open_vectors(vectors: WordVectorsLike) -> WordVectors:
    """Open word vectors by name or path, as `load_vectors`; a table that is open already is returned."""
    if isinstance(vectors, str | Path):
        return load_vectors(vectors)
    if not isinstance(vectors, WordVectors):
        raise UsageError(f"word vectors are given by their name or path, or opened, not as {vectors!r}")
    return vectors


class VectorsReference(NamedTuple):
    """Word vectors by the name of shipped ones, or by their folder; with their own name, for people."""

    place: str
    name: str
    digest: str

    @classmethod
    def of(cls, vectors: WordVectors) -> VectorsReference:
        """The reference to opened word vectors. Raises UsageError for vectors without a folder."""
        folder = getattr(vectors, "folder", None)
        if folder is None:
            raise UsageError(
                f"other processes cannot open the word vectors {vectors.name}, which only this program holds; "
                "give a name or a folder"
            )
        return cls(shipped_name(Path(folder)) or str(Path(folder).resolve()), vectors.name, vectors.digest)

    def open(self) -> VectorTable:
        """Open them, once a process. Raises VectorsError if they are not there, VectorsMismatch if others are."""
        return _opened(self)


@lru_cache(maxsize=4)
def _opened(reference: VectorsReference) -> VectorTable:
    wanted = f"the word vectors {reference.name} ({reference.digest[:8]})"
    try:
        table = load_vectors(reference.place)
    except VectorsError as error:
        raise VectorsError(
            f"{platform.node()} does not have {wanted}: {error}; copy them to the same path there, or to a "
            "folder that all machines share"
        ) from error
    if table.digest != reference.digest:
        raise VectorsMismatch(
            f"{reference.place} on {platform.node()} contains {table.name} ({table.digest[:8]}), "
            f"expected {wanted}; copy those there"
        )
    return table
