"""The table of a language is written from arrays, or refused."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from semsearch.errors import VectorsError
from semsearch.text.ragged import OovWords
from semsearch_research.train.language_table_file import write_language_table


@pytest.mark.parametrize(
    ("words", "p", "says"),
    [
        (["eins", "eins"], [0.1, 0.1], "occurs twice"),
        (["eins", "zwei"], [0.1, 0.0], "p\\(w\\) above 0"),
        (["eins"], [0.1, 0.1], "do not belong together"),
    ],
)
def test_what_cannot_be_a_table_is_not_written(tmp_path: Path, words: list[str], p: list[float], says: str) -> None:
    vectors = np.random.default_rng(0).standard_normal((len(words), 4))
    with pytest.raises(VectorsError, match=says):
        write_language_table(tmp_path / "x", "de", words, vectors, np.array(p), parts=2, card={"space": "s"})
    assert not (tmp_path / "x").exists()


def test_each_word_has_nearly_its_vector_and_its_probability(tmp_path: Path) -> None:
    words = [f"wort{number}" for number in range(2000)]
    vectors, p = np.random.default_rng(0).standard_normal((2000, 8)), np.linspace(1e-2, 1e-5, 2000)
    table = write_language_table(tmp_path / "x", "de", words, vectors, p, parts=8, card={"space": "s"})
    ids = table.lookup(OovWords.of(words).hashes)
    rows = table.rows(ids)
    cosines = (rows * vectors).sum(axis=1) / np.linalg.norm(rows, axis=1) / np.linalg.norm(vectors, axis=1)
    assert cosines.min() > 0.99  # the lengths are coarser, and count little
    assert np.allclose(table.frequencies[ids], p, rtol=0.05)
    assert table.verify()
