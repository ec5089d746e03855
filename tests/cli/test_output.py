"""The pure pieces of the terminal's and the pipe's output."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from semsearch.cli.commands.status_command import size
from semsearch.cli.formats import Answer, column, one_line, paths, plain, to_json
from semsearch.cli.naming import name_for, place_of
from semsearch.cli.terminal import excerpt, heading, query_pattern, quotation, shorten
from semsearch.errors import UsageError
from semsearch.results.hits import Hit


def hit(
    sentence: str = "A ship.",
    *,
    path: str = "docs/a.md",
    line: int = 3,
    start: int = 0,
    headings: tuple[str, ...] = (),
    before: tuple[str, ...] = (),
    page: int | None = None,
) -> Hit:
    return Hit(
        rank=1, score=0.5, dense=0.5, lexical=None, path=path, root="/r", document="a.md", title="", line=line,
        page=page, headings=headings, sentence=sentence, passage=sentence, start=start,
        end=start + len(sentence), passage_id=1, sentence_id=1, before=before,
    )  # fmt: skip


def test_escape_sequences_of_a_document_never_reach_the_terminal() -> None:
    nasty = hit("ring\x07 \x1b[31mred\x9b1m \u202egnorw", path="a\x1b]0;x\x07.md", headings=("\x1b[2J",))
    shown = "\n".join(plain([Answer("q", "hybrid", [nasty])]))
    shown += heading(nasty, width=80, best=1).plain + quotation(nasty, None, room=100).plain
    shown += to_json(nasty.to_dict())
    assert not set(shown) & set("\x1b\x07\x9b")


def test_a_path_is_one_line_and_otherwise_as_it_is() -> None:
    odd = hit(path="a  b\n\x1b[31m\u202e é.md")
    assert list(paths([Answer("q", "hybrid", [odd])])) == ["a  b??[31m? é.md"]
    assert next(plain([Answer("q", "hybrid", [odd])])).startswith("a  b??[31m? é.md:3  ")


def test_json_survives_what_utf8_cannot_hold() -> None:
    text = to_json({"a": "\ud800é\x9b"})
    assert "é" in text
    assert json.loads(text) == {"a": "\ud800é\x9b"}
    text.encode()


def test_one_line_is_one_line() -> None:
    assert one_line(" a\n\tb\r\nc ") == "a b c"


def test_a_path_is_never_cut_and_a_trail_fits() -> None:
    long = hit(path="a/" * 60 + "b.md", headings=("One", "Two"))
    first, second = heading(long, width=80, best=1).plain.split("\n")
    assert first.endswith("b.md:3")
    assert second.strip() == "One › Two"
    short = hit(headings=("A chapter with a long name", "A section with a long name", "The end"))
    line = heading(short, width=60, best=1)
    assert line.cell_len <= 60
    assert line.plain.endswith("… › The end")


def test_a_page_comes_before_the_headings() -> None:
    assert heading(hit(page=7, headings=("One",)), width=80, best=1).plain.endswith("a.md:3 › p. 7 › One")


def test_a_single_long_heading_is_cut() -> None:
    assert shorten(["x" * 50], 20) == "x" * 19 + "…"


@pytest.mark.parametrize(
    ("query", "text", "found"),
    [
        ("rotate the keys", "Rotating a key, rotated keys; keyboards.", ["Rotating", "key", "rotated", "keys"]),
        ("the", "The other", ["The"]),
        ("utf-8", "In UTF-8 or utf8", ["UTF", "8"]),
        ("c++ [a-z]*", "C and z", ["C", "z"]),
        ("größe", "Die Größe", ["Größe"]),
    ],
)
def test_words_of_the_query_are_set_off_with_their_relations(query: str, text: str, found: list[str]) -> None:
    pattern = query_pattern(query)
    assert pattern is not None
    assert pattern.findall(text) == found


def test_a_very_long_sentence_is_cut_around_what_was_asked() -> None:
    text = "word " * 300 + "lighthouse " + "word " * 300
    cut = excerpt(text, query_pattern("lighthouse"), 200)
    assert len(cut) <= 200
    assert "lighthouse" in cut
    assert cut.startswith("…")
    assert cut.endswith("…")
    assert excerpt("short", None, 200) == "short"
    assert len(excerpt("x" * 1000, None, 200)) <= 200


def test_columns_count_bytes_and_fall_back_to_one(tmp_path: Path) -> None:
    file = tmp_path / "a.txt"
    file.write_bytes("\ufeffline\r\nEinst. Übung. Ein Schiff.\n".encode())
    text = file.read_bytes().decode("utf-8-sig")
    found = hit("Ein Schiff.", path=str(file), line=2, start=text.index("Ein Schiff."))
    assert column(found) == len("Einst. Übung. ".encode()) + 1
    assert column(hit("On another line.", path=str(file), line=2, start=3)) == 1
    assert column(hit("Beyond the end.", path=str(file), line=2, start=3000)) == 1
    assert column(hit("Gone.", path=str(tmp_path / "gone.txt"))) == 1


def test_sizes_are_said_as_people_say_them() -> None:
    assert [size(number) for number in (0, 999, 1500, 123_456, 12_345_678, 5e9)] == [
        "0 bytes", "999 bytes", "1.5 kB", "123 kB", "12.3 MB", "5.0 GB",
    ]  # fmt: skip


def test_an_index_is_named_like_its_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "my docs").mkdir()
    (tmp_path / "one.file.md").write_text("x")
    monkeypatch.chdir(tmp_path / "my docs")
    assert name_for(Path()) == "my docs"
    assert name_for(tmp_path / "my docs" / "") == "my docs"
    assert name_for(tmp_path / "one.file.md") == "one.file"
    assert name_for(Path(tmp_path.anchor)) == "root"


def test_a_name_is_a_name_and_a_path_a_path() -> None:
    indexes = Path("indexes")
    assert place_of("docs", indexes) == indexes / "docs"
    assert place_of("./docs", indexes) == Path("docs")
    assert place_of("some/where", indexes) == Path("some/where")
    for nothing in ("", "  ", "a\0b"):
        with pytest.raises(UsageError):
            place_of(nothing, indexes)
