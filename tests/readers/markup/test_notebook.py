"""Notebooks, as nbformat writes them: cells and their text."""

from __future__ import annotations

import json

import pytest
from cited import places
from hypothesis import given, strategies as st

from semsearch.errors import SourceError
from semsearch.readers.document import Document
from semsearch.readers.read import read_bytes

MARKDOWN = '# Tides\n\nThe *moon* said "pull" to the sea.\n\n- Größe zählt.\n- A tab\there.'
CODE = 'def tide(moon):\n    return "high\\n"  # why not\n'


def read(notebook: str) -> Document:
    return read_bytes(notebook.encode(), "tides.ipynb")


def written(*cells: tuple[str, str]) -> str:
    nbformat = pytest.importorskip("nbformat")
    new = nbformat.v4
    makers = {"markdown": new.new_markdown_cell, "code": new.new_code_cell, "raw": new.new_raw_cell}
    made = [makers[kind](text) for kind, text in cells]
    for cell in made:
        if cell.cell_type == "code":
            cell.outputs = [new.new_output("stream", text='\n\x1b[31mThe tide\x1b[0m is "high".\n')]
    return str(nbformat.writes(new.new_notebook(cells=made)))


def test_cells_are_read_as_what_they_are() -> None:
    document = read(written(("markdown", MARKDOWN), ("code", CODE), ("raw", "Plain.\n\nMore.")))
    assert (document.title, document.format) == ("Tides", "notebook")
    assert places(document) == [
        ("cell 1", "Tides"),
        ("cell 1", 'The moon said "pull" to the sea.'),
        ("cell 1", "Größe zählt."),
        ("cell 1", "A tab\there."),
        ("cell 2", CODE.rstrip()),
        ("cell 2, output", 'The tide is "high".'),
        ("cell 3", "Plain."),
        ("cell 3", "More."),
    ]
    assert document.blocks[0].level == 1


def test_results_and_errors_are_read_as_text_and_pictures_and_html_are_not() -> None:
    outputs: list[dict[str, object]] = [
        {"output_type": "execute_result", "data": {"text/html": "<b>x</b>", "text/plain": ["'a", " result'"]}},
        {"output_type": "display_data", "data": {"image/png": "AAAA"}},
        {"output_type": "error", "ename": "ValueError", "evalue": "no such tide", "traceback": ["..."]},
        {"output_type": "stream", "text": "much " * 5_000},
    ]
    document = read(json.dumps({"cells": [{"cell_type": "code", "source": "x", "outputs": outputs}]}))
    assert [block.text[:12] for block in document.blocks] == ["x", "'a result'", "no such tide", "much much mu"]
    assert len(document.blocks[-1].text) <= 10_000


@pytest.mark.parametrize(
    "wrong",
    ["[1, 2]", '{"cells": 3}', '{"cells": [}', '{"cells": [1', "words", '{"cells" []}', '{"a": 01}', '{"a": "b'],
)
def test_what_is_no_notebook_is_an_error_that_says_so(wrong: str) -> None:
    with pytest.raises(SourceError, match=r"tides\.ipynb is not (a notebook|valid JSON)"):
        read(wrong)


def test_a_damaged_notebook_names_the_line_and_a_deep_one_is_refused() -> None:
    with pytest.raises(SourceError, match="line 2 "):
        read('{"cells":\n[}')
    with pytest.raises(SourceError, match="nested too deeply"):
        read('{"cells": ' + "[" * 100_000)


WORDS = st.text(st.sampled_from('abcé😀 "\\\n\t*_/'), max_size=60)


@given(st.lists(WORDS, max_size=4), st.booleans())
def test_code_comes_out_as_it_went_in(cells: list[str], ascii_only: bool) -> None:
    source = json.dumps(
        {"cells": [{"cell_type": "code", "source": cell.splitlines(keepends=True)} for cell in cells]},
        ensure_ascii=ascii_only,
    )
    document = read(source)
    assert [block.text.strip() for block in document.blocks] == [cell.strip() for cell in cells if cell.strip()]
