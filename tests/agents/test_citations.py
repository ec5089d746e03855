"""Citations are understood in the forms in which results give them, and models give them back."""

from __future__ import annotations

import pytest
from hypothesis import given, strategies as st

from semsearch.citations import CitedPlace, by_citation, harmless, readings
from semsearch.errors import SourceError


@pytest.mark.parametrize(
    ("citation", "meant"),
    [
        ("guide.md:10", CitedPlace("guide.md", 10)),
        ("guide.md:10-14", CitedPlace("guide.md", 10, 14)),
        ("guide.md:10-14, Ships", CitedPlace("guide.md", 10, 14)),
        ("a.ipynb:10 (cell 3), Ships", CitedPlace("a.ipynb", 10)),
        ("C:\\notes\\a.md:7", CitedPlace("C:\\notes\\a.md", 7)),
        ("report.pdf p. 3", CitedPlace("report.pdf p. 3")),
        ("report.pdf p. 3–4", CitedPlace("report.pdf p. 3")),
        ("report.pdf p. 3–4, Ships", CitedPlace("report.pdf p. 3")),
        ("a b.pptx slide 3", CitedPlace("a b.pptx slide 3")),
        ("what: a name.md", CitedPlace("what: a name.md")),
        ("odd:12", CitedPlace("odd:12")),
    ],
)
def test_a_citation_is_understood(citation: str, meant: CitedPlace) -> None:
    assert meant in list(readings(citation))


@given(st.text(max_size=30))
def test_any_text_has_a_reading_and_an_unknown_one_is_the_first_error(citation: str) -> None:
    def ask(place: CitedPlace) -> None:
        raise SourceError(place.path)

    with pytest.raises(SourceError) as raised:
        by_citation(citation, ask)
    assert str(raised.value) == next(readings(citation)).path


@given(st.text())
def test_harmless_text_stays_harmless_and_keeps_its_letters(text: str) -> None:
    made = harmless(text)
    assert harmless(made) == made
    assert [char for char in made if char.isalnum()] == [char for char in text if char.isalnum()]
    assert not any(ord(char) < 32 and char not in "\t\n" for char in made)
