"""Texts that a program adds are checked one by one, and known again by all that they say."""

from __future__ import annotations

from datetime import date
from pathlib import Path

import pytest

from semsearch.errors import UsageError
from semsearch.index import Index
from semsearch.indexing.add_texts import checked_texts
from semsearch.readers.document import Text
from semsearch.word_vectors.table import VectorTable


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("The ship.", "not str"),
        (Text("", "The ship."), "is empty"),
        (Text("a", b"The ship."), "the text of a Text must be a string, not bytes"),  # type: ignore[arg-type]
        (Text("a", "The ship.", title=None), "the title of a Text must be a string"),  # type: ignore[arg-type]
        (Text("\udcff", "The ship."), "not valid Unicode"),
    ],
)
def test_what_cannot_be_kept_is_refused_and_said_why(text: Text, said: str) -> None:
    with pytest.raises(UsageError, match=said):
        list(checked_texts([text]))


def test_only_a_text_that_says_something_else_is_taken_in_again(tmp_path: Path, small_vectors: VectorTable) -> None:
    text = Text("a", "The ship.", title="Ships", metadata={"day": date(2024, 5, 1), "pages": 3})
    others = [
        Text("a", "The ship.", title="Ships", metadata={"day": "2024-05-02", "pages": 3}),
        Text("a", "The ship.", title="A ship", metadata={"day": "2024-05-02", "pages": 3}),
        Text("a", "A ship.", title="A ship", metadata={"day": "2024-05-02", "pages": 3}),
        Text("a", "A ship.", title="A ship", metadata={"day": "2024-05-02", "pages": 3}, format="markdown"),
    ]
    with Index.create(tmp_path / "index", vectors=small_vectors) as index:
        assert index.add([text]).added == 1
        assert index.add([Text("a", "The ship.", title="Ships", metadata={"day": "2024-05-01", "pages": 3})]).unchanged
        for other in others:
            assert index.add([other]).changed == 1
            assert index.add([other]).unchanged == 1
        assert index.verify() == []
