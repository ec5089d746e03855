"""Citations are understood in the forms in which results give them, and models give them back."""

from __future__ import annotations

import pytest
from hypothesis import given, strategies as st

from semsearch.context import harmless
from semsearch.storage.find_document import last_line_of, readings


@pytest.mark.parametrize(
    ("citation", "meant"),
    [
        ("guide.md:10", ("guide.md", 10)),
        ("guide.md:10-14", ("guide.md", 10)),
        ("guide.md:10-14, Ships", ("guide.md", 10)),
        ("a.ipynb:10 (cell 3), Ships", ("a.ipynb", 10)),
        ("C:\\notes\\a.md:7", ("C:\\notes\\a.md", 7)),
        ("report.pdf p. 3", ("report.pdf p. 3", None)),
        ("report.pdf p. 3–4", ("report.pdf p. 3", None)),
        ("report.pdf p. 3–4, Ships", ("report.pdf p. 3", None)),
        ("a b.pptx slide 3", ("a b.pptx slide 3", None)),
        ("what: a name.md", ("what: a name.md", None)),
        ("odd:12", ("odd:12", None)),
    ],
)
def test_a_citation_is_understood(citation: str, meant: tuple[str, int | None]) -> None:
    assert meant in list(readings(citation))
    assert last_line_of(citation) == (14 if "10-14" in citation else None)


@given(st.text())
def test_harmless_text_stays_harmless_and_keeps_its_letters(text: str) -> None:
    made = harmless(text)
    assert harmless(made) == made
    assert [char for char in made if char.isalnum()] == [char for char in text if char.isalnum()]
    assert not any(ord(char) < 32 and char not in "\t\n" for char in made)
