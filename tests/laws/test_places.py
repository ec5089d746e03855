"""A hit cites the place of its sentence, and there it is found again by the format's own library."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from cited import cited_sentences
from hypothesis import given, settings, strategies as st
from packages import needed
from sample_files.placed_files import KINDS, PlacedKind
from small import TOPICS

from semsearch import Hit, Index
from semsearch.errors import SourceError
from semsearch.readers.read import read_bytes
from semsearch.results.hits import own_terms
from semsearch.word_vectors.table import VectorTable

for library in ("docx", "pptx", "openpyxl", "nbformat", "pypdfium2", "reportlab"):
    needed(library)

WORDS = [*(word for words in TOPICS.values() for word in words.split()), "Größe", "naïve", "R&D", "日本"]
each_kind = pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.name)


@st.composite
def sentences(draw: st.DrawFn) -> str:
    words = draw(st.lists(st.sampled_from(WORDS), min_size=3, max_size=12))
    return f"The {' '.join(words)} goes{draw(st.sampled_from('.!?'))}"


@each_kind
@given(units=st.lists(st.lists(sentences(), min_size=1, max_size=4), min_size=2, max_size=6))
@settings(max_examples=10)
def test_every_sentence_comes_once_in_order_with_its_place_and_nothing_else(
    kind: PlacedKind, units: list[list[str]]
) -> None:
    found = [
        (" ".join(text.split()), page, place)
        for text, page, place in cited_sentences(read_bytes(kind.write(units), kind.name))
        if text not in ("Tides & co",)
    ]
    assert found == [cited for number, unit in enumerate(units, start=1) for cited in kind.cite(number, unit)]


@pytest.fixture(scope="module")
def index(tmp_path_factory: pytest.TempPathFactory, small_vectors: VectorTable) -> Iterator[Index]:
    """An index of a file of each kind. Every sentence has a word that no other one has."""
    folder = tmp_path_factory.mktemp("places")
    (folder / "docs").mkdir()
    for letter, kind in enumerate(KINDS):
        (folder / "docs" / kind.name).write_bytes(kind.write(units_of(letter)))
    with Index.create(folder / "index", vectors=small_vectors) as made:
        assert made.sync(folder / "docs").skipped == ()
        yield made


def units_of(letter: int) -> list[list[str]]:
    return [[f"The captain of ship {word(letter, u, s)} sails the wave." for s in range(3)] for u in range(6)]


def word(letter: int, unit: int, sentence: int) -> str:
    return f"q{chr(97 + letter)}{chr(97 + unit)}{chr(97 + sentence)}z"


def found(index: Index, wanted: str) -> Hit:
    [hit] = index.search(wanted, mode="lexical")
    assert wanted in hit.sentence.lower()
    return hit


@each_kind
def test_the_source_has_the_sentence_at_the_cited_place(index: Index, kind: PlacedKind) -> None:
    for number, unit in enumerate(units_of(KINDS.index(kind)), start=1):
        for sentence in unit:
            hit = found(index, sentence.split()[4])
            assert " ".join(hit.sentence.split()).endswith(sentence)
            assert (hit.page, hit.place) in [(page, place) for _, page, place in kind.cite(number, unit)]
            assert hit.place is not None
            path = Path(hit.root) / hit.document
            assert sentence in " ".join(kind.text_at(path, hit.page, hit.place).split())


@each_kind
def test_what_is_like_a_hit_and_what_a_context_quotes_have_places_too(index: Index, kind: PlacedKind) -> None:
    hit = found(index, word(KINDS.index(kind), 5, 1))
    assert all(other.place for other in index.similar(hit, k=50))
    context = index.context(word(KINDS.index(kind), 5, 1), mode="lexical", max_words=2000)
    [citation] = context.citations
    assert (citation.place, citation.last_place) != (None, None)
    assert citation.page == citation.last_page == hit.page
    assert word(KINDS.index(kind), 5, 1) in citation.text


@each_kind
def test_a_passage_can_be_named_as_it_is_cited(index: Index, kind: PlacedKind) -> None:
    hit = found(index, word(KINDS.index(kind), 3, 0))
    cited = f"{hit.path} {own_terms(hit.position)}"
    assert [other.passage_id for other in index.similar(cited)] == [other.passage_id for other in index.similar(hit)]
    with pytest.raises(SourceError, match="has nothing at 'slide 99'"):
        index.similar(f"{hit.path} slide 99")


def test_a_pdf_has_the_sentence_on_the_cited_page_where_it_is_said_to_stand(
    tmp_path: Path, small_vectors: VectorTable
) -> None:
    import pypdfium2
    from reportlab.lib.styles import ParagraphStyle
    from reportlab.platypus import BaseDocTemplate, Frame, PageTemplate, Paragraph

    (tmp_path / "docs").mkdir()
    path = tmp_path / "docs" / "paper.pdf"
    document = BaseDocTemplate(str(path), pagesize=(400, 500))
    document.addPageTemplates(PageTemplate(frames=[Frame(40, 30, 160, 440), Frame(210, 30, 160, 440)]))
    style = ParagraphStyle("text", fontSize=9, leading=11, spaceAfter=6)
    words = [word(1, unit, sentence) for unit in range(12) for sentence in range(14)]
    texts = [f"{each.title()} sails a ship across the sea, and the storm is loud at night." for each in words]
    document.build([Paragraph(" ".join(texts[n : n + 7]), style) for n in range(0, len(texts), 7)])
    with Index.create(tmp_path / "index", vectors=small_vectors) as index, pypdfium2.PdfDocument(path) as opened:
        index.sync(tmp_path / "docs")
        assert len(opened) >= 3
        for each in words:
            hit = found(index, each)
            assert hit.page is not None
            assert hit.place is not None
            assert " ".join(hit.sentence.split()) in texts
            page = opened[hit.page - 1].get_textpage()
            left, bottom, right, top = corner(hit.place, 400, 500)
            shown = page.get_text_bounded(
                left, bottom, right, top + 12
            )  # the line that begins there, to its full height
            page.close()
            assert each.title() in shown, (hit.place, shown)


def corner(place: str, width: float, height: float) -> tuple[float, float, float, float]:
    """Left, bottom, right and top of a third of a page."""
    bottom = {"top": 2, "middle": 1, "bottom": 0}[place] * height / 3
    return 0.0, bottom, width, bottom + height / 3


PYTHON = """class Harbour:
    \"\"\"The first one is here.

    The second one is there.\"\"\"

    def rise(self):
        # The third one is a comment.
        return 1  # The fourth one stands beside.

    async def fall(self):
        def inner():
            \'The fifth one is within.\'
        # The sixth one is back.


# The seventh one is in no function.
"""


def test_python_has_the_sentence_in_the_cited_function_and_line(tmp_path: Path, small_vectors: VectorTable) -> None:
    tree, lines = ast.parse(PYTHON), PYTHON.splitlines()
    with indexed(tmp_path, small_vectors, "harbour.py", PYTHON) as index:
        for number in ("first", "second", "third", "fourth", "fifth", "sixth", "seventh"):
            hit = found(index, number)
            assert hit.sentence.rstrip(".") in lines[hit.line - 1]
            node = named(tree, hit.place)
            inner = [
                child
                for child in ast.walk(node)
                if child is not node and isinstance(child, ast.FunctionDef | ast.AsyncFunctionDef)
            ]
            assert getattr(node, "lineno", 1) <= hit.line <= getattr(node, "end_lineno", len(lines)) + 1
            assert not any(child.lineno <= hit.line <= (child.end_lineno or 0) for child in inner)
            assert hit.headings == () or hit.place is not None


def named(tree: ast.AST, place: str | None) -> ast.AST:
    """The node of a qualified name; the module's, for none."""
    for name in place.split(".") if place else ():
        [tree] = [node for node in ast.iter_child_nodes(tree) if getattr(node, "name", None) == name]
    return tree


LINES = {
    "a.txt": "The captain sails.\n\nA storm {word} comes.\n",
    "a.md": "# Ships\n\nThe *captain* sails.\n\n- A storm {word} comes.\n",
    "a.rst": "Ships\n=====\n\nThe *captain* sails.\n\n* A storm {word} comes.\n",
    "a.html": "<h1>Ships</h1>\n<p>The captain sails.\n<p>A storm {word} comes.\n",
    "a.org": "* Ships\nThe captain sails.\n\nA storm {word} comes.\n",
    "a.man": ".TH A 1\n.SH SHIPS\nThe captain sails.\n.PP\nA storm {word} comes.\n",
    "a.adoc": "= Ships\n\nThe captain sails.\n\nA storm {word} comes.\n",
    "a.tex": "\\section{{Ships}}\nThe captain sails.\n\nA storm {word} comes.\n",
    "a.js": "// The captain sails.\nfunction ship() {{\n  // A storm {word} comes.\n}}\n",
    "a.tsv": "who\twhat\nAnn\tThe captain sails.\nBen\tA storm {word} comes.\n",
}


@pytest.mark.parametrize("name", LINES)
def test_what_has_lines_is_cited_by_its_line(name: str, tmp_path: Path, small_vectors: VectorTable) -> None:
    text = LINES[name].format(word="qqz")
    with indexed(tmp_path, small_vectors, name, text) as index:
        hit = found(index, "qqz")
        assert "A storm qqz comes." in text.splitlines()[hit.line - 1]
        assert hit.page is None
        assert hit.place == {"a.js": "ship", "a.tsv": "row 3"}.get(name)


@contextmanager
def indexed(folder: Path, vectors: VectorTable, name: str, text: str) -> Iterator[Index]:
    (folder / "docs").mkdir()
    (folder / "docs" / name).write_text(text, encoding="utf-8")
    with Index.create(folder / "index", vectors=vectors) as index:
        index.sync(folder / "docs")
        yield index
