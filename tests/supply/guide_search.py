"""Export the guide's index for a page that searches it by itself: words with their vectors, and the text.

A sentence embedding here is a sum over words from which a fixed direction is removed, and so is the vector of topics.
Both are linear, so that weight, removal and projection are done once for each word of the guide: the page adds up the
vectors of its words, for a question as for a passage, and needs no other vectors (guide_search.js). The file is a
header in JSON and two arrays of int8, whose rows have a scale each.

    length of the header, uint32 · header · words (w, d) int8 · terms (t, k) int8
"""

from __future__ import annotations

import json
import re
import struct
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from semsearch import Index
from semsearch.text.terms import STOP_WORDS, of_question
from semsearch.text.tokens import words

DIMENSION, TOPICS = 192, 144  # of 256 and 192: those along which the guide's passages differ most
LEVELS = 40  # of a number, above and below zero: few, so that more dimensions fit; sums over words even it out
_COMMON = 1000  # frequent words that the guide lacks, for questions


def export(docs: Path, folder: Path) -> bytes:
    """Index a folder and return the file. `folder` is where the index, guide, is made."""
    with Index.create(folder / "guide") as index:
        index.sync(docs)
        index.export(folder / "passages.jsonl", unit="passages", vectors=True)
        index.export(folder / "sentences.jsonl", unit="sentences")
        embedder, topics = index.searcher.in_one_generation(lambda db, reader: (reader.embedder(db), reader.topics))
    assert embedder is not None
    assert topics is not None
    passages = _lines(folder / "passages.jsonl")
    sentences: dict[int, list[str]] = {}
    for one in _lines(folder / "sentences.jsonl"):
        sentences.setdefault(one["passage_id"], []).append(one["text"])
    texts = [" ".join([one["title"], *one["headings"], one["text"]]) for one in passages]
    own = list(dict.fromkeys(word for text in texts for word in words(text)))
    table = embedder.chosen_.vectors
    common = [word for word in table.words[: 4 * _COMMON] if word.isalpha() and word not in set(own)][:_COMMON]
    every = own + common
    batch = embedder.tokenize(every, ["en"] * len(every))
    general = embedder.common_.remove(embedder.raw(batch))
    joined = np.array([one["vector"] for one in passages], dtype=np.float32)
    general = general @ _axes(joined[:, : general.shape[1]], DIMENSION)
    hashes = [int(of_question(word)[0]) for word in own]
    terms = list(dict.fromkeys(hashes))
    at = np.searchsorted(topics.terms, np.array(terms, dtype=np.uint64)).clip(max=len(topics.terms) - 1)
    known = topics.terms[at] == np.array(terms, dtype=np.uint64)
    rows = topics.loadings[at].astype(np.float32) * (topics.idf[at] * known)[:, None]
    rows = rows @ _axes(joined[:, joined.shape[1] - rows.shape[1] :], TOPICS)
    numbers = {term: number for number, term in enumerate(terms)}
    general_rows, general_scales = _small(general)
    term_rows, term_scales = _small(rows)
    header = {
        "words": every,
        "terms": [numbers[term] for term in hashes],
        "stop": sorted(STOP_WORDS),
        "dimension": DIMENSION,
        "topics": TOPICS,
        "scales": [general_scales, term_scales],
        "passages": [
            [_path(one, docs), one["title"], one["headings"], _anchor(one), sentences.get(one["passage_id"], [])]
            for one in passages
        ],
    }
    text = json.dumps(header, ensure_ascii=False, separators=(",", ":")).encode()
    return struct.pack("<I", len(text)) + text + general_rows.tobytes() + term_rows.tobytes()


def header_of(file: bytes) -> Any:
    """The header of an exported file."""
    (length,) = struct.unpack_from("<I", file)
    return json.loads(file[4 : 4 + length])


def _path(passage: dict[str, Any], docs: Path) -> str:
    return Path(passage["document"]).resolve().relative_to(docs.resolve().parent).as_posix()


def _anchor(passage: dict[str, Any]) -> str:
    """The anchor of the heading that a passage is below; empty if that is the page's own."""
    below = [heading for heading in passage["headings"] if heading != passage["title"]]
    return re.sub(r"[^\w\- ]", "", below[-1].lower()).replace(" ", "-") if below else ""


def _lines(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]


def _axes(vectors: npt.NDArray[np.float32], count: int) -> npt.NDArray[np.float32]:
    """The directions along which vectors are longest. (n, d) -> (d, count)"""
    _, directions = np.linalg.eigh(vectors.T @ vectors)
    return np.asarray(directions[:, ::-1][:, :count], dtype=np.float32)


def _small(rows: npt.NDArray[np.float32]) -> tuple[npt.NDArray[np.int8], list[float]]:
    """Rows as int8, and what each is multiplied by."""
    scales = np.abs(rows).max(axis=1) / LEVELS
    small = np.rint(rows / np.maximum(scales, 1e-12)[:, None]).astype(np.int8)
    return small, [float(f"{scale:.4g}") for scale in scales]
