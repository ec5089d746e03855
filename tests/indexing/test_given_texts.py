"""What a program has of documents becomes texts: tuples, records, rows of tables."""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime
from pathlib import Path
from typing import Any

import pytest
from packages import Later

from semsearch import Index, Text, VectorTable
from semsearch.errors import UsageError
from semsearch.indexing.add_texts import as_texts

pandas, pyarrow = Later("pandas"), Later("pyarrow")


@pytest.mark.parametrize(
    ("given", "text"),
    [
        (Text("a", "A bee.", title="B"), Text("a", "A bee.", title="B")),
        (("a", "A bee."), Text("a", "A bee.")),
        (("a", "A bee.", {"year": 2024}), Text("a", "A bee.", metadata={"year": 2024})),
        ({"id": "a", "text": "A bee."}, Text("a", "A bee.")),
        ({"id": 7, "text": "A bee."}, Text("7", "A bee.")),
        (
            {"id": "a", "text": "# A bee.", "title": "B", "format": "markdown", "year": 2024},
            Text("a", "# A bee.", "B", {"year": 2024}, "markdown"),
        ),
        ({"id": "a", "text": "A bee.", "metadata": {"year": 1}}, Text("a", "A bee.", metadata={"year": 1})),
        ({"id": "a", "text": "A bee.", "metadata": "x"}, Text("a", "A bee.", metadata={"metadata": "x"})),
        ({"id": "a", "text": "A bee.", "title": 3}, Text("a", "A bee.", metadata={"title": 3})),
    ],
)
def test_each_way_to_give_a_document_means_a_text(given: Any, text: Text) -> None:
    assert [*as_texts([given])] == [text]


ROWS = [{"id": "a", "text": "A bee.", "year": 2024.0}, {"id": "b", "text": "A ship.", "year": None}]


class PolarsFrame:
    """As a table of Polars gives its rows."""

    columns = ("id", "text", "year")

    def iter_rows(self, *, named: bool) -> list[dict[str, Any]]:
        assert named
        return ROWS


@pytest.mark.parametrize(
    "table",
    [lambda: pandas.DataFrame(ROWS), lambda: pyarrow.Table.from_pylist(ROWS), PolarsFrame],
    ids=["pandas", "arrow", "polars"],
)
def test_the_rows_of_a_table_are_records(table: Callable[[], Any]) -> None:
    one, other = as_texts(table())
    assert one == Text("a", "A bee.", metadata={"year": 2024.0})
    assert other == Text("b", "A ship.", metadata={"year": None})


def test_a_table_of_numbers_and_dates_has_them_as_metadata(small_vectors: VectorTable, tmp_path: Path) -> None:
    frame = pandas.DataFrame({"ticket": [1, 2], "body": ["A bee.", "A ship."], "day": [datetime(2024, 5, 1), None]})
    with Index.create(tmp_path / "index", vectors=small_vectors) as index:
        assert index.add(frame, id_key="ticket", text_key="body").added == 2
        (hit,) = index.search("ship bee", filters=["day>=2024-01-01"])
        assert (hit.document, hit.metadata) == ("1", {"day": "2024-05-01T00:00:00"})
        assert index.search("ship", filters=["day=2025*"]) == []


@pytest.mark.parametrize(
    ("given", "said"),
    [
        (["a"], r"document 0 is str, not a text with its id; give Text\(id, text\), \(id, text\), "),
        ([("a", "A bee."), ("b",)], "document 1 is tuple"),
        ([("a", "A bee.", "x")], "the metadata of document 0 is 'x', not a mapping"),
        ([{"id": "a", "body": "A bee."}], "record 0 has no 'text'; it has id, body"),
        ({"id": "a", "text": "A bee."}, "add takes several documents, not one dict"),
        ("A bee.", "add takes several documents, not one str"),
        (Text("a", "A bee."), "add takes several documents, not one Text"),
        ([{"id": None, "text": "A bee."}], "the id of a Text must be a string, not NoneType"),
        ([{"id": True, "text": "A bee."}], "the id of a Text must be a string, not bool"),
        ([{"id": "a\0b", "text": "A bee."}], "has a NUL character"),
        ([{"id": "a", "passages": [{"text": "A bee.", "sentences": []}], "\ud800": 1}], "export it again"),
    ],
)
def test_what_is_no_document_is_refused_and_nothing_is_kept(
    given: Any, said: str, small_vectors: VectorTable, tmp_path: Path
) -> None:
    with Index.create(tmp_path / "index", vectors=small_vectors) as index:
        with pytest.raises(UsageError, match=said):
            index.add(given)
        assert len(index) == 0
