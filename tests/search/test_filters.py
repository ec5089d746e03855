"""Filters mean what they say."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from dataclasses import astuple

import pytest

from semsearch.errors import UsageError
from semsearch.search.filters import FUNCTIONS, Filter, condition, metadata_matches, parse

DOCUMENTS = {
    "guide/start.md": '{"author": "Ada", "year": 2021, "tags": ["setup", "first steps"], "draft": false}',
    "guide/deep/keys.md": '{"author": "Grace", "year": "2019", "site": {"lang": "en"}, "a.b": 1}',
    "notes.txt": "{}",
}


def matching(*texts: str) -> list[str]:
    with closing(sqlite3.connect(":memory:")) as db:
        db.execute("CREATE TABLE roots (id, path)")
        db.execute("CREATE TABLE documents (root_id, path, title, format, metadata)")
        db.execute("INSERT INTO roots VALUES (1, '/home/ada/docs')")
        for path, metadata in DOCUMENTS.items():
            row = (1, path, f"Title of {path}", "text" if path.endswith("txt") else "markdown", metadata)
            db.execute("INSERT INTO documents VALUES (?, ?, ?, ?, ?)", row)
        for name, (arguments, function) in FUNCTIONS.items():
            db.create_function(name, arguments, function)
        where = condition([parse(text) for text in texts], here="/home/ada")
        rows = db.execute(
            f"SELECT documents.path FROM documents LEFT JOIN roots ON roots.id = root_id WHERE {where.sql}",  # noqa: S608
            where.parameters,
        ).fetchall()
        return [path for (path,) in rows]


START, KEYS, NOTES = DOCUMENTS


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("guide/*.md", [START]),
        ("guide/**/*.md", [START, KEYS]),
        ("guide/", [START, KEYS]),
        ("*.md", [START, KEYS]),
        ("keys.md", [KEYS]),
        ("notes.???", [NOTES]),
        ("[a-n]otes.txt", [NOTES]),
        ("[!n]*", [START, KEYS]),
        ("[[&&||~~\\n]*", [NOTES]),
        ("docs/guide/*.md", [START]),
        ("/home/ada/docs/notes.txt", [NOTES]),
        ("path=notes.txt", [NOTES]),
        ("path~guide/**", [START, KEYS]),
        ("format=text", [NOTES]),
        ("format!=text", [START, KEYS]),
        ("title~*keys*", [KEYS]),
        ("author=ada", [START]),
        ("author!=Ada", [KEYS, NOTES]),
        ("author~gr*", [KEYS]),
        ("year>2020", [START]),
        ("year<=2019", [KEYS]),
        ("year>=2019.5", [START]),
        ("tags=setup", [START]),
        ("tags=first steps", [START]),
        ("tags!=setup", [KEYS, NOTES]),
        ("draft=false", [START]),
        ("site.lang=en", [KEYS]),
        ("a.b=1", [KEYS]),
        ("missing=1", []),
        ("path=' OR 1 --", []),
    ],
)
def test_a_filter_lets_through_what_it_names(text: str, expected: list[str]) -> None:
    assert matching(text) == expected


def test_all_filters_must_hold() -> None:
    assert matching("guide/", "year>2020") == [START]
    assert matching() == list(DOCUMENTS)


def test_a_filter_is_parsed_into_key_operator_and_value() -> None:
    assert parse("year >= 2020") == Filter("year", ">=", "2020")
    assert parse("guide/a=b.md") == Filter("path", "~", "guide/a=b.md")
    assert parse("key=") == Filter("key", "=", "")


@pytest.mark.parametrize("text", ["", "  ", ".=1", "[z-a]*.md", "path~[z-a]", "title~[!]"])
def test_a_filter_that_cannot_be_meant_is_refused(text: str) -> None:
    with pytest.raises(UsageError):
        parse(text)


@pytest.mark.parametrize(
    "text", ["=x", "!=x", "<5", ">=2", "~x", "year>=", "year<", "author~", "[", "a[b", "[]", "title~a[", "Path~["]
)
def test_a_filter_without_a_key_a_value_or_a_bracket_is_refused(text: str) -> None:
    with pytest.raises(UsageError):
        parse(text)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("AUTHOR=ada", [START]),
        ("Site.Lang=EN", [KEYS]),
        ("Author!=ada", [KEYS, NOTES]),
        ("Path=notes.txt", [NOTES]),
        ("FORMAT=text", [NOTES]),
        ("Title~*keys*", [KEYS]),
    ],
)
def test_keys_are_found_without_regard_to_case(text: str, expected: list[str]) -> None:
    assert matching(text) == expected


def test_a_path_may_be_given_as_a_hit_shows_it() -> None:
    for path in ("notes.txt", "docs/notes.txt", "./docs/notes.txt", "/home/ada/docs/notes.txt"):
        assert matching(f"path={path}") == [NOTES]
        assert matching(f"path!={path}") == [START, KEYS]


def test_what_is_nested_is_reached_through_lists_too() -> None:
    metadata = '{"authors": [{"name": "Ada"}, {"name": "Grace"}], "a": {"b": null, "c": [1, true]}}'
    for text in ("authors.name=grace", "a.b=", "a.c=1", "a.c=true"):
        assert metadata_matches(metadata, *astuple(parse(text)))
    for text in ("authors=Ada", "a=1", "name=Ada", "authors.name!=ada", "a.d="):
        assert not metadata_matches(metadata, *astuple(parse(text)))
