"""Targets that take text: words, sentences, languages, queries, filters."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path

from fuzzing.small_index import made_index, open_index
from fuzzing.target import Run, Target, text_of
from semsearch.dense.engines import complete
from semsearch.errors import SemsearchError
from semsearch.remote_index import ServerConnection
from semsearch.search.filters import parse
from semsearch.search.query_syntax import parse_query
from semsearch.storage.published import name_of, published_at
from semsearch.system.locations import has_password, local_path, shown_uri
from semsearch.text.detect_language import language_of
from semsearch.text.near_duplicates import first_alike
from semsearch.text.sentences import sentence_spans
from semsearch.text.terms import Lexicon, named_terms
from semsearch.text.tokens import hash_word, hash_words, words

_MODES = ("hybrid", "dense", "lexical")
_TEXTS = (
    "The moon isn't far. Dr. Smith (aged 3.5) said: “Go!” e.g. to U.S. ports.",
    "Die Flut kommt. Größe 3!  Naïve cafés — l'été.",
    "月が海を引く。潮は動く！ 바다가 움직인다. ทะเล สวย।",  # their own marks
    "1. one\n2. two\n\n- a) three\n\tfour… five?! http://a.b/c.d?e=f x@y.org",
    "وصل القارب. שלום עולם. Привет, мир!",
)
_QUERIES = (
    '"key rotation" -draft the ship',
    '-"old key" „a b“ «c»',
    "how do I bake bread?",
    "- item\n- item",
    "a-b -x",
)
_FILTERS = (
    "*.md",
    "guide/**",
    "author=Ada|Grace",
    "!year>=2020|format=pdf",
    "date=2024-05..2024-06",
    'modified!=1..9 "odd key"~[a-c]*',
    "title!~x?|y",
    "path=docs/sea-0.md",
)


_ADDRESSES = (
    "postgres://ada@host:5432/db?schema=s&timeout=2&sslmode=require",
    "milvus:http://host:19530/db?collection=c&timeout=3",
    "lance:s3://bucket/prefix?endpoint=http://h:1&region=r&timeout=2",
    "lance:~/vectors",
    "s3://bucket/docs?endpoint=http://[::1]:9000&timeout=5",
    "file://localhost/tmp/a%20b",
    "semsearch://docs/sea-0.md#L5",
    "https://ada:secret@host/x",
    "docs/notes.md:12",
)


def targets() -> Iterator[Target]:
    """All targets that take text."""

    def texts() -> Iterator[bytes]:
        return (text.encode() for text in _TEXTS)

    def queries() -> Iterator[bytes]:
        return (bytes([number % 3]) + text.encode() for number, text in enumerate(_QUERIES))

    marks = ("'s", "’", "...", "e.g. ", "Dr. ", "。", "！", "\u0301", "\u200d", "\n\n", "\u2028", "ß", "İ", "ﬁ")
    yield Target("words", lambda _: _find_words, texts, marks)
    yield Target("sentences", lambda _: _find_sentences, texts, marks)
    yield Target("queries", _asking, queries, ('"', " -", "“", "”", "„", "«", "»", "\n- ", "the ", "ship"), 2000)
    addresses = (
        "://",
        "s3://",
        "file://",
        "postgres://",
        "milvus:http://",
        "lance:",
        "semsearch://",
        "[",
        "]",
        "%00",
        "?",
    )
    yield Target(
        "addresses",
        _addressing,
        lambda: (text.encode() for text in _ADDRESSES),
        (*addresses, "timeout=", "schema=", "sslmode=", "endpoint=", "1e999", "@", ":99999", "%zz", "\0"),
        400,
    )
    yield Target(
        "filters",
        _filtering,
        lambda: (text.encode() for text in _FILTERS),
        (
            "!=",
            "!~",
            "<=",
            ">=",
            "..",
            "|",
            "\\|",
            "[!",
            "]",
            "**/",
            "!",
            '"',
            "modified",
            "title",
            "format",
            "2024-05-31",
        ),
        1000,
    )


def _find_words(data: bytes) -> None:
    text = text_of(data)
    found = words(text)
    language = language_of(text)
    Lexicon().in_language([text], language)
    named_terms(text, ("en", language))
    first_alike([text, text[::-1], text])
    if text.isprintable() or text.isascii():  # of half characters, there are no bytes to count the hashes of
        assert len(hash_words([text]).hashes) == len(found), "the fast form finds another number of words"
        assert all(hash_word(word) for word in found)


def _find_sentences(data: bytes) -> None:
    text, end = text_of(data), 0
    for start, after in sentence_spans(text):
        assert end <= start < after <= len(text), "sentences overlap"
        assert not text[end:start].strip(), "a word between two sentences is lost"
        assert text[start:after] == text[start:after].strip(), "a sentence that is not trimmed"
        end = after
    assert not text[end:].strip(), "the last words are lost"


def _addressing(_: Path) -> Run:
    """Every parser of addresses gets the text: it is one, or an error of ours says why not."""
    parsers: tuple[Callable[[str], object], ...] = (
        lambda text: complete(text, "docs"),
        local_path,
        lambda text: ServerConnection(text, token=None, timeout=1),
        lambda text: name_of(text),
        published_at,
        lambda text: shown_uri(text) if has_password(text) else "",
    )

    def run(data: bytes) -> None:
        text = text_of(data)
        for parser in parsers:
            with suppress(SemsearchError):
                parser(text)

    return run


def _asking(folder: Path) -> Run:
    index = open_index(made_index(folder))

    def run(data: bytes) -> None:
        query = text_of(data[1:])
        parse_query(query)
        for hit in index.search(query, 3, mode=_MODES[data[0] % 3 if data else 0]):
            hit.to_dict()

    return run


def _filtering(folder: Path) -> Run:
    index = open_index(made_index(folder))

    def run(data: bytes) -> None:
        text = text_of(data)
        parse(text)
        index.search("a ship in the storm", 3, filters=[text])

    return run
