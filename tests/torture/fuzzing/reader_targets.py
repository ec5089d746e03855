"""A target for each reader of the registry, but for those of archives (archive_targets.py), and what reads apart sends.

What it reads must be a document that can be kept, whatever the bytes are. Readers run in this process, where they are
traced.
"""

from __future__ import annotations

import io
import json
from collections.abc import Iterator
from contextlib import contextmanager

from fixtures import reading_here
from sample_files.valid_files import NAMES, sound

from fuzzing.target import Run, Target
from semsearch.errors import SemsearchError, SourceError
from semsearch.readers.document import Document
from semsearch.readers.document_codec import NotADocument, decode, encode
from semsearch.readers.pages import pdf_pictures
from semsearch.readers.read import read_bytes
from semsearch.readers.reader_child import MessageError, receive
from semsearch.results.codec import to_dict
from semsearch.text.passages import passages

_ARCHIVES = ("docx", "pptx", "xlsx", "odt", "ods", "odp", "epub")  # have targets of their own
_WORDS = {
    "html": "<table> <tr> <td> <pre> <p> <h1> <br> <script> <!-- --> <![CDATA[ &amp; &#x41; <title> <meta charset=",
    "md": "[a](b) ![ ]( ``` ~~~ --- === * _ ** > - 1. | |---| <div> <!-- --> &amp; [^1]: {% {{< \\ \t "
    "[[ ]] ![[ #tag %% == ^block :: id:: tags:: alias:: #+BEGIN_QUOTE ((",
    "rst": ".. :: |a| `` ` :role:`a` _ __ === --- * .. note:: .. [1] .. |a| replace:: +--+ | > \\ \t",
    "org": "#+BEGIN_SRC #+END_SRC #+TITLE: * ** [[ ]] | :PROPERTIES: :END: ~a~ =a= /a/ - # <2024-01-01>",
    "adoc": "= == ---- |=== .... **** ++++ * . // :a: [source] image:: link:a[b] {a} include::",
    "tex": "\\begin{ \\end{ \\section{ \\item \\footnote{ $ $$ \\[ \\] % \\verb| \\def\\a{ \\input{ } { \\\\ \\'e ~ &",
    "ipynb": '{"cells":[ "cell_type":"markdown" "source":[ "outputs":[ "metadata":{ ] } , "nbformat":4',
    "jsonl": '{" ":" [ ] } null true 1e9 \\u00e9 \n',
    "csv": 'place, " "" \n \r\n ; \t',
    "eml": "Content-Type: multipart/mixed; boundary= -- charset= base64 quoted-printable =?utf-8?q? ?= Date: From \n\n",
    "py": 'def class """ # \'\'\' \\ \n\t async : ( ) f"',
    "c": "/* */ // \" ' \\ { } # \n",
    "txt": "\n\n === --- 1. - \t \x0c",
    "srt": "1 00:00:01,000 --> <i> {\\an8} \n\n \r\n WEBVTT NOTE STYLE REGION align:start <v <c.red> 00:01.000",
    "pdf": "obj endobj stream endstream BT ET Tf Td Tj TJ xref trailer << >> /Length /Filter /FlateDecode /Kids [ ] R",
}


def targets() -> Iterator[Target]:
    """A target for each format that there are sample files of, called as its suffix; and those of answers."""
    for name in NAMES:
        if _kind(name) not in _ARCHIVES:
            yield target_of(name)
    yield Target(
        "reader-document", lambda _: _decoded, _documents, tuple('[] {} null , : " true 1e9 -1 \\ud800'.split())
    )
    yield Target("reader-message", lambda _: _received, _messages, ("{}", '{"error":', "\0\0\0\2", "\xff"))
    yield Target("reader-places", lambda _: _placed, lambda: _PLACES, ("[[", "]]", "null", "1e999", '"', "-1"))


def _decoded(data: bytes) -> None:
    try:
        document = decode(data)
    except NotADocument as error:
        raise SourceError(str(error)) from None
    check_document(document)


def _documents() -> Iterator[bytes]:
    with reading_here():
        yield from (encode(read_bytes(sound(name), name)) for name in NAMES)


def _received(data: bytes) -> None:
    """What is sent is a header that is an object, and as many bytes as it says."""
    try:
        header, rest = receive(io.BytesIO(data), len(data))
    except MessageError as error:
        raise SourceError(str(error)) from None
    assert isinstance(header, dict)
    assert rest in data


def _messages() -> Iterator[bytes]:
    for header in (b"{}", b'{"error": "SourceError", "message": "a.pdf is damaged"}', b'{"log": [["a", 10, "b"]]}'):
        for data in (b"", b"data"):
            yield len(header).to_bytes(4, "big") + len(data).to_bytes(8, "big") + header + data


def _placed(data: bytes) -> None:
    """What a page's sentences are said to be at: on the page, as many as were asked for."""
    with replaced(pdf_pictures, "in_reader_process", lambda *_, **__: data):
        page = pdf_pictures.place_sentences(b"", "a.pdf", 1, ["One."], ["Two."])
    assert len(page.boxes) == 2
    assert all(0 <= edge <= 1 for boxes in page.boxes for box in boxes for edge in box)
    json.dumps(to_dict(page), allow_nan=False).encode()


_PLACES = (b'[3, "iv", 300.0, 200.5, [[[0.1, 0.1, 0.9, 0.2]], []]]', b'[1, "1", 1, 1, [[], [[0, 0, 1, 1, 1]]]]')


@contextmanager
def replaced(where: object, name: str, by: object) -> Iterator[None]:
    """Replace a function of a module."""
    before = getattr(where, name)
    setattr(where, name, by)
    try:
        yield
    finally:
        setattr(where, name, before)


def target_of(name: str) -> Target:
    """The target of a format."""
    kind = _kind(name)
    same = {"tsv": "csv", "mbox": "eml", "vtt": "srt"}
    words = tuple(filter(None, _WORDS.get(same.get(kind, kind), "").split(" ")))  # no words are no dictionary
    return Target(kind, lambda _: _reading(name), lambda: _files_of(name), words, 8192, grows=kind != "pdf")


def _kind(name: str) -> str:
    return name.partition(".")[2]


def check(data: bytes, name: str) -> None:
    """Read a file, and look whether what comes of it can be kept and cited."""
    try:
        with reading_here():
            document = read_bytes(data, name)
    except SemsearchError as error:
        if name not in str(error):
            raise AssertionError(f"an error that does not name the file: {error}") from error
        raise
    check_document(document)


def check_document(document: Document) -> None:
    """Look whether a document can be kept: Unicode, JSON, and places that are in it and rise."""
    size = len(document.source)
    assert all(0 <= block.start <= size for block in document.blocks), "a block begins outside of the source"
    json.dumps(dict(document.metadata), allow_nan=False).encode()
    document.source.encode()
    document.title.encode()
    for passage in passages(document):
        assert passage.sentences, "a passage without sentences"
        "\n".join((passage.text, *passage.headings)).encode()
        for sentence in passage.sentences:
            assert 0 <= sentence.start < sentence.end <= len(passage.text), "a sentence outside of its passage"
            assert 0 <= sentence.source_start <= sentence.source_end <= size, "a sentence outside of the source"


def _reading(name: str) -> Run:
    return lambda data: check(data, name)


def _files_of(name: str) -> Iterator[bytes]:
    yield from (sound(name, number) for number in range(2))
    if name.endswith(".md"):
        yield _NOTES
    if name.endswith(".pdf"):
        yield _PDF


_NOTES = b"""tags:: sea, moon
- The [[tide|high tide]] of [[2024-05-01#noon]] #sea/high rises. ^top
  id:: 6630
- ==Marked== %% a comment %% ![[moon.png]] ((6630)) #+BEGIN_QUOTE
"""
_PDF = b"""%PDF-1.4
1 0 obj
<< /Type /Catalog /Pages 2 0 R >>
endobj
2 0 obj
<< /Type /Pages /Kids [3 0 R] /Count 1 >>
endobj
3 0 obj
<< /Type /Page /Parent 2 0 R /MediaBox [0 0 300 200] /Contents 4 0 R /Resources << /Font << /F 5 0 R >> >> >>
endobj
4 0 obj
<< /Length 108 >>
stream
BT /F 18 Tf 20 160 Td (Tide) Tj ET
BT /F 10 Tf 20 120 Td (The moon pulls the sea. It moves) Tj 0 -12 Td (twice a day.) Tj ET
endstream
endobj
5 0 obj
<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica >>
endobj
trailer
<< /Root 1 0 R /Size 6 >>
%%EOF
"""
