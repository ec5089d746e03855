"""A damaged database is told of by the first answer that needs what is damaged, and the cure that is named mends it."""

from __future__ import annotations

import random
import shlex
import shutil
import sqlite3
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import pytest
from disk_faults.damaged_bytes import WAYS
from small import small_vectors, write_articles
from typer.testing import CliRunner

from semsearch.cli.main import app
from semsearch.errors import IndexDamaged, IndexNotFound
from semsearch.index import Index
from semsearch.readers.document import Text
from semsearch.storage.schema import DATABASE

TIMES = 3  # that the file is damaged in each way
PEOPLE = "name,year,what\nAnn,1815,The captain sails a ship across the storm.\nBen,1900,Bread and butter in the oven.\n"
ASKED: list[Callable[[Index], object]] = [
    lambda index: _shown(index, "the captain of the ship", context=2),
    lambda index: _shown(index, "bread from the oven", mode="lexical"),
    lambda index: _shown(index, "a violin and the bread", mode="dense"),
    lambda index: _shown(index, "the captain", filters=["year=1815"]),
    lambda index: _shown(index, "the judge", filters=["docs/"], boosts=["path=*kitchen*^0.2"]),
    lambda index: _shown(index, '"the ship" -oven'),
    lambda index: index.facets(),
    lambda index: [(listed.document, listed.title, listed.metadata) for listed in index.documents()],
    lambda index: index.document("added").text,
    lambda index: [(hit.document, hit.passage, hit.score) for hit in index.similar("added")],
    lambda index: index.context("the captain of the ship").text,
]


def _shown(index: Index, query: str, **options: object) -> list[dict[str, object]]:
    """All that hits say, but for the folder that the index is in."""
    return [hit.to_dict() for hit in index.search(query, 5, **options)]  # type: ignore[arg-type]  # of a search


def made_with_records(folder: Path) -> Path:
    """An index with a row of every kind, in a folder."""
    write_articles(folder / "docs", 6)
    (folder / "docs" / "people.csv").write_text(PEOPLE, encoding="utf-8")
    with Index.create(folder / "index", vectors=small_vectors(folder)) as index:
        index.sync(folder / "docs", metadata_columns=["year"])
        index.add([Text("added", "The judge in the court, and the jury. The captain is old.", metadata={"by": "Ada"})])
        (folder / "docs" / "sea-0.md").write_text("# Sea\n\nThe tide and the ship.\n", encoding="utf-8")
        index.sync()
    return folder / "index"


def told_or_right(path: Path, right: list[object]) -> list[bool]:
    """Of each question whether it was answered with an error that says what to do; it must have been answered right
    otherwise.
    """
    try:
        index = Index.open(path, trust=True)
    except (IndexDamaged, IndexNotFound) as error:
        return [says_what_to_do(error)] * len(ASKED)
    told = []
    with index:
        for ask, answer in zip(ASKED, right, strict=True):
            try:
                found = ask(index)
            except IndexDamaged as error:
                told.append(says_what_to_do(error))
                continue
            assert found == answer, f"question {len(told)} is answered wrong without a word"
            told.append(False)
    return told


def says_what_to_do(error: Exception) -> bool:
    """True for an error that names a cure; of any other there is something to mend."""
    if "semsearch " in str(error) or "again" in str(error):
        return True
    raise error


def answers_of(path: Path) -> list[object]:
    with Index.open(path, trust=True) as index:
        return [ask(index) for ask in ASKED]


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return made_with_records(tmp_path_factory.mktemp("whole"))


@pytest.fixture(scope="module")
def right(whole: Path) -> list[object]:
    return answers_of(whole)


def damaged(whole: Path, folder: Path, damage: Callable[[bytearray], object]) -> Path:
    """A copy of an index whose database is damaged."""
    shutil.copytree(whole, folder)
    data = bytearray((folder / DATABASE).read_bytes())
    damage(data)
    (folder / DATABASE).write_bytes(data)
    return folder


@pytest.mark.parametrize("way", WAYS)
def test_no_answer_of_a_damaged_database_is_wrong_without_a_word(
    whole: Path, right: list[object], tmp_path: Path, way: str
) -> None:
    for seed in range(TIMES):
        chance = random.Random(f"{way} {seed}")
        copy = damaged(whole, tmp_path / str(seed), lambda data, chance=chance: WAYS[way](data, chance))  # type: ignore[misc]
        told_or_right(copy, right)  # much of a database of this size is room, or read by no question
        shutil.rmtree(copy)


@pytest.mark.parametrize("letters", [b"captain is old", b"oven", b"1815", b"Sea", b"people.csv", b"Ada", b"judge in"])
def test_a_letter_that_became_another_is_noticed(
    whole: Path, right: list[object], tmp_path: Path, letters: bytes
) -> None:
    def change(data: bytearray) -> None:
        found = places(data, letters)
        assert found
        for start in found:
            data[start] ^= 1

    assert any(told_or_right(damaged(whole, tmp_path / "bad", change), right))


def test_paths_that_are_not_found_any_more_are_noticed(whole: Path, right: list[object], tmp_path: Path) -> None:
    with closing(sqlite3.connect(whole / DATABASE)) as db:
        query = "SELECT rootpage FROM sqlite_master WHERE name = 'documents_by_path'"
        (page,), (size,) = db.execute(query).fetchone(), db.execute("PRAGMA page_size").fetchone()

    def zero(data: bytearray) -> None:
        data[page * size - 512 : page * size] = bytes(512)  # where the first entries are: the page is filled backwards

    copy = damaged(whole, tmp_path / "bad", zero)
    told_or_right(copy, right)
    with Index.open(copy, trust=True) as index:
        one_file = whole.parent / "docs" / "sea-0.md"
        for use in (lambda: list(index.documents()), index.sync, lambda: index.sync(one_file)):
            with pytest.raises(IndexDamaged, match="by their paths"):  # their files would seem new
                use()


def places(data: bytes, wanted: bytes) -> list[int]:
    found, start = [], -1
    while (start := data.find(wanted, start + 1)) >= 0:
        found.append(start)
    return found


@pytest.mark.parametrize(
    "statement",
    [
        "UPDATE passages SET text = (SELECT text FROM passages WHERE id = 4) WHERE id IN (3, 5)",
        "UPDATE passages SET first_sentence = first_sentence + 1",
        "UPDATE passages SET document_id = document_id % 3 + 1",
        "UPDATE passages SET id = -id WHERE id IN (4, 5); UPDATE passages SET id = 9 + id WHERE id < 0",
        "DELETE FROM passages WHERE id > 2",
        "UPDATE documents SET first_passage = first_passage + 1",
        "UPDATE documents SET metadata = '{}'",
        "UPDATE documents SET mtime_ns = mtime_ns + 1",
        "DELETE FROM documents WHERE id % 2",
        'UPDATE record_metadata SET metadata = \'{"year": "1900"}\'',
        "DELETE FROM record_metadata",
        "DELETE FROM removed",
        "DELETE FROM segments WHERE kind = 'words' AND id > 1",
        "UPDATE segments SET runs = (SELECT runs FROM segments LIMIT 1)",
        "UPDATE roots SET path = '/elsewhere'",
        "UPDATE meta SET value = '7' WHERE key = 'generation'",
        "DELETE FROM meta WHERE key = 'digests'",
        "UPDATE fit SET state = zeroblob(length(state))",
        "UPDATE passages SET text = upper(text)",
        "PRAGMA user_version = 6",
    ],
)
def test_rows_that_changed_went_or_changed_places_are_noticed(
    whole: Path, right: list[object], tmp_path: Path, statement: str
) -> None:
    copy = damaged(whole, tmp_path / "bad", lambda _: None)
    with closing(sqlite3.connect(copy / DATABASE)) as db:
        db.executescript(statement)
    assert any(told_or_right(copy, right))
    try:
        with Index.open(copy, trust=True) as index:
            assert index.verify()
    except IndexDamaged:
        pass


@pytest.mark.parametrize("name", ["kitchen-1.md", "people.csv", "added"])
@pytest.mark.parametrize("letter", [b"x", b"\xff"])
def test_the_cure_that_an_error_names_mends_the_text(tmp_path: Path, name: str, letter: bytes) -> None:
    path = made_with_records(tmp_path)
    right = answers_of(path)
    with closing(sqlite3.connect(path / DATABASE)) as db, db:
        db.execute(
            "UPDATE passages SET text = CAST(? || substr(CAST(text AS BLOB), 2) AS TEXT) "
            "WHERE document_id = (SELECT id FROM documents WHERE path = ?)",
            (letter, name),
        )
    with Index.open(path, trust=True) as index:
        problems = index.verify()
        assert all("passage" in problem and name in problem for problem in problems)
        (problem, *_) = problems
        with pytest.raises(IndexDamaged, match=name):
            index.rebuild()
        with pytest.raises(IndexDamaged, match=name):
            index.similar(name)
    for command in problem.split("run: ")[1:]:
        words = shlex.split(command.split(", then ")[0])
        assert CliRunner().invoke(app, words[1:]).exit_code == 0
    with Index.open(path, trust=True) as index:
        if name == "added":
            index.add([Text(name, "The judge in the court, and the jury. The captain is old.", metadata={"by": "Ada"})])
        assert index.verify() == []
        assert [hit.passage for hit in index.search("captain")]
        assert index.document(name).text
        assert index.facets() == right[6]


def test_a_rebuild_mends_the_list_of_segments_and_the_fit(whole: Path, right: list[object], tmp_path: Path) -> None:
    for number, statement in enumerate(
        ["UPDATE segments SET runs = zeroblob(16)", "UPDATE fit SET state = x'00'", "DELETE FROM removed"]
    ):
        copy = damaged(whole, tmp_path / str(number), lambda _: None)
        with closing(sqlite3.connect(copy / DATABASE)) as db, db:
            db.execute(statement)
        with Index.open(copy, trust=True) as index:
            with pytest.raises(IndexDamaged, match="index --rebuild"):
                index.search("captain")
            index.rebuild()
            assert index.verify() == []
            assert index.search("captain")
