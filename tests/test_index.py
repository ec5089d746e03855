"""An index as a user meets it: filled, changed, asked."""

from __future__ import annotations

import io
import os
import re
import shutil
from collections.abc import Callable, Iterator
from datetime import date
from pathlib import Path
from typing import Any

import pytest
from small import small_vectors, write_articles
from tqdm import tqdm

from semsearch.errors import (
    IndexDamaged,
    IndexExists,
    IndexNotFound,
    SourceError,
    UsageError,
    VectorsMismatch,
)
from semsearch.index import Index
from semsearch.multi_index import MultiIndex
from semsearch.readers.document import Text
from semsearch.results.reports import Progress
from semsearch.word_vectors.table import VectorTable


@pytest.fixture
def docs(tmp_path: Path) -> Path:
    write_articles(tmp_path / "docs", 12)
    return tmp_path / "docs"


@pytest.fixture
def index(tmp_path: Path) -> Iterator[Index]:
    with Index.create(tmp_path / "index", vectors=small_vectors(tmp_path)) as made:
        yield made
        assert made.verify() == []


def documents(index: Index) -> set[str]:
    with index._database.reading() as db:
        return {path for (path,) in db.execute("SELECT path FROM documents")}


# -- sync ----------------------------------------------------------------------------------------------------------


def test_each_change_on_the_disk_is_found_and_reported(index: Index, docs: Path) -> None:
    index.sync(docs)
    (docs / "sea-0.md").write_text("# Sea\n\nA sailor and a violin.\n")
    (docs / "kitchen-1.md").unlink()
    (docs / "sub").mkdir()
    (docs / "night-2.md").rename(docs / "sub" / "night-2.md")
    (docs / "garden-3.md").rename(docs / "garden-33.md")
    (docs / "new.txt").write_text("A judge with a loaf of bread.")
    os.utime(docs / "music-4.md", (1, 1))
    report = index.sync()
    assert (report.added, report.changed, report.moved, report.removed) == (1, 1, 2, 1)
    assert report.unchanged == 12 - 4
    assert {"sub/night-2.md", "garden-33.md", "new.txt"} <= documents(index)
    assert index.search("sailor violin")[0].sentence == "A sailor and a violin."


def test_unreadable_files_are_reported_and_skipped(index: Index, docs: Path) -> None:
    (docs / "binary.txt").write_bytes(bytes(range(256)) * 20)
    report = index.sync(docs)
    assert report.added == 12
    assert [Path(item.path).name for item in report.skipped] == ["binary.txt"]
    (docs / "sea-0.md").write_bytes(bytes(range(256)) * 20)
    report = index.sync()
    assert (report.changed, len(report.skipped)) == (0, 2)
    assert "sea-0.md" not in documents(index)


def test_a_parsers_own_bug_costs_one_file(index: Index, docs: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from semsearch.indexing import read_files as preparing
    from semsearch.readers import read as readers

    good = readers.read_file

    def bad(path: Path, **options: Any) -> readers.FileContent:
        if path.name == "sea-0.md":
            raise RecursionError("too deep")
        return good(path, **options)

    monkeypatch.setattr(preparing, "read_file", bad)
    report = index.sync(docs)
    assert report.added == 11
    assert "RecursionError: too deep" in report.skipped[0].reason


def test_an_empty_file_is_known_and_has_nothing_to_say(index: Index, docs: Path) -> None:
    (docs / "empty.md").write_text("")
    assert index.sync(docs).added == 13
    assert index.sync().unchanged == 13


def test_a_root_that_vanishes_or_empties_is_a_question_not_a_purge(index: Index, docs: Path, tmp_path: Path) -> None:
    notes = tmp_path / "notes"
    write_articles(notes, 2, first=50)
    index.sync(docs, notes)
    shutil.rmtree(notes)
    for path in docs.iterdir():
        path.unlink()
    report = index.sync()
    assert report.removed == 0
    assert len(report.warnings) == 2
    assert "has no files" in report.warnings[0]
    assert "no longer exists" in report.warnings[1]
    assert len(documents(index)) == 14
    assert index.sync(prune=True).removed == 14
    assert index.status().roots == (docs.as_posix(),)
    assert index.search("ship") == []


def test_a_sync_of_one_root_leaves_the_others_alone(index: Index, docs: Path, tmp_path: Path) -> None:
    write_articles(tmp_path / "notes", 2, first=50)
    index.sync(docs)
    (docs / "sea-0.md").unlink()
    report = index.sync(tmp_path / "notes")
    assert (report.added, report.removed) == (2, 0)
    assert index.sync().removed == 1


def test_a_folder_around_a_root_takes_it_over_without_reading_it_again(index: Index, docs: Path) -> None:
    inner = docs / "inner"
    files = [*docs.iterdir()]
    inner.mkdir()
    for path in files:
        os.utime(path, (1, 1))
        path.rename(inner / path.name)
    assert index.sync(inner).added == len(files)
    report = index.sync(docs)
    assert (report.added, report.changed, report.removed, report.sentences) == (0, 0, 0, 0)
    assert "inner/sea-0.md" in documents(index)
    assert index.search("ship", filters=["inner/sea-0.md"])[0].path == str((inner / "sea-0.md").as_posix())


def test_a_single_file_can_be_a_root(index: Index, docs: Path) -> None:
    index.sync(docs / "sea-0.md")
    hit = index.search("ship")[0]
    assert (Path(hit.path), hit.document) == (docs / "sea-0.md", "sea-0.md")
    (docs / "sea-0.md").unlink()
    assert "no longer exists" in index.sync().warnings[0]


def test_globs_stay_with_a_root(index: Index, docs: Path) -> None:
    index.sync(docs, include=["sea*"], exclude=["*-6.md"])
    assert documents(index) == {"sea-0.md"}
    assert index.sync().unchanged == 1
    assert index.sync(docs, include=["night*"]).removed == 1


def test_a_path_that_is_not_there_changes_nothing(index: Index, docs: Path) -> None:
    with pytest.raises(SourceError, match="nowhere"):
        index.sync(docs, docs / "nowhere")
    assert documents(index) == set()
    with pytest.raises(UsageError, match="no roots"):
        index.sync()


def test_progress_is_told(index: Index, docs: Path) -> None:
    seen: list[Progress] = []
    index.sync(docs, progress=seen.append)
    assert list(dict.fromkeys(step.phase for step in seen)) == [
        "looking",
        "reading",
        "embedding",
        "writing",
    ]
    assert seen[-1].sentences == index.status().sentences


# -- vectors -------------------------------------------------------------------------------------------------------


def test_adding_documents_never_changes_old_vectors_once_an_index_is_large(
    index: Index, docs: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("semsearch.indexing.generation.REFIT_BELOW", 0)
    index.sync(docs)
    before = {hit.passage_id: hit.dense for hit in index.search("the moon", 100, mode="dense")}
    write_articles(docs, 30, first=100)
    assert index.sync().refitted is False
    after = {hit.passage_id: hit.dense for hit in index.search("the moon", 200, mode="dense")}
    assert before.items() <= after.items()
    assert index.status().has_outgrown_its_fit
    index.refit()
    assert not index.status().has_outgrown_its_fit


def test_a_small_index_that_doubles_is_fitted_anew_by_itself(index: Index, docs: Path) -> None:
    assert index.sync(docs).refitted is False
    write_articles(docs, 12, first=100)
    assert index.sync().refitted is True
    status = index.status()
    assert status.fitted_sentences == status.sentences


def test_a_refit_gives_what_a_new_index_of_the_same_documents_has(index: Index, docs: Path, tmp_path: Path) -> None:
    index.sync(docs)
    write_articles(docs, 6, first=100)
    index.sync()
    (docs / "sea-0.md").unlink()
    index.sync()
    index.refit()
    with Index.create(tmp_path / "fresh", vectors=tmp_path / "small") as fresh:
        fresh.sync(docs)
        expected = [(hit.document, hit.sentence, round(hit.score, 4)) for hit in fresh.search("rope and tide", 5)]
    assert [(hit.document, hit.sentence, round(hit.score, 4)) for hit in index.search("rope and tide", 5)] == expected


def test_answers_do_not_depend_on_how_many_segments_there_are(index: Index, docs: Path) -> None:
    index.sync(docs)
    counts = set()
    for number in range(12):
        (docs / "sea-0.md").write_text(f"# Version {number}\n\nThe captain has an anchor.\n")
        index.sync()
        counts.add(index.status(stale=False).segments)
        assert index.verify() == []
    assert max(counts) <= 24
    many = [(hit.sentence, round(hit.score, 4)) for hit in index.search("captain", 50)]
    index.refit()
    assert index.status().segments <= 10
    assert index.status().removed == 0
    with Index.open(index.path) as opened:
        assert [hit[0] for hit in many[:1]] == [opened.search("captain", 50)[0].sentence]


# -- texts ---------------------------------------------------------------------------------------------------------


def test_texts_that_are_in_no_file_are_added_replaced_and_removed(index: Index) -> None:
    assert index.add([Text("a", "The judge eats bread."), Text("b", "A star.", title="Sky")]).added == 2
    report = index.add([Text("a", "The judge eats cheese."), Text("b", "A star.", title="Sky"), Text("c", "A bee.")])
    assert (report.added, report.changed, report.unchanged) == (1, 1, 1)
    hit = index.search("cheese")[0]
    assert (hit.path, hit.root, hit.document, hit.sentence) == ("a", "", "a", "The judge eats cheese.")
    assert index.search("bread", mode="lexical") == []
    assert index.remove("a", "nothing") == 1
    assert documents(index) == {"b", "c"}


def test_a_texts_own_title_and_metadata_go_over_those_in_it(index: Index) -> None:
    front = "---\ntitle: Inside\nyear: 1999\nkind: note\n---\n\nA bee.\n"
    index.add([Text("a", front, title="Outside", metadata={"year": 2020}, format="markdown")])
    hit = index.search("bee", filters=["year=2020", "kind=note"])[0]
    assert (hit.title, hit.metadata["year"]) == ("Outside", 2020)


def test_an_id_that_is_empty_or_comes_twice_is_refused_and_nothing_is_kept(index: Index) -> None:
    with pytest.raises(UsageError, match="occurs twice"):
        index.add([Text("a", "One."), Text("a", "Two.")])
    with pytest.raises(UsageError, match="no text format"):
        index.add([Text("a", "One."), Text("b", "Two.", format="docx")])
    assert documents(index) == set()


def test_text_that_no_encoding_knows_is_stored_all_the_same(index: Index) -> None:
    index.add([Text("a", "A bee \ud800 and \x00 a rose.", title="\udfff")])
    assert index.search("bee")[0].document == "a"


def test_files_folders_and_roots_can_be_removed(index: Index, docs: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    index.sync(docs)
    monkeypatch.chdir(docs)
    assert index.remove("sea-0.md") == 1
    assert index.remove(docs) == 11
    assert index.status().roots == ()


# -- opening -------------------------------------------------------------------------------------------------------


def test_creating_where_something_is_says_what_it_is(index: Index, docs: Path, tmp_path: Path) -> None:
    with pytest.raises(IndexExists):
        Index.create(index.path, vectors=tmp_path / "small")
    with pytest.raises(IndexDamaged, match=r"garden-3\.md"):
        Index.create(docs, vectors=tmp_path / "small")
    with pytest.raises(IndexDamaged, match="is a file"):
        Index.create(docs / "sea-0.md", vectors=tmp_path / "small")


def test_opening_what_is_no_index_says_so(tmp_path: Path, docs: Path) -> None:
    with pytest.raises(IndexNotFound):
        Index.open(tmp_path / "nowhere")
    with pytest.raises(IndexNotFound):
        Index.open(docs)
    (docs / "index.sqlite").write_text("hello, this is not a database at all, but long enough to be taken for one")
    with pytest.raises(IndexDamaged):
        Index.open(docs)


def test_opening_can_make_the_index_where_there_is_none(tmp_path: Path, docs: Path) -> None:
    vectors = small_vectors(tmp_path)
    with Index.open(tmp_path / "new", vectors=vectors, create=True) as index:
        assert index.settings.vectors_digest == vectors.digest
        assert index.sync(docs).added == 12
    with Index.open(tmp_path / "new", create=True) as index:
        assert len(index) == 12
    with pytest.raises(IndexDamaged):
        Index.open(docs, create=True)


def test_an_index_is_a_collection_of_its_documents(index: Index, docs: Path) -> None:
    assert len(index) == 0
    assert index  # an index all the same
    index.sync(docs)
    index.add([("a", "A bee.")])
    assert len(index) == 13
    assert [document.path for document in index] == [document.path for document in index.documents()]
    assert "a" in index
    assert docs / "sea-0.md" in index
    assert "sea-0.md" in index
    assert "b" not in index
    assert 7 not in index


def test_progress_is_drawn_where_it_is_wanted(index: Index, docs: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    screen = io.StringIO()
    monkeypatch.setattr("tqdm.auto.tqdm", lambda **_: tqdm(file=screen, mininterval=0))
    index.sync(docs, progress=True)
    assert "reading files: 100%" in screen.getvalue()
    assert "embedding: 100%" in screen.getvalue()
    screen.truncate(0)
    index.rebuild(progress=False)
    assert screen.getvalue() == ""


def test_a_closed_index_says_so_whatever_it_is_asked(tmp_path: Path, small_vectors: VectorTable) -> None:
    with Index.create(tmp_path / "index", vectors=small_vectors) as index:
        index.add([Text("a", "A ship.")])
        for _ in range(2):
            index._release()  # its files are opened again
            assert len(index.search("ship")) == 1
    asked: list[Callable[[], object]] = [
        lambda: index.search("ship"),
        lambda: index.context("ship"),
        lambda: [*index],
        lambda: index.document("a"),
        lambda: index.status(),
        lambda: len(index),
        lambda: index.add([Text("b", "A moon.")]),
        lambda: index.remove("a"),
        lambda: index.describe("Ships."),
        lambda: index.verify(),
        lambda: index.map(),
    ]
    for ask in asked:
        with pytest.raises(UsageError, match=r"is closed; open it again: Index\.open\("):
            ask()
    index.close()
    with Index.open(index.path) as again:
        assert [document.path for document in again] == ["a"]


def test_other_word_vectors_are_refused_until_a_rebuild(index: Index, docs: Path, tmp_path: Path) -> None:
    index.sync(docs)
    others = small_vectors(tmp_path, seed=1, name="others")
    with pytest.raises(VectorsMismatch, match="--rebuild"):
        Index.open(index.path, vectors=others)
    index.rebuild(vectors=others)
    assert index.verify() == []
    with Index.open(index.path) as opened:
        assert opened.settings.vectors_name == "others"
        assert "ship" in opened.search("ship")[0].passage.lower()


def test_an_index_can_be_moved_with_its_folder(index: Index, docs: Path, tmp_path: Path) -> None:
    index.sync(docs)
    expected = index.search("moon")
    shutil.copytree(index.path, tmp_path / "elsewhere")
    with Index.open(tmp_path / "elsewhere", trust=True) as moved:
        assert moved.search("moon") == expected
        assert moved.verify() == []


# -- what is not meant, and what is damaged ------------------------------------------------------------------------


UNUSABLE: list[Any] = [5, "", "a\0b", "a\ud800", "a" * 5000]  # as paths


def test_an_argument_of_the_wrong_kind_is_refused(index: Index, docs: Path, tmp_path: Path) -> None:
    wrong: list[Callable[[], object]] = [
        lambda: index.search("moon", 1.5),  # type: ignore[arg-type]
        lambda: index.search("moon", context="1"),  # type: ignore[arg-type]
        lambda: index.search("moon", min_score=float("nan")),
        lambda: index.search("moon", min_score="high"),  # type: ignore[arg-type]
        lambda: index.search_many([1]),  # type: ignore[list-item]
        lambda: index.context("moon", max_words=1.5),  # type: ignore[arg-type]
        lambda: index.passages("a", line=1 << 70),
        lambda: index.passages("a", page="1"),  # type: ignore[arg-type]
        lambda: index.sync([docs]),  # type: ignore[arg-type]
        lambda: index.sync(docs, include=[""]),
        lambda: index.sync(""),
        lambda: index.remove(""),
        *(lambda path=path: index.sync(path) for path in UNUSABLE),
        *(lambda path=path: index.load(path) for path in UNUSABLE),
        *(lambda path=path: index.export(path) for path in UNUSABLE),
        *(lambda path=path: Index.create(path) for path in UNUSABLE),
        *(lambda path=path: Index.open(path, create=True) for path in UNUSABLE),
        *(lambda path=path: MultiIndex.open(path) for path in UNUSABLE),
        *(lambda path=path: Index.create(tmp_path / "other", vectors=path) for path in UNUSABLE),
        lambda: index.passages("a", offset=None),  # type: ignore[arg-type]
        lambda: index.page_picture("a", 1, width="9"),  # type: ignore[arg-type]
        lambda: index.map_passages(["a"]),  # type: ignore[list-item]
        lambda: index.refit(progress="yes"),  # type: ignore[arg-type]
        lambda: Index.open(index.path, reranker=True),  # type: ignore[arg-type]
        lambda: MultiIndex({1: index}),  # type: ignore[dict-item]
        lambda: MultiIndex({"a": index}, reranker=True),  # type: ignore[arg-type]
        lambda: index.add(["a"]),  # type: ignore[list-item]
        lambda: index.add([Text("a", 1)]),  # type: ignore[arg-type]
        lambda: index.add([Text("a\ud800", "A bee.")]),
        lambda: index.add([Text("a", "A bee.", metadata="x")]),  # type: ignore[arg-type]
        lambda: Index.create(tmp_path / "other", vectors=tmp_path / "small", components=1.5),  # type: ignore[arg-type]
    ]
    for call in wrong:
        with pytest.raises(UsageError):
            call()
    assert documents(index) == set()
    assert not (tmp_path / "other").exists()


def test_a_description_of_no_characters_of_unicode_is_kept_without_them(index: Index) -> None:
    index.describe("Ships\ud800")  # as an argument in another encoding comes
    assert index.status().description == "Ships?"


def test_metadata_is_kept_as_json_has_it(index: Index) -> None:
    given = {"score": float("nan"), "day": date(2024, 5, 1), "tags": {"b", "a"}, 3: (1, 2)}
    assert index.add([Text("a", "A bee.", metadata=given)]).added == 1
    assert index.add([Text("a", "A bee.", metadata=given)]).unchanged == 1
    (hit,) = index.search("bee", filters=["day>=2024-01-01", "tags=b"])
    assert hit.metadata == {"score": None, "day": "2024-05-01", "tags": ["a", "b"], "3": [1, 2]}


def test_without_its_segments_an_index_can_be_rebuilt(index: Index, docs: Path) -> None:
    index.sync(docs)
    expected = [hit.document for hit in index.search("moon")]
    shutil.rmtree(index.path / "segments")
    index._release()
    with pytest.raises(IndexDamaged, match=rf"--rebuild --name {re.escape(index.path.as_posix())}$"):
        index.search("moon")
    (docs / "sea-0.md").unlink()
    with Index.open(index.path) as opened:
        opened.sync()
        opened.rebuild()
    assert [hit.document for hit in index.search("moon") if hit.document != "sea-0.md"] == [
        document for document in expected if document != "sea-0.md"
    ]


def test_a_skipped_file_is_told_of_each_time_but_is_not_stale(index: Index, docs: Path) -> None:
    (docs / "binary.txt").write_bytes(bytes(range(256)) * 20)
    index.sync(docs)
    assert index.status().stale == 0
    for path in docs.iterdir():
        os.utime(path, (1, 1))
    assert index.status().stale == 1
    index.sync()
    generation = index.status().generation
    assert [Path(item.path).name for item in index.sync().skipped] == ["binary.txt"]
    assert index.status().generation == generation
    (docs / "binary.txt").write_text("A bee.")
    report = index.sync()
    assert (report.added, report.skipped) == (1, ())


def test_a_root_that_cannot_be_read_is_kept_even_when_pruning(
    index: Index, docs: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    index.sync(docs)

    def refuse(*_: object, **__: object) -> None:
        raise SourceError(f"{docs} cannot be read: Permission denied") from PermissionError()

    monkeypatch.setattr("semsearch.sources.root_files.find_files", refuse)
    report = index.sync(prune=True)
    assert report.removed == 0
    assert report.warnings == (f"{docs} cannot be read: Permission denied; its 12 documents were kept",)
    assert index.status(stale=False).roots == (docs.as_posix(),)


@pytest.mark.skipif(os.name == "nt", reason="needs links that anyone may make")
def test_what_a_walk_does_not_take_any_more_leaves_the_index(index: Index, docs: Path) -> None:
    (docs / "link.md").symlink_to("sea-0.md")
    (docs / "other.md").symlink_to("sea-6.md")
    (docs / "vendor").mkdir()
    (docs / "vendor" / "a.md").write_text("A rose.")
    assert index.sync(docs).added == 15
    (docs / "sea-0.md").unlink()
    (docs / "other.md").unlink()
    (docs / "other.md").symlink_to("vendor")
    (docs / "vendor" / "modules.txt").write_text("")
    report = index.sync(docs)
    assert report.removed == 4
    assert len(report.skipped) == 3
    assert documents(index) == {path.name for path in docs.iterdir()} - {"link.md", "other.md", "vendor"}


@pytest.mark.skipif(os.name == "nt", reason="needs links that anyone may make")
def test_a_link_to_itself_is_no_path_to_index(index: Index, tmp_path: Path) -> None:
    (tmp_path / "loop").symlink_to("loop")
    with pytest.raises(SourceError, match="loop"):
        index.sync(tmp_path / "loop")


def test_globs_that_leave_nothing_are_blamed(index: Index, docs: Path) -> None:
    index.sync(docs)
    (warning,) = index.sync(docs, exclude=["*"]).warnings
    assert "has no files with --exclude '*'; its 12 documents were kept" in warning
