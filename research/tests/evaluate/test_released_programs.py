"""Our SIF and uSIF have the cosines that the authors' programs print for the made-up vectors, counts and pairs below:
SIF's `SIF_embedding.py` with the weights of `data_io.py`, uSIF's `usif.py`, whose tokeniser has nothing to do here."""

from __future__ import annotations

import math
from pathlib import Path

import numpy as np
import pytest

from semsearch import SentenceEmbedder
from semsearch.embedding.weights import usif_a
from semsearch.word_vectors.table import VectorTable
from semsearch_research.word_tables.table_writer import TableWriter
from semsearch_research.word_tables.word_counts import shares

WORDS = "the a ship sails dawn sea bread oven warm mia zyx last".split()  # the program finds "last" for unknown words
COUNTS = {"the": 9000, "a": 7000, "ship": 40, "sails": 25, "dawn": 12, "sea": 60, "bread": 30, "oven": 9, "warm": 45}
COUNTS |= {f"filler{number}": 5 for number in range(40)}
DIMENSION = 6
PAIRS = (
    ("the ship sails", "a ship sails the sea"),
    ("warm bread", "the oven"),
    ("mia sails at dawn", "the dawn sea"),
    ("a warm sea", "bread oven mia"),
    ("the zyx ship", "a zyx oven"),
    ("qqq bread", "bread warm the the"),
)
KNOWN = (*PAIRS[:2], ("a sea", "the dawn sea"), ("a warm sea", "bread oven"))
TOGETHER = (0.7046106, -0.7472567, -0.7636091, -0.3557008)  # SIF_embedding.py on both sides of KNOWN at once
USIF_A = 0.9591836734693878
USIF = (0.9387408, -0.0595794, 0.5698826, 0.3379054, 0.4136731, -0.0266412)


@pytest.fixture
def vectors(tmp_path: Path) -> VectorTable:
    """Word i has in dimension j sin(1.7 (i + 1) (j + 1)) + cos(0.3 i - j) + 0.4."""
    rows = [
        [round(math.sin(1.7 * (i + 1) * (j + 1)) + math.cos(0.3 * i - j) + 0.4, 6) for j in range(DIMENSION)]
        for i in range(len(WORDS))
    ]
    total = sum(COUNTS.values())
    p = np.array([COUNTS.get(word, 5) / total for word in WORDS], dtype=np.float32)  # 5 is the least count
    with TableWriter(tmp_path / "made", dtype="float32") as writer:
        writer.add(WORDS, np.array(rows, dtype=np.float32))
        return writer.finish(p, card={"name": "made"})


def both_sides(given: tuple[tuple[str, str], ...]) -> list[str]:
    return [one for one, _ in given] + [other for _, other in given]


def test_our_sif_has_the_programs_cosines_where_all_words_are_known_and_counted(vectors: VectorTable) -> None:
    rows = SentenceEmbedder(vectors, method="sif").fit_transform(both_sides(KNOWN))
    first, second = np.split(rows, 2)
    assert np.einsum("ij,ij->i", first, second) == pytest.approx(TOGETHER, abs=2e-6)


def test_our_usif_has_the_programs_cosines(vectors: VectorTable) -> None:
    a = usif_a(shares(COUNTS), 11)
    assert a == pytest.approx(USIF_A)
    rows = SentenceEmbedder(vectors, method="usif", a=a).fit_transform(both_sides(PAIRS))
    first, second = np.split(rows, 2)
    assert np.einsum("ij,ij->i", first, second) == pytest.approx(USIF, abs=2e-6)
