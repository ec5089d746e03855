"""Targets of fuzzing: what takes bytes or text from somebody else, with sound inputs to begin with."""

from __future__ import annotations

import asyncio
import gzip
import io
import json
import os
import shutil
import sqlite3
import tempfile
import zipfile
from collections.abc import Callable, Iterable, Iterator
from contextlib import closing, suppress
from dataclasses import dataclass
from email.message import Message
from functools import cache, partial
from inspect import signature
from io import BytesIO
from pathlib import Path
from typing import Any
from urllib.request import OpenerDirector
from urllib.response import addinfourl

import numpy as np
from cited import passages
from fixtures import reading_here
from operations import operations
from sample_files.damage import damaged
from sample_files.valid_files import NAMES, sound
from sealing import reseal
from serving import TOKEN
from small import small_vectors, write_articles
from uvicorn.protocols.http.h11_impl import H11Protocol
from uvicorn.server import ServerState

from semsearch import trust
from semsearch.arrays.id_ranges import IdRanges
from semsearch.cli.configuration import all_items, configuration_of, use_configuration
from semsearch.dense.engines import complete
from semsearch.dense.faiss_store import OpenedFaissSegment
from semsearch.embedding.embedder import SentenceEmbedder
from semsearch.errors import SemsearchError, SourceError
from semsearch.evaluate import read_questions
from semsearch.filters import parse
from semsearch.index import Index
from semsearch.indexing.add_texts import as_texts, checked_texts, read_records
from semsearch.lexical.postings import Postings
from semsearch.mapping.mapper import MAP, read_map
from semsearch.mcp import Tools, use
from semsearch.readers.document import Document, NotADocument, Text, decode_document, encode_document
from semsearch.readers.read import read_bytes, read_file
from semsearch.readers.reader_child import MessageError, receive
from semsearch.remote_index import RemoteIndex
from semsearch.results.codec import to_dict
from semsearch.server.open_indexes import OpenIndexes
from semsearch.server.running import RunningServer, ServerSettings, listen
from semsearch.sources.ignore import compose, globs, rules_of_folder
from semsearch.storage.published import name_of, published_at
from semsearch.storage.schema import DATABASE
from semsearch.storage.segments import Segment
from semsearch.system.durable import written_file
from semsearch.system.locations import has_password, local_path, shown_uri
from semsearch.text.sentences import sentence_spans
from semsearch.text.terms import question_terms
from semsearch.text.tokens import hash_words, words
from semsearch.topics.topic_model import Topics, open_topics, write_topics
from semsearch.word_vectors.language_table import LanguageTable
from semsearch.word_vectors.table import VectorTable

Run = Callable[[bytes], object]  # raises SemsearchError for what it refuses; whatever else it raises is a finding


@dataclass(frozen=True, slots=True)
class Target:
    """`prepare` makes what runs one input, given a folder of its own; `words` are what a fuzzer is told of the format.

    `grows`: an input that is repeated is still one, so that what takes more than linear time can be seen.
    """

    prepare: Callable[[Path], Run]
    seeds: Callable[[], Iterable[bytes]]
    words: tuple[str, ...] = ()
    grows: bool = True


# -- Readers -----------------------------------------------------------------------------------------------------------

_ZIPPED = ("docx", "pptx", "xlsx", "odt", "ods", "odp", "epub", "zip")
_MARKUP = "<table> <tr> <td> <pre> <p> <h1> <br> <script> <!-- --> <![CDATA[ &amp; &#x41; <title> <meta charset="
_WORDS = {
    "html": _MARKUP,
    "md": "[a](b) ![ ]( ``` ~~~ --- * _ > - 1. |---| <div> <!-- [^1]: {% \\ \t [[ ]] ![[ #tag %% == ^block id:: (( "
    "!!! ??? === ::: /// {: : {{< >}} {/* */} import export",
    "rst": ".. :: |a| `` ` :role:`a` _ __ === --- * .. note:: .. [1] .. |a| replace:: +--+ | > \\ \t",
    "org": "#+BEGIN_SRC #+END_SRC #+TITLE: * ** [[ ]] | :PROPERTIES: :END: ~a~ =a= /a/ - # <2024-01-01>",
    "adoc": "= == ---- .... |=== [[a]] [source,b] :c: * ** . a:: << >> ((a)) (((b))) link:a[b] *a* `b` + //// ",
    "man": '.TH A 1 .SH .TP .IP .RS .nf .fi .BR .Op Fl Xr Ns .It .de .. .if \\{ \\} \\fB \\(bu \\[ \\*( \\- "',
    "tex": "\\begin{ \\end{ \\section{ \\item \\footnote{ $ $$ \\[ \\] % \\verb| \\def\\a{ \\input{ } { \\\\ \\'e ~ &",
    "ipynb": '{"cells":[ "cell_type":"markdown" "source":[ "outputs":[ "metadata":{ ] } , "nbformat":4',
    "jsonl": '{" ":" [ ] } null true 1e9 \\u00e9 \n',
    "csv": 'place, " "" \n \r\n ; \t',
    "eml": "Content-Type: multipart/mixed; boundary= -- charset= base64 quoted-printable =?utf-8?q? ?= Date: From \n\n",
    "py": 'def class """ # \'\'\' \\ \n\t async : ( ) f"',
    "srt": "1 00:00:01,000 --> <i> {\\an8} \n\n \r\n WEBVTT NOTE STYLE REGION align:start <v <c.red> 00:01.000",
    "pdf": "obj endobj stream endstream BT ET Tf Td Tj TJ xref trailer << >> /Length /Filter /FlateDecode /Kids [ ] R",
}
_SIGNS = ("PK\x03\x04", "\x1f\x8b\x08", "BZh9", "ID3", "%PDF-", "{\\rtf", "<html", "From ", "RIFF", "MIME-Version:")


def check(data: bytes, name: str) -> None:
    """Read a file: what comes of it can be kept and cited, and an error names the file."""
    try:
        with reading_here():
            document = read_bytes(data, name)
    except SemsearchError as error:
        if name not in str(error):
            raise AssertionError(f"an error that does not name the file: {error}") from error
        raise
    check_document(document)


def check_document(document: Document) -> None:
    """A document can be kept: it is Unicode and JSON, and its places are in it."""
    size = len(document.source)
    assert all(0 <= block.start <= size for block in document.blocks), "a block begins outside of the source"
    json.dumps(dict(document.metadata), allow_nan=False).encode()
    (document.source + document.title).encode()
    for passage in passages(document):
        assert passage.sentences, "a passage without sentences"
        "\n".join((passage.text, *passage.headings)).encode()
        for sentence in passage.sentences:
            assert 0 <= sentence.start < sentence.end <= len(passage.text), "a sentence outside of its passage"
            assert 0 <= sentence.source_start <= sentence.source_end <= size, "a sentence outside of the source"


def _read_member(name: str) -> Run:
    """The first byte chooses a member of an archive, the rest is its content: packed bytes have a checksum."""
    with zipfile.ZipFile(io.BytesIO(sound(name))) as archive:
        members = {member: archive.read(member) for member in archive.namelist()}

    def run(data: bytes) -> None:
        file = io.BytesIO()
        with zipfile.ZipFile(file, "w") as archive:
            for number, (member, content) in enumerate(members.items()):
                is_chosen = data and number == data[0] % len(members)
                archive.writestr(member, data[1:] if is_chosen else content)
        check(file.getvalue(), name)

    return run


def _members(name: str) -> Iterator[bytes]:
    with zipfile.ZipFile(io.BytesIO(sound(name))) as archive:
        yield from (bytes([number % 256]) + archive.read(member) for number, member in enumerate(archive.namelist()))


def _readers() -> Iterator[tuple[str, Target]]:
    for name in NAMES:
        kind = name.partition(".")[2]
        terms = tuple(_WORDS.get({"tsv": "csv", "mbox": "eml", "vtt": "srt"}.get(kind, kind), "").split())
        if kind in _ZIPPED:
            yield kind, Target(lambda _, name=name: _read_member(name), partial(_members, name), tuple(_MARKUP.split()))
        else:
            read = partial(check, name=name)
            seeds = [sound(name, number) for number in range(2)]
            yield kind, Target(lambda _, read=read: read, lambda seeds=seeds: seeds, terms, grows=kind != "pdf")


def _sniff(folder: Path) -> Run:
    """The bytes are a file whose name says nothing."""

    def run(data: bytes) -> None:
        (folder / "LICENSE").write_bytes(data)
        with reading_here():
            check_document(read_file(folder / "LICENSE").document)

    return run


def _decode_document(data: bytes) -> None:
    """What a reader's process sends is a document, or refused."""
    try:
        document = decode_document(data)
    except NotADocument as error:
        raise SourceError(str(error)) from None
    check_document(document)


def _documents() -> Iterator[bytes]:
    with reading_here():
        yield from (encode_document(read_bytes(sound(name), name)) for name in NAMES)


def _receive(data: bytes) -> None:
    """What is sent is a header that is an object, and as many bytes as it says."""
    try:
        header, rest = receive(io.BytesIO(data), len(data))
    except MessageError as error:
        raise SourceError(str(error)) from None
    assert isinstance(header, dict)
    assert rest in data


def _messages() -> Iterator[bytes]:
    for header in (b"{}", b'{"error": "SourceError", "message": "a.pdf is damaged"}', b'{"log": [["a", 10, "b"]]}'):
        yield len(header).to_bytes(4, "big") + (4).to_bytes(8, "big") + header + b"data"


# -- Text --------------------------------------------------------------------------------------------------------------


def _text(data: bytes) -> str:
    """A text of any characters, half ones among them, as paths and JSON may have them."""
    with suppress(UnicodeDecodeError):
        return data.decode("utf-8", "surrogatepass")
    return data.decode("utf-8", "replace")


def _encoded(*texts: str) -> Callable[[], list[bytes]]:
    return lambda: [text.encode() for text in texts]


_TEXTS = _encoded(
    "The moon isn't far. Dr. Smith (aged 3.5) said: “Go!” e.g. to U.S. ports.",
    "Die Flut kommt. Größe 3!  Naïve cafés — l'été.",
    "月が海を引く。潮は動く！ 바다가 움직인다. ทะเล สวย。",
    "1. one\n2. two\n\n- a) three\n\tfour… five?! http://a.b/c.d?e=f x@y.org",
    "وصل القارب. שלום עולם. Привет, мир!",
)
_MARKS = ("'s", "’", "...", "e.g. ", "Dr. ", "。", "！", "\u0301", "\u200d", "\n\n", "\u2028", "ß", "İ", "ﬁ")


def _find_words(data: bytes) -> None:
    text = _text(data).encode("utf-8", "replace").decode()
    assert len(hash_words([text]).hashes) == len(words(text)), "the fast form finds another number of words"


def _find_sentences(data: bytes) -> None:
    text, end = _text(data), 0
    for start, after in sentence_spans(text):
        assert end <= start < after <= len(text), "sentences overlap"
        assert not text[end:start].strip(), "a word between two sentences is lost"
        assert text[start:after] == text[start:after].strip(), "a sentence that is not trimmed"
        end = after
    assert not text[end:].strip(), "the last words are lost"


def _parse_addresses(data: bytes) -> None:
    """Every parser of addresses gets the text: it is one, or an error of ours says why not."""
    parsers: tuple[Callable[[str], object], ...] = (
        *(lambda text: complete(text, "docs"), RemoteIndex),
        *(local_path, name_of, published_at, has_password, lambda text: shown_uri(text) if has_password(text) else ""),
    )
    for parser in parsers:
        with suppress(SemsearchError):
            parser(_text(data))


# -- An index, and questions -------------------------------------------------------------------------------------------


@cache
def _index_in(folder: Path) -> Path:
    """An index with a row in every table that a sync fills, and a map."""
    docs, path = folder / "docs", folder / "indexes" / "docs"
    write_articles(docs, 3)
    (docs / "people.csv").write_text("name,year\nThe captain,1815\nThe judge,1900\n")
    (docs / "odd.bin").write_bytes(b"\x00\xff" * 50)
    with Index.create(path, vectors=small_vectors(folder)) as index:
        for captain in ("captain", "sailor"):
            (docs / "ships.md").write_text(f"---\nauthor: Ada\nyear: 2024\n---\n# Ships\n\nA ship. A {captain}.\n")
            index.sync(docs, metadata_columns=["year"])
        index.add([Text("added", "A ship, and a <b>sailor</b>.", metadata={"year": 2021})])
        index.map()
    return path


def _open(path: Path) -> Index:
    return Index.open(path, vectors=VectorTable(path.parents[1] / "small"), trust=True)


def _ask(folder: Path) -> Run:
    """The first byte chooses the mode of a search, the rest is its query."""
    index = _open(_index_in(folder))

    def run(data: bytes) -> None:
        query = _text(data[1:])
        mode = ("hybrid", "dense", "lexical")[data[0] % 3 if data else 0]
        json.dumps([hit.to_dict() for hit in index.search(query, 3, mode=mode)])

    return run


def _filter(folder: Path) -> Run:
    index = _open(_index_in(folder))

    def run(data: bytes) -> None:
        parse(_text(data))
        index.search("a ship in the storm", 3, filters=[_text(data)])

    return run


_QUESTIONS: tuple[Callable[[Index], object], ...] = (  # what users ask of an index
    lambda index: [hit.explain() for hit in index.search("a ship in the storm", 5, context=1)],
    lambda index: index.search("captain", filters=["author=Ada", "year=2024"]),
    lambda index: [index.document(listed.path) for listed in index.documents()],
    lambda index: (index.status(), index.problems(), index.facets()),
    lambda index: (index.verify(), index.checkup()),
    lambda index: index.similar("added"),
    lambda index: index.map(),
)


def _damage_database(folder: Path) -> Run:
    """The bytes are the seed of damage to the database, at any place."""
    path = _index_in(folder)
    whole = (path / DATABASE).read_bytes()

    def run(data: bytes) -> None:
        _replace_database(path, damaged(whole, data))
        with _open(path) as index:
            _QUESTIONS[data[0] % len(_QUESTIONS) if data else 0](index)

    return run


def _update_database(folder: Path) -> Run:
    """Bytes choose what is asked and a column; then comes its value, of a type. Checksums are made right."""
    path = _index_in(folder)
    whole = (path / DATABASE).read_bytes()
    with closing(sqlite3.connect(path / DATABASE)) as db:
        tables = [name for (name,) in db.execute("SELECT name FROM sqlite_master WHERE type = 'table'")]
        columns = [(table, row[1]) for table in tables for row in db.execute(f"PRAGMA table_info({table})")]

    def run(data: bytes) -> None:
        if len(data) < 3 or (column := columns[data[1] % len(columns)]) == ("roots", "path"):
            return  # an index may name any root, and "/" is a large one
        _replace_database(path, whole)
        try:
            with closing(sqlite3.connect(path / DATABASE)) as db, db:
                db.execute(f"UPDATE {column[0]} SET {column[1]} = ?", [_value(data[2:])])  # noqa: S608  # SQLite's names
                reseal(db)
        except (sqlite3.IntegrityError, sqlite3.OperationalError):
            return
        with _open(path) as index:
            _QUESTIONS[data[0] % len(_QUESTIONS)](index)

    return run


def _value(data: bytes) -> object:
    kind, text = data[:1], data[1:].decode("utf-8", "replace")
    try:
        number = float(text) if kind in b"if" else 0.0
        return {
            **{b"i": lambda: max(-(2**63), min(2**63 - 1, int(number))), b"f": lambda: number, b"b": lambda: data[1:]},
            b"n": lambda: text[:10] * 20_000,  # deeper than any reader of JSON goes
        }.get(kind, lambda: text)()
    except (ValueError, OverflowError):
        return text


def _updates() -> Iterator[bytes]:
    values = (b"i0", b"i-1", b"i9223372036854775807", b"f1e300", b"fnan", b"t[[1]]", b"b\xff\x00", b"t{}", b'n{"a":')
    for number in range(0, 120, 3):
        yield bytes([number, number]) + values[number % len(values)]


def _replace_database(path: Path, content: bytes) -> None:
    for name in (DATABASE, f"{DATABASE}-wal", f"{DATABASE}-shm"):
        (path / name).unlink(missing_ok=True)  # who has it open keeps the one that was
    (path / DATABASE).write_bytes(content)


# -- Files of ours that somebody else may have made --------------------------------------------------------------------


def _of_file(read: Callable[[Path], object], name: str = "one") -> Callable[[Path], Run]:
    """A target whose input is the content of a file of this name."""

    def prepare(folder: Path) -> Run:
        path = folder / "files" / name
        path.parent.mkdir(exist_ok=True)

        def run(data: bytes) -> None:
            path.unlink(missing_ok=True)  # what is mapped is another file
            path.write_bytes(data)
            read(path)

        return run

    return prepare


def _files_of_index(pattern: str) -> Callable[[], list[bytes]]:
    def seeds() -> list[bytes]:
        with tempfile.TemporaryDirectory() as folder:
            return [path.read_bytes() for path in sorted(_index_in(Path(folder)).glob(pattern)) if path.is_file()]

    return seeds


def _configure(folder: Path) -> Run:
    os.chdir(folder)
    os.environ["XDG_CONFIG_HOME"] = str(folder / "none")

    def run(data: bytes) -> None:
        (folder / "semsearch.toml").write_bytes(data)
        for command in ("query", "index", "serve"):
            use_configuration(command)
        list(all_items(configuration_of()))

    return run


_CONFIGURATION = """ask = ["notes", "docs"]
rerank_seconds = 0.5
[search]
k = 20
filters = ["*.md"]
[settings]
adapt = false
"""


def _ignore(folder: Path) -> Run:
    """The last line is a path, those before it are the rules."""

    def run(data: bytes) -> None:
        lines, _, path = data.rpartition(b"\n")
        (folder / ".gitignore").write_bytes(lines)
        rules = rules_of_folder(f"{folder}/", [".gitignore"], None, lambda *_: None)
        if rules is not None:
            rules.ignore(f"{folder}/{compose(path.decode('utf-8', 'replace'))}")
        globs(_text(lines).split("\n"))

    return run


def _read_word_vectors(path: Path) -> None:
    from semsearch_research.word_tables.vector_formats import identify  # a distribution of its own

    for rows in identify(path).rows():
        assert len(rows.words) == len(rows.vectors), "words without a vector"
        assert np.isfinite(rows.vectors).all(), "numbers that are none"
        "".join(rows.words).encode()


def _word_vectors() -> Iterator[bytes]:
    row = np.array([1, 2, 3], dtype="<f4").tobytes()
    text = b"sea 1 2 3\nmoon -4.5 5e-3 6\n"
    yield from (text, b"2 3\n" + text, b"2 3\nsea " + row + b"\nmoon " + row, gzip.compress(text, mtime=0))


_TABLE = ("card.json", "vectors.npy", "frequencies.npy", "keys.npy", "slots.npy", "words.txt")


def _open_table(folder: Path) -> Run:
    """The first byte chooses the file of a table of word vectors that the other bytes are."""
    whole = small_vectors(folder).folder

    def run(data: bytes) -> None:
        shutil.rmtree(folder / "table", ignore_errors=True)
        shutil.copytree(whole, folder / "table")
        (folder / "table" / _TABLE[data[0] % len(_TABLE) if data else 0]).write_bytes(data[1:])
        table = VectorTable(folder / "table")
        ids = np.array([table.id_of(word) for word in ("ship", "bread", "no such word")], dtype=np.int64)
        table.rows(ids[ids >= 0])
        assert len(table.words) >= 0

    return run


def _tables() -> Iterator[bytes]:
    with tempfile.TemporaryDirectory() as folder:
        whole = small_vectors(Path(folder)).folder
        yield from (bytes([number]) + (whole / name).read_bytes()[:4000] for number, name in enumerate(_TABLE))


def _open_language_table(path: Path) -> None:
    table = LanguageTable(path)
    ids = table.lookup(np.arange(5000, dtype=np.uint64) << np.uint64(40))
    assert table.rows(ids[ids >= 0]).shape[1] == table.dimension
    assert len(table.frequencies) == len(table)
    table.verify()


def _language_tables() -> Iterator[bytes]:
    from language_tables import write_language_table

    rows = np.random.default_rng(0).normal(size=(2, 4)).astype(np.float32)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "german.vectors"
        write_language_table(path, "de", ("Schiff", "Brot"), rows, np.full(2, 0.1), parts=2, card={"space": "0" * 32})
        yield path.read_bytes()


def _load_embedder(path: Path) -> None:
    rows = SentenceEmbedder.from_bytes(path.read_bytes(), small_vectors(path.parent)).transform(
        ["A ship.", "no such word"]
    )
    assert np.isfinite(rows).all(), "numbers that are none"


def _embedders() -> Iterator[bytes]:
    with tempfile.TemporaryDirectory() as folder:
        embedder = SentenceEmbedder(vectors=small_vectors(Path(folder)), components=2)
        yield embedder.fit([f"The ship {number} sails in a storm." for number in range(9)]).to_bytes()


def _open_postings(path: Path) -> None:
    postings = Postings(path, written_file(path).sums)
    for term in (*postings.terms[:20].tolist(), 7):
        postings.of(int(term))
    postings.check()
    positions = postings.positions(postings.terms[:20])
    postings.by_passage(positions[positions >= 0])


def _open_vectors(path: Path) -> None:
    data, dimension = path.read_bytes(), 24
    said = int.from_bytes(data[8:16], "little") % (1 << 20)  # by the file; the other is what a database could say
    for count in {said, data[0] if data else 0}:
        segment = Segment("passage", path.name, len(data), IdRanges.of([(0, count)]), "", written_file(path).sums)
        vectors = OpenedFaissSegment(path, segment)
        if vectors.dimension == dimension:
            vectors.scan(np.ones((1, dimension), dtype=np.float32), 3)
            vectors.rows(np.arange(count))


def _open_topics(path: Path) -> None:
    topics = open_topics(path, written_file(path).sums)
    topics.of_terms(question_terms("a ship in the storm"))
    topics.of_passage("Ships", "A captain.")


def _topics() -> Iterator[bytes]:
    terms = np.sort(np.random.default_rng(0).integers(1, 2**63, 12).astype(np.uint64))
    topics = Topics.of(terms, np.ones(12, dtype=np.float32), np.ones((12, 3), dtype=np.float32), 40)
    with tempfile.TemporaryDirectory() as folder:
        yield (Path(folder) / write_topics(topics, Path(folder), generation=1).file).read_bytes()


def _open_map(path: Path) -> None:
    read_map(path.parent, 1)


def _import(folder: Path) -> Run:
    """The input is a file of records, which are added to an index."""
    index = Index.create(folder / "imported", vectors=small_vectors(folder))

    def run(data: bytes) -> None:
        path = folder / "records.jsonl"
        path.write_bytes(data)
        if texts := list(checked_texts(as_texts(read_records(path)))):
            index.add(texts)
            json.dumps([hit.to_dict() for hit in index.search("a ship", 3)])

    return run


def _imports() -> Iterator[bytes]:
    with tempfile.TemporaryDirectory() as folder, _open(_index_in(Path(folder))) as index:
        index.export(Path(folder) / "all.jsonl")
        exported = (Path(folder) / "all.jsonl").read_bytes()
    yield from (line[:4000] + b"\n" for line in exported.splitlines()[:4])
    yield b'{"id": "a", "text": "A ship.", "title": "Ships", "metadata": {"year": 2024}}\n{"id": 2, "text": ""}\n'


def _trusted(folder: Path) -> Run:
    """The bytes are the note of what the user has allowed an index."""
    os.environ["XDG_CONFIG_HOME"] = str(folder / "config")
    database = _open(_index_in(folder))._database
    record = trust._file(trust._key(database))
    record.parent.mkdir(parents=True, exist_ok=True)

    def run(data: bytes) -> None:
        record.write_bytes(data)
        trust._recorded.clear()
        assert all(str(name) for name in trust.allowed(database))

    return run


# -- Messages ----------------------------------------------------------------------------------------------------------


def _server(folder: Path) -> RunningServer:
    indexes = OpenIndexes(folder=_index_in(folder).parent)
    return RunningServer(indexes, ServerSettings(port=0), TOKEN, listen(ServerSettings(port=0)))


def _connect(folder: Path) -> Run:
    """The input is what a client sends on a connection; the server closes it, or keeps it, and never fails."""
    config: Any = _server(folder)._server.config
    config.load()
    failures = list[str]()

    async def exchange(data: bytes) -> bytes:
        loop = asyncio.get_running_loop()
        loop.set_exception_handler(lambda _, context: failures.append(str(context)))
        listening = await loop.create_server(
            lambda: H11Protocol(config=config, server_state=ServerState(), app_state={}), "127.0.0.1", 0
        )
        reader, writer = await asyncio.open_connection(*listening.sockets[0].getsockname())
        answer = b""
        with suppress(ConnectionError):  # it is closed before all is read
            writer.write(data)
            writer.write_eof()
            answer = await asyncio.wait_for(reader.read(), 30)
        writer.close()
        listening.close()
        return answer

    def run(data: bytes) -> None:
        answer = asyncio.run(exchange(data))
        assert not answer or answer.startswith(b"HTTP/1.1 "), f"an answer of no status: {answer[:60]!r}"
        assert not answer.startswith(b"HTTP/1.1 5"), f"a failure: {answer[:200]!r}"
        assert not failures, failures.pop()

    return run


_ASKED: dict[str, Any] = {
    **{"query": "a ship", "queries": ["a ship"], "input": "a ship", "text": "A ship.", "ids": [1], "page": 1},
    **{"hit": {}, "citation": "sea-0.md:5"},
}


def _requests() -> Iterator[bytes]:
    """A request of each operation, with the token, and requests of other forms."""
    head = f"HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer {TOKEN}\r\nConnection: close\r\n"
    for operation in operations():
        values = {"index": "docs"} | {name: _ASKED[name] for name in operation.required}
        path = operation.path.replace("{id}", "added")
        if operation.has_body:
            body = json.dumps(values)
            kind = f"Content-Type: application/json\r\nContent-Length: {len(body)}\r\n"
            yield f"{operation.method} {path} {head}{kind}\r\n{body}".encode()
        else:
            query = "&".join(f"{name}={value}" for name, value in values.items()).replace(" ", "+")
            yield f"{operation.method} {path}?{query} {head}\r\n".encode()
    first = b"GET /v1/search?query=ship HTTP/1.1\r\nHost: localhost\r\n"
    yield from ((first + b"\r\n") * 3, first + b"Content-Length: 9\r\n\r\n{}")
    yield first + b"Expect: 100-continue\r\nUpgrade: websocket\r\nConnection: upgrade\r\nX: \xff\r\n\r\n"
    chunks = (
        b'Content-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n13\r\n{"queries":["ship"]}\r\n0\r\n\r\n'
    )
    yield b"POST /v1/search HTTP/1.1\r\nHost: localhost\r\n" + chunks


_TOOLS = ("search", "similar", "read", "list_documents", "status")


def _call_tool(folder: Path) -> Run:
    """The first byte chooses a tool; the rest is the text that it is asked, and a filter."""
    indexes = OpenIndexes(folder=_index_in(folder).parent)

    def run(data: bytes) -> None:
        tool = getattr(Tools(lambda: indexes), _TOOLS[data[0] % len(_TOOLS) if data else 0])
        text, _, other = data[1:].decode("utf-8", "surrogateescape").partition("\n")
        arguments: dict[str, Any] = {"index": "docs", "filters": [other], "query": text, "citation": text}
        json.dumps(use(tool, **{key: arguments[key] for key in arguments if key in signature(tool).parameters}))

    return run


def _calls() -> list[bytes]:
    texts = (b"a ship\n*.md", b"sea-0.md:5\nyear>=2020")
    return [bytes([number]) + text for number in range(len(_TOOLS)) for text in texts]


_CALLS: tuple[Callable[[RemoteIndex], object], ...] = (
    lambda index: [(hit.explain(), index.similar(hit)) for hit in index.search("a ship", 3)],
    lambda index: index.search(["a ship", "bread"], 3),
    lambda index: index.context("a ship"),
    lambda index: list(zip(index.documents(), range(3), strict=False)),
    lambda index: index.document("a.md"),
    lambda index: index.status(),
)


class _Answering(OpenerDirector):
    """Answers the first request as it was told, and no other."""

    def __init__(self, status: int, answer: bytes) -> None:
        super().__init__()
        self._answers = iter([(status, answer)])

    def open(self, *_: object, **__: object) -> addinfourl:
        status, answer = next(self._answers, (404, b'{"detail": "no more", "error": "ServerError"}'))
        return addinfourl(BytesIO(answer), Message(), "", status)


def _answer(data: bytes) -> None:
    """The first byte chooses what is asked, the second the status; the rest is the answer."""
    index = RemoteIndex("http://127.0.0.1:1", index="docs")
    index._opener = _Answering(200 if data[1:2] < b"\x80" else 400, data[2:])
    _CALLS[data[0] % len(_CALLS) if data else 0](index)


def _answers() -> Iterator[bytes]:
    with tempfile.TemporaryDirectory() as folder, _open(_index_in(Path(folder))) as index:
        hits = [to_dict(hit) for hit in index.search("a ship", 2)]
        listed, context = to_dict(next(index.documents())), to_dict(index.context("a ship"))
        values: list[Any] = [{"hits": hits, "warnings": ["odd"]}, {"answers": [{"hits": hits}]}, context]
        values += [{"documents": [listed], "next": None}]
        values += [to_dict(index.document(listed["path"])), to_dict(index.status())]
    yield from (bytes([number, 0]) + json.dumps(value).encode() for number, value in enumerate(values))
    for text in (b"[]", b"1", b"null", b'{"hits": {}}', b'{"hits": [[]]}', b'{"documents": [], "next": 0}'):
        yield from (bytes([number, 0]) + text for number in range(len(_CALLS)))
    yield b"\x00\xff" + b'{"detail": "no", "error": "UsageError"}'


# -- All ---------------------------------------------------------------------------------------------------------------

_JSON = ('{"', '":', "[", "]", "null", "true", "1e999", "\\ud800", "-1", "9" * 30, "NaN", '"a"', ",", "{}")
_HTTP = ("&", "=", "%00", "%ED%A0%80", "\r\n", "HTTP/1.1", "Host: localhost", "Transfer-Encoding: chunked", "origin: ")
_QUERIES = ('\0"key rotation" -draft the ship', '\1-"old key" „a b“ «c»', "\2- item\n- item", "\0a-b -x")
_FILTERS = (
    *("*.md", "guide/**", "author=Ada|Grace", "!year>=2020|format=pdf", "date=2024-05..2024-06", "title!~x?|y"),
    *('modified!=1..9 "odd key"~[a-c]*', "path=docs/sea-0.md"),
)
_ADDRESSES = (
    "postgres://ada@host:5432/db?schema=s&timeout=2&sslmode=require",
    "lance:s3://bucket/prefix?endpoint=http://[::1]:1&region=r&timeout=2",
    "file://localhost/tmp/a%20b",
    "semsearch://docs/sea-0.md#L5",
    "https://ada:secret@host/x",
    "lance:~/vectors",
)
_GOLDEN = _encoded(
    '{"query": "a ship", "answers": ["docs/a.md:5", "b.pdf#p2"]}\n{"query": "b", "answers": {"a.md": 2}}'
)

TARGETS: dict[str, Target] = {
    **dict(_readers()),
    "unnamed": Target(_sniff, lambda: [sound(name)[:16_000] for name in NAMES], _SIGNS),
    "reader-document": Target(lambda _: _decode_document, _documents, _JSON),
    "reader-message": Target(lambda _: _receive, _messages, ("{}", '{"error":', "\0\0\0\2")),
    "words": Target(lambda _: _find_words, _TEXTS, _MARKS),
    "sentences": Target(lambda _: _find_sentences, _TEXTS, _MARKS),
    "addresses": Target(
        lambda _: _parse_addresses, _encoded(*_ADDRESSES), ("://", "[", "%00", "timeout=", "1e999", "@")
    ),
    "queries": Target(_ask, _encoded(*_QUERIES), ('"', " -", "“", "”", "„", "«", "»", "\n- ", "the ", "ship")),
    "filters": Target(
        _filter, _encoded(*_FILTERS), ("!=", "!~", "<=", "..", "\\|", "[!", "]", "**/", "modified", "title")
    ),
    "configuration": Target(
        _configure, _encoded(_CONFIGURATION), ("[[a]]", "a.b = ", '"""', "inf", "0x1F", "{a = 1}", "~/")
    ),
    "ignore-rules": Target(
        _ignore, _encoded("*.log\n!keep.log\n/build/\n**/c/**\n[a-c]?.md\na/b.log"), ("[!", "*a"), grows=False
    ),
    "word-vectors": Target(
        _of_file(_read_word_vectors), _word_vectors, ("2 3\n", " 1.5", "\n", "\x1f\x8b", "1e9", "nan")
    ),
    "vector-table": Target(_open_table, _tables, grows=False),
    "language-table": Target(_of_file(_open_language_table), _language_tables, _JSON, grows=False),
    "embedder": Target(_of_file(_load_embedder), _embedders, ('"card"', "PK", "(0,)", "<f4"), grows=False),
    "golden": Target(_of_file(read_questions, "golden.jsonl"), _GOLDEN, _JSON),
    "imports": Target(_import, _imports, (*_JSON, '"passages":[', '"sentences":[', '"id":', '"text":')),
    "trusted": Target(_trusted, _encoded('{"index": "/tmp/a", "file": 12, "allowed": [["root", "/tmp/docs"]]}'), _JSON),
    "database-bytes": Target(_damage_database, lambda: [bytes([number]) * 9 for number in range(7)], grows=False),
    "database-values": Target(_update_database, _updates, grows=False),
    "postings": Target(_of_file(_open_postings), _files_of_index("segments/*.postings"), grows=False),
    "vector-segment": Target(_of_file(_open_vectors), _files_of_index("segments/*.faiss"), grows=False),
    "topics": Target(_of_file(_open_topics), _topics, grows=False),
    "map": Target(_of_file(_open_map, MAP), _files_of_index(MAP), _JSON, grows=False),
    "http": Target(_connect, _requests, (*_HTTP, *_JSON)),
    "mcp": Target(_call_tool, _calls, ("*.md", "year>=", "sea-0.md:", " p. ", "–", '"', "|", "!")),
    "remote-answers": Target(lambda _: _answer, _answers, (*_JSON, '"hits":[', '"next":', '"detail":', '"error":')),
}
