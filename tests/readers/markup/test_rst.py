"""reStructuredText, Sphinx's too: nothing a reader sees is lost, nothing outside the text is touched."""

from pathlib import Path

import pytest
from cited import passages

from semsearch.readers.document import Document
from semsearch.readers.read import read_text


def read(source: str) -> Document:
    return read_text(source, "page.rst", format="rst")


def texts(source: str) -> list[str]:
    return [block.text for block in read(source).blocks]


@pytest.mark.parametrize(
    ("source", "clean"),
    [
        ("Some **bold**, *soft* and ``code``.", "Some bold, soft and code."),
        ("See `the guide <http://x.org>`_ and that_.\n\n.. _that: http://y.org", "See the guide and that."),
        (":ref:`Title <label>`, :class:`~a.b.Cee`, :func:`!go`, :pep:`8`, :rfc:`1#x`", "Title, Cee, go, PEP 8, RFC 1"),
        (":unknown:role:`text` stays", "text stays"),
        (".. a comment\n\nText.", "Text."),
        (".. note::\n   Mind this.", "Mind this."),
        (".. unknown:: An argument\n   :option: x\n\n   Its *content*.", "An argument|Its content."),
        ("So:\n\n.. tab:: Linux\n\n   .. code-block:: sh\n\n      go", "So:|go"),
        (".. automodule:: os.path\n   :members:", ""),
        (".. c:function:: int go(void)\n\n   Goes.", "int go(void)|Goes."),
        (".. versionadded:: 3.9", "Added in version 3.9"),
        (".. code-block:: python\n   :linenos:\n\n   def go():\n       pass", "def go():\n    pass"),
        ("Like this::\n\n  a\n   b", "Like this:|a\n b"),
        (".. toctree::\n   :maxdepth: 2\n\n   one\n   two\n\nText.", "Text."),
        (".. image:: x.png\n   :alt: A map", "A map"),
        (".. |v| replace:: version 2\n\nThis is |v|.", "This is v."),
        ("A note [1]_.\n\n.. [1] The note.", "A note [1].|The note."),
        ("term\n  Its meaning.\n\n  More.", "term: Its meaning.|More."),
        ("term\n  - one", "term|one"),
        (".. option:: --deep\n   :x: y\n\n   Dives.", "--deep: Dives."),
        ("=== ===\nA   B\n=== ===\none two\n=== ===", "A | B|one | two"),
        ("* one\n* two", "one|two"),
        ("| a line\n| another", "a line\nanother"),
        (":field: value", ""),
    ],
)
def test_clean_text_has_no_markup_and_keeps_its_content(source: str, clean: str) -> None:
    assert "|".join(texts(source)) == clean


def test_sections_are_headings_by_depth() -> None:
    blocks = read("T\n=\n\nOne.\n\nS\n-\n\nU\n~\n\nTwo.\n\nV\n=\n").blocks
    assert [(block.text, block.level) for block in blocks if block.level] == [("T", 1), ("S", 2), ("U", 3), ("V", 1)]


@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"])
def test_lines_and_offsets_are_exact(end: str) -> None:
    source = (
        "Title\n=====\n\nOne *two*\nthree. Four\f\u2028 :pep:`8`.\n\n"
        ".. note::\n\n   In a\n   note. Here.\n\n- item. More.\n\n+---+---+\n| a | b |\n+---+---+\n\n::\n\n  code one\n"
    ).replace("\n", end)
    found = [(source[s.source_start : s.source_end], s.line) for p in passages(read(source)) for s in p.sentences]
    assert found == [
        (f"One *two*{end}three.", 4),
        ("Four\f\u2028 :pep:`8`.", 5),
        (f"In a{end}   note.", 9),
        ("Here.", 10),
        ("item.", 12),
        ("More.", 12),
        ("a | b", 15),
        ("code one", 20),
    ]


def test_the_headers_of_a_pep_are_metadata() -> None:
    for end in ("\n", "\r\n"):
        header = "PEP: 8\nTitle: A Style\nAuthor: A <a@x.org>,\n        B\nPost-History:\n\n"
        document = read((header + "Text\n====\n\nWords.\n").replace("\n", end))
        assert document.metadata == {"PEP": "8", "Title": "A Style", "Author": "A <a@x.org>, B", "Post-History": ""}
        assert document.title == "A Style"
        assert [block.text for block in document.blocks] == ["Text", "Words."]


def test_a_field_list_at_the_top_or_under_the_first_title_is_metadata() -> None:
    for source in (
        ":Author: A\n:Status: *Final*\n\nTitle\n=====\n\nText.",
        "Title\n=====\n\n:Author: A\n:Status: Final\n\nText.",
    ):
        document = read(source)
        assert document.metadata == {"Author": "A", "Status": "Final"}
        assert (document.title, document.blocks[-1].text) == ("Title", "Text.")


def test_no_file_is_included_and_nothing_is_printed(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    secret = tmp_path / "secret.txt"
    secret.write_text("my words")
    directives = [f".. include:: {secret}", f".. csv-table::\n   :file: {secret}", f".. raw:: html\n   :file: {secret}"]
    found = "\n".join(texts("\n\n".join([*directives, "*bad `mark\n"])))
    assert "my words" not in found
    assert capfd.readouterr() == ("", "")


@pytest.mark.parametrize("mark", ["|sub ", "`sub ", ":role:`x ", "*sub ", "``sub ", "_`sub "])
def test_marks_without_an_end_cost_only_the_markup(mark: str) -> None:
    assert texts("A *first* one.\n\n" + mark * 20_000)[0] == "A first one."


@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"])
def test_markup_within_a_paragraph_is_placed_exactly(end: str) -> None:
    source = (
        "- See ``**``, *so\n  it* is, and `text\n  <http://x.org>`__; :pep:`8`!\n\n  :py:func:`~a.go` [1]_ there_."
    ).replace("\n", end)
    first, second = read(source).blocks
    assert (first.text, second.text) == ("See **, so\nit is, and text; PEP 8!", "go [1] there.")
    for block in (first, second):
        for word in ("See", "so", "it", "is", "and", "text", "8", "!", "go", "[1]", "there", "."):
            if word in block.text:
                assert source.startswith(word, block.source_offset(block.text.index(word)))
