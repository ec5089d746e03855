"""A cache of a teacher's sentence vectors in a folder: each text is encoded once, and found again by its hash.

    card.json           the teacher and its precision
    part-000001.npz     hashes (n,) uint64, vectors (n, d) float16

A part file is whole or absent, so that a run that was stopped can be resumed.
"""

from __future__ import annotations

import hashlib
import io
import json
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from semsearch.arrays.types import Float16, Float32, UInt64
from semsearch.errors import MissingExtra, VectorsError
from semsearch.system.durable import write_durably

_PART = 8192  # texts encoded and written at a time


class Teacher:
    """A teacher, which encodes texts: a sentence-transformers model, by name or folder.

    `precision` is that of its arithmetic. bfloat16 is three times as fast on processors that have it, and its vectors
    have a cosine above .9999 with those of float32. Raises MissingExtra without the extra `train`, VectorsError if the
    model cannot be loaded.
    """

    def __init__(self, name: str, *, precision: str = "float32", batch: int = 64) -> None:
        self.name = Path(name).name
        self.precision = precision
        self.batch = batch
        self._model = _load(name, precision)

    @property
    def dimension(self) -> int:
        """The number of dimensions of the model's vectors."""
        ask = getattr(self._model, "get_embedding_dimension", None) or self._model.get_sentence_embedding_dimension
        return int(ask())

    def encode(self, texts: Sequence[str]) -> Float32:
        """Encode texts as unit vectors. n texts -> (n, d)"""
        encoded: Any = self._model.encode(
            list(texts), batch_size=self.batch, convert_to_tensor=True, show_progress_bar=False
        )
        vectors: Float32 = encoded.float().cpu().numpy()
        vectors /= np.maximum(np.linalg.norm(vectors, axis=1, keepdims=True), 1e-12)
        return vectors


class Encodings:
    """A teacher's vectors of texts, cached in a folder.

    Raises VectorsError if the folder holds those of another teacher or precision, or cannot be used.
    """

    def __init__(self, folder: Path, teacher: str, precision: str) -> None:
        self.folder = Path(folder)
        self._card = {"teacher": Path(teacher).name, "precision": precision}
        self._open()

    def complete(
        self,
        texts: Sequence[str],
        encode: Callable[[Sequence[str]], Float32],
        *,
        progress: Callable[[int, int], None] | None = None,
    ) -> None:
        """Encode the texts that are not cached yet by `encode`, part by part.

        `progress(done, total)` is called with the number of texts that are encoded.
        """
        hashes = hash_texts(texts)
        missing = np.flatnonzero(~np.isin(hashes, self._hashes()))
        missing = missing[np.unique(hashes[missing], return_index=True)[1]]
        done = len(texts) - len(missing)
        for first in range(0, len(missing), _PART):
            indices = missing[first : first + _PART]
            vectors = encode([texts[index] for index in indices])
            self._write(hashes[indices], vectors.astype(np.float16))
            if progress:
                progress(done + first + len(indices), len(texts))

    def of(self, texts: Sequence[str]) -> Float16:
        """Return the cached vectors of texts, as float16. n texts -> (n, d). Raises VectorsError if any is missing."""
        wanted = hash_texts(texts)
        order = np.argsort(wanted, kind="stable")
        inverse = wanted[order]
        result: Float16 | None = None
        found = np.zeros(len(texts), dtype=bool)
        for part in self._parts():
            hashes, vectors = _read(part)
            if result is None:
                result = np.zeros((len(texts), vectors.shape[1]), dtype=np.float16)
            first, last = np.searchsorted(inverse, hashes, "left"), np.searchsorted(inverse, hashes, "right")
            for row in np.flatnonzero(last > first):
                indices = order[first[row] : last[row]]
                result[indices] = vectors[row]
                found[indices] = True
        if result is None or not found.all():
            raise VectorsError(f"{(~found).sum()} of {len(texts)} texts are not encoded in {self.folder}; encode them")
        return result

    def _open(self) -> None:
        path = self.folder / "card.json"
        try:
            self.folder.mkdir(parents=True, exist_ok=True)
            if not path.exists():
                write_durably(path, lambda write: write((json.dumps(self._card, indent=2) + "\n").encode()))
            card = json.loads(path.read_text(encoding="utf-8"))
        except (OSError, ValueError, RecursionError) as error:
            raise VectorsError(f"{path} cannot be used ({error}); choose another folder for the encodings") from error
        if card != self._card:
            raise VectorsError(
                f"{self.folder} has the encodings of {card}, not of {self._card}; choose another folder for them"
            )

    def _parts(self) -> list[Path]:
        return sorted(self.folder.glob("part-*.npz"))

    def _hashes(self) -> UInt64:
        known: list[UInt64] = [np.zeros(0, dtype=np.uint64)]
        known += [_read(part)[0] for part in self._parts()]
        return np.concatenate(known)

    def _write(self, hashes: UInt64, vectors: Float16) -> None:
        parts = self._parts()
        number = int(parts[-1].stem.removeprefix("part-")) + 1 if parts else 1

        buffer = io.BytesIO()
        np.savez(buffer, hashes=hashes, vectors=vectors)
        write_durably(self.folder / f"part-{number:06d}.npz", lambda write: write(buffer.getvalue()))


def hash_texts(texts: Sequence[str], *, seed: int = 0) -> UInt64:
    """Hash each text to 64 bits by BLAKE2b; another seed gives other hashes. n texts -> (n,)"""
    salt = seed.to_bytes(8, "little") if seed else b""
    joined = b"".join(
        hashlib.blake2b(text.encode("utf-8", "replace"), digest_size=8, salt=salt).digest() for text in texts
    )
    return np.frombuffer(joined, dtype="<u8").astype(np.uint64)


def _read(part: Path) -> tuple[UInt64, Float16]:
    try:
        with np.load(part, allow_pickle=False) as arrays:
            return arrays["hashes"], arrays["vectors"]
    except Exception as error:  # whatever zipfile and NumPy make of damaged bytes
        raise VectorsError(f"{part} is damaged ({error}); remove it, and its texts are encoded again") from error


def _load(name: str, precision: str) -> Any:
    try:
        import torch
        from sentence_transformers import SentenceTransformer  # an optional dependency
    except ImportError as error:
        raise MissingExtra("sentence-transformers", "train", distribution="./research") from error
    try:
        return SentenceTransformer(name, device=None).to(getattr(torch, precision))
    except (OSError, ValueError) as error:
        raise VectorsError(f"{name} is not a model that sentence-transformers can load: {error}") from error
