"""Filters mean what they say."""

from __future__ import annotations

import random
import re
from pathlib import Path

import pytest

from semsearch import filters
from semsearch.errors import UsageError
from semsearch.filters import all_match, parse
from semsearch.storage.document_rows import FilterRow

DOCUMENTS = {
    "guide/start.md": '{"author": "Ada", "year": 2021, "tags": ["setup", "first steps"], "draft": false}',
    "guide/deep/keys.md": '{"author": "Grace", "year": "2019", "site": {"lang": "en"}, "a.b": 1}',
    "notes.txt": "{}",
}


def row(path: str = "", metadata: str = "{}", mtime_ns: int = 0) -> FilterRow:
    """A document as filters compare it."""
    format_ = "text" if path.endswith("txt") else "markdown"
    return FilterRow(1, 1, 1, path, f"/home/ada/docs/{path}", f"Title of {path}", format_, mtime_ns, metadata)


@pytest.fixture(autouse=True)
def _in_a_home_folder(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(filters, "working_folder", lambda: Path("/home/ada"))


def matching(*texts: str) -> list[str]:
    parsed = [parse(text) for text in texts]
    return [path for path, metadata in DOCUMENTS.items() if all_match(parsed, row(path, metadata))]


def holds(text: str, metadata: str) -> bool:
    return parse(text).matches(row(metadata=metadata))


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
        ("[[&&~~\\n]*", [NOTES]),
        ("docs/guide/*.md", [START]),
        ("/home/ada/docs/notes.txt", [NOTES]),
        ("path=notes.txt", [NOTES]),
        ("path~guide/**", [START, KEYS]),
        ("GUIDE/", [START, KEYS]),
        ("guide/*eys.md", []),
        ("guide/**/*eys.md", [KEYS]),
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
        ("path!=guide/**", [NOTES]),
        ("path!=guide/", [NOTES]),
        ("path=guide/*", [START]),
        ("!guide/", [NOTES]),
        ("!*.md", [NOTES]),
        ("! author=Ada", [KEYS, NOTES]),
        ("!author!=Ada", [START]),
        ("author!~a*", [KEYS, NOTES]),
        ("path!~guide/deep/*", [START, NOTES]),
        ("author=Ada|Grace", [START, KEYS]),
        ("author!=Ada|Grace", [NOTES]),
        ("!author=Ada|Grace", [NOTES]),
        ("guide/deep/|notes.*", [KEYS, NOTES]),
        ("!guide/deep/|notes.*", [START]),
        ("author=Ada|format=text", [START, NOTES]),
        ("author!=Ada|Grace|year=2019", [KEYS, NOTES]),
        ("author~g*|a*", [START, KEYS]),
        ("author=a\\|b", []),
        ("year=2019..2021", [START, KEYS]),
        ("year=2020..", [START]),
        ("year=..2019", [KEYS]),
        ("year!=2020..2021", [KEYS, NOTES]),
        ("year=2000..2001|2019", [KEYS]),
        ("year=2019|2020..2022", [START, KEYS]),
    ],
)
def test_a_filter_lets_through_what_it_names(text: str, expected: list[str]) -> None:
    assert matching(text) == expected


def test_all_filters_must_hold() -> None:
    assert matching("guide/", "year>2020") == [START]
    assert matching() == list(DOCUMENTS)


@pytest.mark.parametrize(
    "text",
    [
        *("", "  ", ".=1", "[z-a]*.md", "path~[z-a]", "!", "a/|", "|a/", "a/||b/", "author=Ada|~x"),
        *(
            "a=\udcff",
            "\ud800.md",
            "year>1|",
            "date=2024-13",
            "date>=2024-02-40",
            "year=2021..2019",
            "date=2024-05..2024-04",
        ),
    ],
)
def test_a_filter_that_cannot_be_meant_is_refused(text: str) -> None:
    with pytest.raises(UsageError):
        parse(text)


@pytest.mark.parametrize("text", ["year=>2025", "year =< 2025", "year>>3", "year<>2024", "author=Ada|year==2025"])
def test_an_operator_that_there_is_not_is_an_error(text: str) -> None:
    with pytest.raises(UsageError, match=r"unknown operator .*; there are = != < <= > >= ~ !~"):
        parse(text)
    assert parse("title~[>]*")


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
        assert holds(text, metadata)
    for text in ("authors=Ada", "a=1", "name=Ada", "authors.name!=ada", "a.d="):
        assert not holds(text, metadata)


@pytest.mark.parametrize(
    "text", ["on=2024", "on=2024-05", "on=2024-05-31", "on<=2024", "on>=2024-05", "on>2023", "on<2025"]
)
def test_dates_are_compared_as_precisely_as_the_filter_gives_them(text: str) -> None:
    assert holds(text, '{"on": "2024-05-31T10:00"}')
    assert not holds("on=2024", '{"on": "2024-05-31 is a day"}')
    assert not holds("on>2024", '{"on": "2024-05-31"}')
    assert not holds("on!=2024", '{"on": "2024-05-31"}')


def test_modified_is_the_time_of_the_file_unless_the_document_says_another() -> None:
    in_2020 = 1_590_000_000_000_000_000
    assert parse("modified=2020-05").matches(row(mtime_ns=in_2020))
    assert not parse("modified=2020-05").matches(row(mtime_ns=in_2020, metadata='{"Modified": "2024-01-01"}'))


def test_a_list_of_thousands_of_alternatives_is_asked() -> None:
    many = "|".join(f"{number}.md" for number in range(1200))
    assert matching(f"notes.txt|{many}") == ["notes.txt"]
    assert matching(f"!notes.txt|{many}") == ["guide/start.md", "guide/deep/keys.md"]


_PIECES = ("*", "**/", "/", "a", "b", "a", "?", "[ab]", "[*]", "*", "B", "/**/")


def by_backtracking(glob: str) -> re.Pattern[str]:
    """The plain translation of a glob, which for many wildcards takes for ever."""
    glob = ("" if "/" in glob.rstrip("/") else "**/") + glob + ("**" if glob.endswith("/") else "")
    glob += "/*" if glob.endswith("/**") else ""
    pattern = ""
    for part in re.findall(r"(?:(?<=/)|^)\*\*/|\[..?\]|\*+|.", glob):
        pattern += "(?:[^/]*/)*" if part == "**/" else "[^/]" if part == "?" else "[^/]*" if part[0] == "*" else part
    return re.compile(pattern, re.IGNORECASE)


def test_a_glob_matches_what_its_plain_translation_matches() -> None:
    chance = random.Random(1)
    for _ in range(500):
        glob = "".join(chance.choices(_PIECES, k=chance.randint(1, 7)))
        pattern, plain = parse(f"path~{glob}|/nothing"), by_backtracking(glob)
        for path in ("".join(chance.choices("ab/ab*", k=chance.randint(0, 9))) for _ in range(8)):
            spellings = (path, f"docs/{path}", f"/home/ada/docs/{path}")
            assert pattern.matches(row(path)) == (any(map(plain.fullmatch, spellings)) or glob == path), (glob, path)


@pytest.mark.parametrize("glob", ["*a" * 30 + "b", "**/" * 30 + "b", "**a*/" * 20 + "b", "**/a/" * 20 + "b"])
@pytest.mark.parametrize("path", ["a" * 300, "a/" * 150, "aa/" * 100])
def test_a_glob_of_many_wildcards_takes_no_time(glob: str, path: str) -> None:
    assert not parse(glob).matches(row(path))  # by backtracking, not in a lifetime
    assert not parse(f"key~{glob}").matches(row(metadata=f'{{"key": "{path}"}}'))


def test_a_glob_is_no_longer_than_a_path() -> None:
    with pytest.raises(UsageError, match="compares with 9,000 characters; give at most 4,096"):
        parse("**/" * 3000)
