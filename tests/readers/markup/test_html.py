"""HTML: what a reader of the page sees, and where it stands in the source."""

import pytest
from cited import passages

from semsearch.readers.document import Document
from semsearch.readers.read import read_bytes, read_text


def read(source: str) -> Document:
    return read_text(source, "page.html", format="html")


def texts(source: str) -> list[str]:
    return [block.text for block in read(source).blocks]


@pytest.mark.parametrize(
    ("source", "clean"),
    [
        ("<p>Some <b>bold</b>,\n <i>soft</i>&nbsp;text &amp; <a href='x'>links</a>.", "Some bold, soft text & links."),
        ("<p>One<p>Two<div>Three<p>Four</p>Five</div>", "One/Two/Three/Four/Five"),
        ("<p>Line<br>break", "Line\nbreak"),
        ("<ul><li>One<li>Two</ul>", "One/Two"),
        ("<pre>\ndef go():\n    pass\n</pre>", "def go():\n    pass"),
        ("<table><tr><th>A<th>B<tr><td>one.<td><p>two</p><tr><td>x<td></table>", "A | B/one. two/x"),
        ("<table><tr><td><h2>Menu</h2><p>x</p><td><p>y</p><p>z</p></table>", "Menu/x/y/z"),
        ("<script>var x</script><style>p{}</style><nav>Menu</nav><template>T</template><p>Text", "Text"),
        ("<p>Click <button>OK</button><span hidden>not</span> here<svg><text>drawn</text></svg>", "Click here"),
        ("<div style='display: none'>not</div><div role=navigation>not</div><p>Text", "Text"),
        ("<p>Next: <a accesskey=n href=x>Two</a>, [<a rel=index href=y>Index</a>]<p>Text", "Text"),
        ("<div><a rel=index href=y>Index</a> of all<p>Text</div>", "Index of all/Text"),
        ("<h2>Title<a class=headerlink href='#t'>¶</a></h2>", "Title"),
        ("<p>soft&shy;ware <img alt='A map' src=x>", "software A map"),
        ("<!-- <p>not this --><p>Text", "Text"),
        ("just text", "just text"),
        ("<p>one&#10;word", "one word"),
    ],
)
def test_only_what_a_reader_sees_is_kept(source: str, clean: str) -> None:
    assert "/".join(texts(source)) == clean


PAGE = """<!DOCTYPE html>
<html><head><title>A &amp; B</title>
<style>p { color: red }</style></head>
<body><nav><ul><li>One<li>Guide to words</ul></nav>
<h1>Guide</h1>
<p>First <b>bold</b> words,
  caf&eacute;s &amp; foo<i>bar</i>. Then <a href="first/words">more</a>!
<script>var p = "First bold words";</script>
<svg><text>First</text></svg>
<p>First again.</p>
<table><tr><td>one</td><td>two</td></tr></table>
<pre>
  code &lt; here
</pre>
"""


@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"])
def test_lines_and_offsets_are_exact(end: str) -> None:
    source = PAGE.replace("\n", end)
    found = [(source[s.source_start : s.source_end], s.line) for p in passages(read(source)) for s in p.sentences]
    assert found == [
        (f"First <b>bold</b> words,{end}  caf&eacute;s &amp; foo<i>bar</i>.", 6),
        ('Then <a href="first/words">more</a>!', 7),
        ("First again.", 10),
        ("one</td><td>two", 11),
        ("code &lt; here", 13),
    ]


def test_the_head_is_metadata() -> None:
    document = read(
        "<head><title> A\n page </title><meta name=description content='About'><meta name=Author content='A. U.'>"
        "<meta name=keywords content='one, two words,'></head><h1>H</h1>"
    )
    assert document.title == "A page"
    assert document.metadata == {"description": "About", "author": "A. U.", "keywords": ["one", "two words"]}


def test_the_title_is_else_the_first_heading_else_the_name() -> None:
    assert read("<p>x<h1>A <b>head</b></h1>").title == "A head"
    assert read("<p>x").title == "page"


@pytest.mark.parametrize(
    "head", ['<meta charset="koi8-r">', '<meta http-equiv="Content-Type" content="text/html; charset=KOI8-R">']
)
def test_the_encoding_that_a_page_declares_is_honoured(head: str) -> None:
    document = read_bytes(f"<head>{head}</head><p>Привет, мир.".encode("koi8-r"), "page.html")
    assert [block.text for block in document.blocks] == ["Привет, мир."]


def test_deep_nesting_is_read() -> None:
    assert texts("<div>" * 3000 + "deep") == ["deep"]
