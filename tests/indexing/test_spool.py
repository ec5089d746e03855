"""A spool gives back what was put in, as often as asked."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np

from semsearch.indexing.spool import Spool, SpoolWriter
from semsearch.text.ragged import Ragged


def letters(texts: Sequence[str], _: Sequence[str]) -> Ragged:
    """Each letter is a word whose id is its position in the alphabet."""
    return Ragged(
        np.array([ord(letter) - 97 for text in texts for letter in text], dtype=np.int32),
        np.cumsum([0] + [len(text) for text in texts]),
    )


def texts(ragged: Ragged) -> list[str]:
    return ["".join(chr(97 + id_) for id_ in ragged.part(row, row + 1).ids) for row in range(len(ragged))]


def test_passages_and_sentences_come_back_with_their_ids(tmp_path: Path) -> None:
    with Spool(tmp_path) as spool:
        writer = SpoolWriter(spool, letters, batch=4)
        writer.add(7, 100, "h", ["ab", "c"])
        writer.add(8, 102, "", ["d"])
        writer.add(9, 103, "k", [])
        writer.add(12, 110, "", ["ef", "", "g"])
        writer.flush()
        writer.flush()
        assert spool.sentences == 6
        for _ in range(2):
            batches = list(spool)
            assert [id_ for batch in batches for id_ in batch.passage_ids] == [7, 8, 9, 12]
            assert [id_ for batch in batches for id_ in batch.sentence_ids] == [100, 101, 102, 110, 111, 112]
            assert [text for batch in batches for text in texts(batch.passages)] == ["habc", "d", "k", "efg"]
            assert [text for batch in batches for text in texts(batch.sentences)] == ["ab", "c", "d", "ef", "", "g"]
