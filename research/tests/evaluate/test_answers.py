"""Questions with the texts of their answers: whether the first hit is right, and quotes a sentence with the answer."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest
from matplotlib import rc_context

from semsearch.errors import SourceError, UsageError
from semsearch.index import Index
from semsearch.word_vectors.table import VectorTable
from semsearch_research.evaluate.answers import evaluate_answers, read_questions
from semsearch_research.evaluate.plots import save
from semsearch_research.experiments.answers_experiment import draw

SEA = "The old ship sailed at dawn. The captain is Ada  Lovelace. The anchor weighs nine tons."
BREAD = "The dough rests for two hours. The oven is hot. Salt is in the pan."


def written(path: Path, *lines: Any) -> Path:
    path.write_text("".join(f"{json.dumps(line)}\n" for line in lines), encoding="utf-8")
    return path


def layout(number: int, text: str, **questions: str) -> dict[str, Any]:
    """A line as XQuAD has it."""
    asked = [
        {"id": str(at), "question": query.replace("_", " "), "answer": answer, "start": max(text.find(answer), 0)}
        for at, (query, answer) in enumerate(questions.items())
    ]
    return {"paragraph": number, "text": text, "questions": asked}


def test_texts_of_the_file_are_searched(tmp_path: Path) -> None:
    path = written(
        tmp_path / "a.jsonl",
        layout(3, SEA, who_is_the_captain="ada lovelace", what_does_the_anchor_weigh="nine tons"),
        layout(5, BREAD, how_long_does_the_dough_rest="two hours", captain="the oven"),
    )
    (mode,) = evaluate_answers(path).modes
    assert mode.figures == {"first": 0.75, "quoted": 0.75, "quoted_of_first": 1.0, "given": 0.75}
    assert [each.is_quoted_given for each in mode.questions] == [True, True, True, False]
    assert mode.misses == []
    with pytest.raises(UsageError, match="leave out the index"):
        evaluate_answers(path, Index(tmp_path / "index"))


def test_questions_to_an_index(tmp_path: Path, small_vectors: VectorTable) -> None:
    (tmp_path / "docs").mkdir()
    (tmp_path / "docs" / "sea.txt").write_text(SEA, encoding="utf-8")
    (tmp_path / "docs" / "bread.txt").write_text(BREAD, encoding="utf-8")
    path = written(
        tmp_path / "a.jsonl",
        {"query": "who is the captain of the ship", "answers": ["Grace Hopper", "Ada Lovelace"]},
        {"query": "captain", "answers": ["nine tons"], "document": "sea.txt"},
        {"query": "captain of dough", "answers": "two hours", "document": "bread.txt"},
        {"query": "captain", "answers": ["three boats"]},
        {"query": "qwrtzx flimnarp", "answers": []},
    )
    with pytest.raises(UsageError, match="name the index"):
        evaluate_answers(path)
    with Index.create(tmp_path / "index", vectors=small_vectors) as index:
        index.sync(tmp_path / "docs")
        report = evaluate_answers(path, index, modes=["lexical", "hybrid"])
    lexical, _ = report.modes
    assert [each.is_first for each in lexical.questions[:2]] == [True, True]
    assert [each.is_quoted for each in lexical.questions[:4]] == [True, False, lexical.questions[2].is_first, False]
    assert [each.is_quoted_given for each in lexical.questions] == [None, False, True, None, None]
    assert lexical.verdicts["none"] == {"answers": 0, "perhaps": 0, "not here": 1}
    assert sum(lexical.verdicts["right"].values()) == lexical.figures["first"] * 4
    assert [each.question.query for each in lexical.misses] == ["captain"]
    found = report.to_dict()["modes"][0]
    assert (found["questions"], found["given"]) == (5, 0.5)
    assert found["misses"] == [{"query": "captain", "line": 2, "quote": "The captain is Ada  Lovelace."}]


@pytest.mark.parametrize(
    "line",
    [
        {"query": "captain", "answers": [7]},
        {"query": "captain", "answers": None},
        {"answers": ["Ada"]},
        {"questions": [{"question": "captain", "answer": "Ada"}]},
        {"text": "The captain.", "questions": ["captain"]},
        {"text": "The captain.", "questions": 7},
    ],
)
def test_a_bad_line_is_named(tmp_path: Path, line: Any) -> None:
    with pytest.raises(SourceError, match=r"a\.jsonl, line 2: expected a line such as"):
        read_questions(written(tmp_path / "a.jsonl", {"query": "captain", "answers": ["a"]}, line))


def test_a_file_needs_questions_of_one_kind(tmp_path: Path) -> None:
    with pytest.raises(SourceError, match="no questions"):
        read_questions(written(tmp_path / "a.jsonl"))
    mixed = written(tmp_path / "b.jsonl", layout(1, SEA, captain="Ada"), {"query": "captain", "answers": ["a"]})
    with pytest.raises(SourceError, match="two files"):
        read_questions(mixed)


def test_facts_are_counted_by_their_kind(tmp_path: Path, small_vectors: VectorTable) -> None:
    (tmp_path / "docs").mkdir()
    (tmp_path / "docs" / "sea.md").write_text(
        "# Sea\n\nThe captain waits. The anchor weighs nine tons.\n", encoding="utf-8"
    )
    (tmp_path / "docs" / "bread.md").write_text("# Bread\n\nThe oven is hot. Salt is in the pan.\n", encoding="utf-8")
    path = written(
        tmp_path / "a.jsonl",
        {"question": "how much does the anchor weigh", "answer": ["nine tons"], "paths": ["sea"], "kind": "prose"},
        {"question": "who is the captain", "answer": ["Lovelace"], "paths": ["sea.md"], "kind": "prose"},
        {"question": "what of the oven", "answer": ["hot"], "paths": ["nowhere"], "kind": "list"},
        {"question": "is there a violin", "answer": [], "paths": []},
    )
    with Index.create(tmp_path / "index", vectors=small_vectors) as index:
        index.sync(tmp_path / "docs")
        report = evaluate_answers(path, index)
    (mode,) = report.modes
    assert mode.kinds == {
        "prose": {"questions": 2, "first": 1.0, "in_five": 1.0, "stated": 0.5},
        "list": {"questions": 1, "first": 0.0, "in_five": 0.0, "stated": None},
    }
    assert report.to_dict()["modes"][0]["kinds"] == mode.kinds
    with rc_context({"svg.fonttype": "none"}):  # text, not outlines
        save(draw(report), tmp_path / "a.svg")
    picture = ElementTree.parse(tmp_path / "a.svg").iter("{http://www.w3.org/2000/svg}text")
    texts = ["".join(text.itertext()) for text in picture]
    bars = {"prose (2)", "list (1)", "all (3)", "0.50", "–", "hybrid: facts stated in the sentence shown"}
    assert bars | {"right first hit (2)", "wrong first hit (1)", "without an answer (1)", "not here"} <= {*texts}
