"""Old and rare documents, as kreuzberg reads them: their text comes out, and what is not installed is named."""

from __future__ import annotations

import base64
import sys
import zlib

import pytest

from semsearch.errors import MissingExtra, SourceError
from semsearch.readers.read import read_bytes

_DOC = (  # Word 97: the heading "Harbours", a sentence in two alphabets and "After."; zlib, base 85
    "c-rk(-AWr#5dL;INsXHL|I--jYD>`@(K|0h3|MG;RcxSFf=LrmFbQm8p?!e9M=$ySK7vnRAE90f-iROwn)N$pXJHfCkTkY5vLAdqGv{P>Hgoozo%"
    "wM(^7Gqq>I_ZTfQ7mnM=UUAkWt?lhMrSnb=P&(&=b-P(Nh@ZiuO0Hy|OP|UpMp`d%79WHv)QnXujzlYR*#9L@sZpWi(DMd1@avwQmGn;o|#=ubRJ"
    "_Pqy@)Y_OK_aM)?E-u*`J2I@X4d0BE0|1WmQmk1H!Z{T&#$ybh?YJ&S<A4S-x@|vSe+a*-+iB=V}wv8Gs8yVvY1$;4<kw6A}94*3uvO@GK;yeb|$"
    "+zTfaN;ItT!)G3br`{`7FH+jE9916myos;4U6(6T@(BK4tNHyzReyKidA^F`c0->epD&l=BZfWDQM#r%9IX1cjP~bsNvU=MhAYIaZj%D+|D77L!Q"
    "Hbf+S2G-;~~?UB9m)Kk(l>{32{oe#8+<d=8a|c9D|!RtNDdum07D;=PVqVir{H-!S@~ekL_i!vXbHZ``89_t8%L=VUFgrA+DJBGTW*q?hZHie2>s"
    "15#xsq^2J7T0o4DqvRMlPEJTwJw;BFPj!xf8B%otv$B`wWdEtYVL{@*2=tO6{@syk$~zg6{QJBM+v7)%dpblARs"
)
_PPT = (  # PowerPoint 97: two slides
    "c-p&gUhu)fjZzO8(10BSGsD0CoD6J8VvIn{1mg%W098Q5{{8>|A0)&A#Q#UZkOB-0-}rfe@g@Sq@dqY8UeCxtGhhJ3I?yx(vPJ^RR)Eqk|1vPhLD"
    "?Zhn#s@bj=3Jpde1C@R~-*aIGASo;18x*K8S#6-VZ!r74!I6;A&YuXhY?c!6Ng)auE3y{QMyIWuz+P=I7@r6qM%V6zhSUQAMOPf}qauBElJJP&qj"
    ")&fo%)zWGI|3MHu(B|sOvV6FqJ{=lCHR`Hox1S!KZ!U=>)3{aCeKpx6WNma<tONHrULDI*FLm#Mc2u@AT&r8t<+6oaZ5{E>q00X2*5MXErn<Bu#2"
    "{z>`zYJQK^fN+iNoE)YbO%8U`9N3#%!95Bc|f{|p^_y1VhpT|u(E`dqT>KGT{<(A0_`kfNCn%jz!1t%3}hD(ZH^QJ6WD$xXx&4sJ`pI*$`A~6K`s"
    "y`g8l9ZbVnL6M2f&7B@CHBb{-ycG@$k~lVCq6oMNEt0HFEhU>}26nb1&h0kV_9?t+91Vfzu~Ibi^D>t$$U{ey-bh-LwY2LrgyX9r?XvA_w$Tu62N"
    "C>UM<)_#NGzoSi}5d{GIx;7#"
)
_RTF = (
    rb"{\rtf1\ansi\ansicpg1252{\info{\title Tides}}The {\b sea} moves.{\footnote A note.}\par "
    rb"Gr\'f6\'dfe \u8364? two.\par}"
)
_FB2 = """<?xml version="1.0" encoding="utf-8"?><FictionBook xmlns="http://www.gribuser.ru/xml/fictionbook/2.0">
<description><title-info><author><first-name>Ann</first-name><last-name>Lee</last-name></author>
<book-title>Of tides</book-title></title-info></description>
<body><section><title><p>One</p></title><p>The sea is wide.</p></section></body></FictionBook>"""


def _old(packed: str) -> bytes:
    return zlib.decompress(base64.b85decode(packed))


@pytest.mark.parametrize(
    ("data", "name", "format", "title", "texts"),
    [
        (_old(_DOC), "a.doc", "doc", "a", ["Harbours", "The sea “moves” to Łódź.", "After."]),
        (_old(_PPT), "a.ppt", "ppt", "T", ["The moon pulls.", "Tide one", "Second"]),
        (_RTF, "a.rtf", "rtf", "Tides", ["The sea moves.", "Größe € two."]),
        (_RTF, "letter.doc", "rtf", "Tides", ["The sea moves.", "Größe € two."]),
        (_FB2.encode(), "a.fb2", "fb2", "Of tides", ["One", "The sea is wide."]),
    ],
)
def test_the_text_comes_out_in_paragraphs(data: bytes, name: str, format: str, title: str, texts: list[str]) -> None:
    pytest.importorskip("kreuzberg")
    document = read_bytes(data, name)
    assert (document.format, document.title) == (format, title)
    found = [(block.text, block.place) for block in document.blocks]
    assert [text for text, _ in found if text in texts] == texts
    assert [place for _, place in found] == [f"paragraph {n}" for n in range(1, len(found) + 1)]


def test_the_headings_and_authors_of_a_book_are_known() -> None:
    pytest.importorskip("kreuzberg")
    book = read_bytes(_FB2.encode(), "a.fb2")
    assert [(block.text, block.level > 0) for block in book.blocks] == [("One", True), ("The sea is wide.", False)]
    assert book.metadata == {"title": "Of tides", "author": "Ann Lee"}


@pytest.mark.parametrize(("data", "name"), [(b"words", "a.doc"), (b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1", "a.ppt")])
def test_a_damaged_file_is_named(data: bytes, name: str) -> None:
    pytest.importorskip("kreuzberg")
    with pytest.raises(SourceError, match=rf"{name} cannot be read"):
        read_bytes(data, name)


def test_without_the_library_the_extra_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    from semsearch.readers.office import rare

    monkeypatch.setitem(sys.modules, "kreuzberg", None)
    with pytest.raises(MissingExtra, match=r"\.\[rare\]"):
        rare.read(_RTF, "a.rtf")
