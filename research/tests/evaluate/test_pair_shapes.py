"""One's own scored pairs, in the shapes that people have them in, are the same task."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from semsearch.errors import SourceError
from semsearch_research.evaluate.sentence_pairs import read_pairs, read_tasks

SHAPES = {
    "score first.tsv": '4.5\tA ship, it sails\tA "boat"\n\tnot\tjudged\n1\tlaw\tmusic\n',
    "score last.tsv": 'A ship, it sails\tA "boat"\t4.5\nnot\tjudged\t\nlaw\tmusic\t1\n',
    "named.tsv": 'sentence1\tsentence2\tscore\nA ship, it sails\tA "boat"\t4.5\nnot\tjudged\t\nlaw\tmusic\t1',
    "named.csv": 'Text1,Text2,Label\n"A ship, it sails","A ""boat""",4.5\nnot,judged,\nlaw,music,1\n',
    "plain.csv": '"A ship, it sails","A ""boat""",4.5\nnot,judged,\nlaw,music,1\n',
    "tabs.csv": 'score\tsentence_A\tsentence_B\n4.5\tA ship, it sails\tA "boat"\n\tnot\tjudged\n1\tlaw\tmusic\n',
    "mteb.jsonl": "".join(
        json.dumps({"sentence1": one, "sentence2": two, "score": score, "genre": "x"}) + "\n"
        for score, one, two in ((4.5, "A ship, it sails", 'A "boat"'), (None, "not", "judged"), (1, "law", "music"))
    ),
}


@pytest.mark.parametrize("name", list(SHAPES))
def test_every_shape_gives_the_same_pairs(tmp_path: Path, name: str) -> None:
    path = tmp_path / name
    path.write_text(SHAPES[name], encoding="utf-8")
    found = [(pair.score, pair.first, pair.second) for pair in read_pairs(path)]
    assert found == [(4.5, "A ship, it sails", 'A "boat"'), (None, "not", "judged"), (1.0, "law", "music")]
    [task] = read_tasks([path])
    assert (task.name, task.scores.tolist()) == (path.stem, [4.5, 1.0])


def test_scores_that_are_not_the_papers_may_have_any_range(tmp_path: Path) -> None:
    (tmp_path / "mine.csv").write_text("score,s1,s2\n-0.7,a b,c\n100,d,e f\n")
    [task] = read_tasks([tmp_path])
    assert task.scores.tolist() == [-0.7, 100]


def test_a_split_alone_is_called_like_its_folder(tmp_path: Path) -> None:
    (tmp_path / "biosses").mkdir()
    for split in ("test", "train"):
        (tmp_path / "biosses" / f"{split}.jsonl").write_text(SHAPES["mteb.jsonl"])
    [task] = read_tasks([tmp_path / "biosses"])
    assert (task.name, task.split) == ("biosses", "test")


BROKEN = {
    "x.jsonl": ('{"sentence1": "a", "score": 1}\n', "line 1: expected an object with sentence1, sentence2 and score"),
    "y.jsonl": ('{"s1": "a", "s2": "b", "score": [1]}\n', r"line 1: expected a number as the score, found '\[1\]'"),
    "z.jsonl": ("[" * 100_000, "line 1: expected a JSON object"),
    "x.csv": ("score,s1,s2\n1,a,b\nhigh,c,d\n", "line 3: expected a number as the score, found 'high'"),
    "y.csv": ("score,s1,s2\n1,a,b\ninf,c,d\n", "line 3: expected a number as the score, found 'inf'"),
    "z.csv": ('score,s1,s2\n1,a,b\n2,"c,d\n', "z.csv is not valid CSV"),
    "x.tsv": ("only words here\n", "line 1: expected a score and two sentences"),
}


@pytest.mark.parametrize("name", list(BROKEN))
def test_a_line_that_is_no_pair_is_named(tmp_path: Path, name: str) -> None:
    text, said = BROKEN[name]
    (tmp_path / name).write_text(text)
    with pytest.raises(SourceError, match=said):
        list(read_pairs(tmp_path / name))
