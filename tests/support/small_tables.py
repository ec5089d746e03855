"""Write a small table of word vectors; semsearch-research has a writer for large ones, row by row."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from semsearch.arrays.hash_table import HashIndex
from semsearch.arrays.types import Floating
from semsearch.text.tokens import TOKENISER_VERSION, hash_words
from semsearch.word_vectors.table import FORMAT, Dtype, VectorTable, digest_of


def write_table(
    folder: Path, words: Sequence[str], vectors: Floating, p: Floating, *, dtype: Dtype = "float32", **card: Any
) -> VectorTable:
    """Write words (V), vectors (V, d) and p(w) (V,) into a new folder, with more lines for its card."""
    folder.mkdir(parents=True)
    arrays: dict[str, Any] = {"vectors": np.asarray(vectors).astype(dtype), "frequencies": np.asarray(p, np.float32)}
    if dtype == "int8":
        scales = np.abs(vectors).max(axis=1).astype(np.float32) / 127
        arrays |= {"vectors": np.rint(vectors / scales[:, None]).astype(np.int8), "scales": scales}
    index = HashIndex(expected=len(words))
    index.insert(hash_words(words).hashes, np.arange(len(words), dtype=np.int32))
    for name, array in {**arrays, "keys": index.keys, "slots": index.values}.items():
        np.save(folder / f"{name}.npy", array)
    (folder / "words.txt").write_text("".join(f"{word}\n" for word in words), encoding="utf-8", newline="\n")
    details = {"format": FORMAT, "name": folder.name, "words": len(words), "dimension": len(vectors[0]), "dtype": dtype}
    details |= {"tokeniser": TOKENISER_VERSION, **card, "digest": digest_of(folder)}
    (folder / "card.json").write_text(json.dumps(details), encoding="utf-8")
    return VectorTable(folder)
