"""Questions to try an index with."""

from __future__ import annotations

from pathlib import Path

import numpy as np
from small import small_vectors, write_articles

from semsearch.index import Index
from semsearch.indexing.generation import few_words, questions_of
from semsearch.storage.fitted import load_embedder


def test_a_question_is_the_longest_words_of_a_sentence_in_their_order() -> None:
    assert few_words("The old captain of the ship has a telescope and an anchor.") == "captain telescope anchor"
    assert few_words("Ships sail.") == "ships sail"
    assert few_words("one two six ten") == "one two six"
    assert few_words("...") == ""


def test_questions_are_embedded_as_a_search_embeds_them(tmp_path: Path) -> None:
    write_articles(tmp_path / "docs", 6)
    vectors = small_vectors(tmp_path)
    with Index.create(tmp_path / "index", vectors=vectors) as index:
        index.sync(tmp_path / "docs")
        with index._database.reading() as db:
            embedder = load_embedder(db, vectors)
            assert embedder is not None
            (text,) = db.execute("SELECT text FROM passages WHERE id = 3").fetchone()
            asked = questions_of(db, embedder, None, np.array([3, 4000]))
            middle = text.split(". ")[2]
            assert np.array_equal(asked, embedder.transform([few_words(middle)]))
            assert len(questions_of(db, embedder, None, np.array([4000]))) == 0
