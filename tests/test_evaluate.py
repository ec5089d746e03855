"""One's own questions: what answers them, where it stands, and what has changed since the last run."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from small import small_vectors
from some_hit import some_hit

from semsearch.errors import SourceError, UsageError
from semsearch.evaluate import NAME, ExpectedAnswer, evaluate_golden, read_questions
from semsearch.index import Index

HIT = some_hit(
    "Bake it.", path="docs/guide.md", root="/home/ada/docs", document="guide.md", line=11,
    headings=("Guide", "Bread"), passage="Flour.\nBake it.\nEat.",
)  # fmt: skip


@pytest.fixture(scope="module")
def index(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Index]:
    folder = tmp_path_factory.mktemp("golden")
    (folder / "docs").mkdir()
    (folder / "docs" / "ships.md").write_text("# Ships\n\nThe captain of the ship.\n", encoding="utf-8")
    (folder / "docs" / "bread.md").write_text(
        "# Bread\n\nThe dough in the oven.\n\n# Law\n\nThe judge.\n", encoding="utf-8"
    )
    with Index.create(folder / "index", vectors=small_vectors(folder)) as made:
        made.sync(folder / "docs")
        yield made


def questions(path: Path, *lines: Any) -> Path:
    path.write_text("".join(f"{json.dumps(line)}\n" for line in lines), encoding="utf-8")
    return path


# -- what answers ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "written",
    [
        "docs/guide.md", "guide.md", "./docs/guide.md", "/home/ada/docs/guide.md", "docs\\guide.md",
        "ada/docs/guide.md", "docs/guide.md#Bread", "guide.md#guide", "guide.md:10", "guide.md:11", "guide.md:12",
    ],
)  # fmt: skip
def test_these_are_the_hit(written: str) -> None:
    assert ExpectedAnswer.read(written).is_in(HIT)


@pytest.mark.parametrize(
    "written",
    [
        *("uide.md", "other/guide.md", "guide.md#Ships", "guide.md:9", "guide.md:13", "guide.md page 3"),
        *("guide.md slide 1", f"guide.md:{'5' * 5000}", f"guide.md page {'5' * 5000}"),
    ],
)
def test_these_are_another(written: str) -> None:
    assert not ExpectedAnswer.read(written).is_in(HIT)


def test_pages_and_places_are_those_of_the_hit() -> None:
    paged = replace(HIT, path="my report.pdf", document="my report.pdf", root="", page=3)
    for written in ("my report.pdf page 3", "my report.pdf p. 3", "report of mine/my report.pdf"):
        assert ExpectedAnswer.read(written).is_in(paged) == ("mine" not in written)
    assert not ExpectedAnswer.read("my report.pdf page 4").is_in(paged)
    placed = replace(HIT, path="talk.pptx", document="talk.pptx", root="", place="slide 3")
    assert ExpectedAnswer.read("talk.pptx slide 3").is_in(placed)
    assert not ExpectedAnswer.read("talk.pptx slide 4").is_in(placed)


# -- the file ----------------------------------------------------------------------------------------------------------


def test_every_bad_line_is_named_with_its_number(tmp_path: Path) -> None:
    path = tmp_path / "golden.jsonl"
    path.write_text(
        'nonsense\n{"query": "?!", "answers": ["a"]}\n\n{"query": "ship", "answers": []}\n'
        '{"query": "ship", "answers": {"a.md": 0}}\n{"query": "ship", "answer": ["a.md"]}\n'
        '{"query": "ship", "answers": [" "]}\n{"query": "ship", "answers": ["a.md"]}\n',
        encoding="utf-8",
    )
    with pytest.raises(SourceError) as problems:
        evaluate_golden(path, Index(tmp_path))
    lines = str(problems.value).splitlines()
    assert [line.split(": ")[0] for line in lines] == [f"{path}, line {n}" for n in (1, 2, 4, 5, 6, 7)]
    (tmp_path / "empty.jsonl").touch()
    with pytest.raises(SourceError, match="is empty"):
        read_questions(tmp_path / "empty.jsonl")


def test_a_path_or_an_index_that_is_none_is_refused(index: Index, tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="cannot be a path"):
        evaluate_golden("a\0b", index)
    with pytest.raises(UsageError, match=r"as Index\.open opens it"):
        evaluate_golden(tmp_path, "index")  # type: ignore[arg-type]
    for path in (tmp_path, Path(os.devnull)):
        with pytest.raises(SourceError, match=r"cannot be read: .*; give another file"):
            evaluate_golden(path, index)


def test_a_query_that_comes_again_has_the_answers_of_all_its_lines(tmp_path: Path) -> None:
    path = tmp_path / "golden.jsonl"
    lines = {"query": "ship", "answers": ["a.md"]}, {"query": "ship", "answers": ["b.md#Ships"]}
    questions(path, *lines, {"query": "bread ä", "answers": ["c.md"]})
    assert {each.query: [answer.written for answer in each.answers] for each in read_questions(path)} == {
        "ship": ["a.md", "b.md#Ships"],
        "bread ä": ["c.md"],
    }


# -- the run -----------------------------------------------------------------------------------------------------------


def test_figures_are_means_over_questions(index: Index, tmp_path: Path) -> None:
    path = questions(
        tmp_path / "golden.jsonl",
        {"query": "captain", "answers": ["docs/ships.md"]},
        {"query": "judge", "answers": ["docs/bread.md#Law"]},
        {"query": "oven", "answers": ["docs/ships.md:1", "gone.md"]},
    )
    report = evaluate_golden(path, index, modes=["lexical", "hybrid"])
    lexical = report.modes[0]
    assert [each.rank for each in lexical.questions] == [1, 1, None]
    assert lexical.figures == pytest.approx(
        {"hit@1": 2 / 3, "hit@3": 2 / 3, "hit@5": 2 / 3, "hit@10": 2 / 3, "mrr@10": 2 / 3}
    )
    assert report.warnings == ["line 3: the index has no document gone.md"]
    assert json.loads(json.dumps(report.to_dict()))["modes"][0]["questions"][2] == {
        "query": "oven",
        "line": 3,
        "rank": None,
    }
    with pytest.raises(UsageError, match="there is no mode 'nice'; expected hybrid, dense, lexical"):
        evaluate_golden(path, index, modes=["nice"])  # type: ignore[list-item]


def test_what_changed_since_the_last_run_of_the_same_questions_is_told(index: Index, tmp_path: Path) -> None:
    path = tmp_path / "changing.jsonl"
    ship, lost = {"query": "captain", "answers": ["ships.md"]}, {"query": "judge", "answers": ["ships.md"]}
    for _ in range(2):
        same = evaluate_golden(questions(path, ship, lost), index, modes=["lexical"]).modes[0]
        assert (same.better, same.worse) == ([], [])
    found, gone = {"query": "judge", "answers": ["bread.md"]}, {"query": "captain", "answers": ["bread.md"]}
    new = {"query": "oven", "answers": ["bread.md"]}
    last = evaluate_golden(questions(path, gone, found, new), index, modes=["lexical"]).modes[0].to_dict()
    assert last["better"] == [{"query": "judge", "rank": 1, "was": None}]
    assert last["worse"] == [{"query": "captain", "rank": None, "was": 1}]


def test_runs_are_kept_beside_the_index_and_a_damaged_file_is_replaced(index: Index, tmp_path: Path) -> None:
    path = questions(tmp_path / "golden.jsonl", {"query": "captain", "answers": ["ships.md"]})
    for text in ("[]", "{", "[" * 100_000):
        (index.path / NAME).write_text(text, encoding="utf-8")
        assert evaluate_golden(path, index).modes[0].better == []
        assert str(path.resolve()) in json.loads((index.path / NAME).read_text(encoding="utf-8"))
