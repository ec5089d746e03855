"""Similarity of sentence pairs: files, correlations, the papers' protocol, published figures."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest
import reference
from scipy import stats
from small import TOPICS, sentence

from semsearch import SentenceEmbedder
from semsearch.errors import SourceError, UsageError
from semsearch.evaluate import evaluate_sts, evaluate_vectors
from semsearch.evaluate.correlation import pearson, ranks, spearman
from semsearch.evaluate.pairs import read_tasks
from semsearch.evaluate.published import GROUPS, PUBLISHED, YEAR_TASKS, published
from semsearch.evaluate.sts import sentences_of
from semsearch.evaluate.word_vectors import known_share
from semsearch.tokens import words
from semsearch.vectors.table import VectorTable
from semsearch.weights import usif_a

Pair = tuple[float, str, str]


def pairs(seed: int, count: int = 12) -> list[Pair]:
    """Made-up pairs: of one topic, and then alike, or of two."""
    generator = np.random.default_rng(seed)
    made = []
    for number in range(count):
        one, two = generator.choice(list(TOPICS), size=2)
        score = float(generator.integers(3, 6) if one == two else generator.integers(0, 3))
        made.append((score, sentence(one, seed + number), sentence(two, seed + 100 + number)))
    return [*made, (5.0, sentence("sea", 1), sentence("sea", 2)), (0.0, sentence("law", 1), sentence("music", 2))]


def write(path: Path, rows: Sequence[Pair]) -> Path:
    path.write_text("".join(f"{score}\t{one}\t{two}\n" for score, one, two in rows), encoding="utf-8")
    return path


# -- files -------------------------------------------------------------------------------------------------------------


def test_a_name_tells_task_group_and_split(tmp_path: Path) -> None:
    names = ["2012.MSRpar.test.tsv", "stsb.dev.tsv", "sick.test.tsv", "mine.tsv", "2016.a.b.test.tsv", "my.data.txt"]
    tasks = read_tasks([write(tmp_path / name, pairs(0)) for name in names])
    assert [(task.name, task.group, task.split) for task in tasks] == [
        ("2012.MSRpar", "STS12", "test"),
        ("stsb", "STSb", "dev"),
        ("sick", "SICK14", "test"),
        ("mine", "mine", ""),
        ("2016.a.b", "STS16", "test"),
        ("my.data.txt", "my.data.txt", ""),
    ]


def test_a_folder_gives_the_files_of_the_split_and_those_of_none(tmp_path: Path) -> None:
    for name in ("stsb.test.tsv", "stsb.dev.tsv", "mine.tsv", "notes.md"):
        write(tmp_path / name, pairs(0))
    assert [task.name for task in read_tasks([tmp_path])] == ["mine", "stsb"]
    assert [task.split for task in read_tasks([tmp_path], split="dev")] == ["", "dev"]


def test_further_columns_windows_line_ends_and_a_byte_order_mark_do_no_harm(tmp_path: Path) -> None:
    path = tmp_path / "sick.test.tsv"
    path.write_bytes("\ufeff4.5\tone\u2028two\tthree\tNEUTRAL\r\n\r\n1\tfour\tfive\r\n".encode())
    [task] = read_tasks([path])
    assert task.scores.tolist() == [4.5, 1]
    assert (task.first, task.second) == (["one\u2028two", "four"], ["three", "five"])


def test_a_file_that_is_named_twice_is_read_once(tmp_path: Path) -> None:
    path = write(tmp_path / "stsb.test.tsv", pairs(0))
    assert len(read_tasks([path, tmp_path, tmp_path / "." / path.name])) == 1


BROKEN = {
    "two columns": ("4\tone\n", r"x\.tsv, line 2: expected a score and two sentences"),
    "no sentence": ("4\tone\t \n", r"x\.tsv, line 2: expected a score and two sentences"),
    "a word": ("four\tone\ttwo\n", r"x\.tsv, line 2: expected a number as the score, found 'four'"),
    "too high": ("5.1\tone\ttwo\n", r"x\.tsv, line 2: expected a score from 0 to 5, found '5\.1'"),
    "below zero": ("-1\tone\ttwo\n", r"x\.tsv, line 2: expected a score from 0 to 5"),
    "not a number": ("nan\tone\ttwo\n", r"x\.tsv, line 2: expected a score from 0 to 5"),
    "one score": ("3\tone\ttwo\n", r"x\.tsv has fewer than two different scores"),
}


@pytest.mark.parametrize("case", list(BROKEN))
def test_a_broken_file_is_named_with_its_line(tmp_path: Path, case: str) -> None:
    line, said = BROKEN[case]
    (tmp_path / "x.tsv").write_text("3\ta\tb\n" + line)
    with pytest.raises(SourceError, match=said):
        read_tasks([tmp_path / "x.tsv"])


def test_what_is_not_there_is_said(tmp_path: Path) -> None:
    with pytest.raises(SourceError, match="there is no file"):
        read_tasks([tmp_path / "gone.tsv"])
    with pytest.raises(SourceError, match=r"no \.tsv files of the split 'test'"):
        read_tasks([tmp_path])
    (tmp_path / "x").mkdir()
    both = [write(tmp_path / "stsb.test.tsv", pairs(0)), write(tmp_path / "x" / "stsb.test.tsv", pairs(1))]
    with pytest.raises(SourceError, match="of one name"):
        read_tasks(both)


# -- correlations ------------------------------------------------------------------------------------------------------


def test_correlations_are_those_of_scipy() -> None:
    generator = np.random.default_rng(0)
    x, y = generator.standard_normal(50), generator.integers(0, 6, size=50).astype(float)
    assert pearson(x, y) == pytest.approx(stats.pearsonr(x, y).statistic)
    assert spearman(x, y) == pytest.approx(stats.spearmanr(x, y).statistic)
    assert ranks(y) == pytest.approx(stats.rankdata(y))


def test_what_is_always_the_same_correlates_with_nothing() -> None:
    assert pearson(np.ones(3), np.arange(3.0)) == 0
    assert spearman(np.zeros(3), np.arange(3.0)) == 0


# -- the protocol ------------------------------------------------------------------------------------------------------


def lookup(vectors: VectorTable) -> tuple[dict[str, np.ndarray], dict[str, float]]:
    rows = vectors.rows(np.arange(len(vectors))).astype(np.float64)
    return (
        dict(zip(vectors.words, rows, strict=True)),
        dict(zip(vectors.words, vectors.frequencies.astype(np.float64).tolist(), strict=True)),
    )


def literal(rows: np.ndarray, gold: list[float]) -> float:
    """Pearson × 100 of the cosines between the first and the second half of unit rows."""
    half = len(rows) // 2
    return 100 * float(stats.pearsonr((rows[:half] * rows[half:]).sum(axis=1), gold).statistic)


def test_components_are_those_of_each_task_and_weights_those_of_the_papers(
    tmp_path: Path, small_vectors: VectorTable
) -> None:
    table, p = lookup(small_vectors)
    data = [pairs(0), pairs(50)]
    paths = [write(tmp_path / f"2013.{name}.test.tsv", rows) for name, rows in zip("ab", data, strict=True)]
    report = evaluate_sts(paths, methods=["sif", "usif"], vectors=small_vectors)
    found = {(score.method, score.task): score.pearson for score in report.scores}
    for name, rows in zip("ab", data, strict=True):
        texts = [one for _, one, _ in rows] + [two for _, _, two in rows]
        gold = [score for score, _, _ in rows]
        a = reference.usif_a(p, 11)
        assert found["sif", f"2013.{name}"] == pytest.approx(literal(reference.sif(texts, table, p), gold), abs=1e-3)
        assert found["usif", f"2013.{name}"] == pytest.approx(
            literal(reference.usif(texts, table, p, a=a), gold), abs=1e-3
        )


def test_tfidf_counts_over_all_tasks_that_are_run(tmp_path: Path, small_vectors: VectorTable) -> None:
    table, _ = lookup(small_vectors)
    data = [pairs(0), pairs(50)]
    paths = [write(tmp_path / f"{name}.tsv", rows) for name, rows in zip("ab", data, strict=True)]
    scores = evaluate_sts(paths, methods=["tfidf"], vectors=small_vectors).scores
    sides = [[one for _, one, _ in rows] + [two for _, _, two in rows] for rows in data]
    together = reference.tfidf([*sides[0], *sides[1]], table)
    for score, rows, first in zip(scores, data, (0, len(sides[0])), strict=True):
        own = together[first : first + 2 * len(rows)]
        assert score.pearson == pytest.approx(literal(own, [gold for gold, _, _ in rows]), abs=1e-3)


def test_fitted_on_a_file_the_components_are_those_of_its_sentences(tmp_path: Path, small_vectors: VectorTable) -> None:
    path = write(tmp_path / "x.tsv", pairs(3))
    corpus = tmp_path / "corpus.txt"
    lines = [f"{sentence(topic, 1)} {sentence(topic, 2)}" for topic in TOPICS]
    corpus.write_text("\n\n".join(lines), encoding="utf-8")
    assert list(sentences_of(corpus)) == [sentence(topic, number) for topic in TOPICS for number in (1, 2)]
    report = evaluate_sts([path], methods=["sif", "usif"], vectors=small_vectors, fit_on=corpus)
    [task] = read_tasks([path])
    for score, method in zip(report.scores, ("sif", "usif"), strict=True):
        a = None if method == "sif" else usif_a(small_vectors.frequencies, 11)
        embedder = SentenceEmbedder(small_vectors, method=method, a=a).fit(sentences_of(corpus))
        cosines = (embedder.transform(task.first) * embedder.transform(task.second)).sum(axis=1)
        assert score.pearson == pytest.approx(100 * stats.pearsonr(cosines, task.scores).statistic, abs=1e-3)
        assert score.spearman == pytest.approx(100 * stats.spearmanr(cosines, task.scores).statistic, abs=1e-3)
    assert report.scores != evaluate_sts([path], methods=["sif", "usif"], vectors=small_vectors).scores
    (tmp_path / "empty.txt").write_text("\n")
    with pytest.raises(SourceError, match="no sentences to fit on"):
        evaluate_sts([path], vectors=small_vectors, fit_on=tmp_path / "empty.txt")


def test_a_and_components_can_be_chosen(tmp_path: Path, small_vectors: VectorTable) -> None:
    path = write(tmp_path / "x.tsv", pairs(3))
    plain = evaluate_sts([path], methods=["mean"], vectors=small_vectors).scores[0]
    weighted = evaluate_sts([path], methods=["sif"], a=1e9, components=0, vectors=small_vectors).scores[0]
    assert weighted.pearson == pytest.approx(plain.pearson, abs=1e-3)  # a / (a + p) is one for all words
    assert evaluate_sts([path], methods=["mean"], components=2, vectors=small_vectors).scores[0] != plain


def test_a_sentence_of_unknown_words_is_similar_to_nothing(tmp_path: Path, small_vectors: VectorTable) -> None:
    path = write(tmp_path / "x.tsv", [(5, "ship sail", "ship sail"), (0, "xyzzy", "xyzzy")])
    assert evaluate_sts([path], methods=["mean"], vectors=small_vectors).scores[0].pearson == pytest.approx(100)


# -- averages and published figures ------------------------------------------------------------------------------------


def test_a_year_is_the_mean_of_its_tasks_and_published_figures_stand_beside_a_whole_one(
    tmp_path: Path, small_vectors: VectorTable
) -> None:
    for number, task in enumerate(sorted(YEAR_TASKS["STS12"])):
        write(tmp_path / f"2012.{task}.test.tsv", pairs(number, 5 + 10 * number))
    report = evaluate_sts([tmp_path], methods=["sif"], vectors=small_vectors)
    [year] = report.averages
    assert (year.group, year.tasks, year.whole) == ("STS12", 5, True)
    assert year.pearson == pytest.approx(np.mean([score.pearson for score in report.scores]))
    assert year.spearman == pytest.approx(np.mean([score.spearman for score in report.scores]))
    assert year.published == published("STS12")
    (tmp_path / "2012.OnWN.test.tsv").unlink()
    [year] = evaluate_sts([tmp_path], methods=["sif"], vectors=small_vectors).averages
    assert (year.tasks, year.whole, year.published) == (4, False, {})


def test_published_figures_are_of_the_test_split_only(tmp_path: Path, small_vectors: VectorTable) -> None:
    paths = [write(tmp_path / f"{name}.tsv", pairs(1)) for name in ("stsb.dev", "stsb.test", "own")]
    averages = evaluate_sts(paths, methods=["sif"], vectors=small_vectors).averages
    assert [(average.group, average.whole) for average in averages] == [
        ("STSb dev", False),
        ("STSb", True),
        ("own", False),
    ]
    assert [bool(average.published) for average in averages] == [False, True, False]


def test_published_figures_are_those_of_the_papers() -> None:
    rows = {row.name: row.figures for row in PUBLISHED}
    assert rows["GloVe+WR"] == dict(zip(GROUPS, (56.2, 56.6, 68.5, 71.7, 72.2, 72.0), strict=True))
    assert (rows["PSL+WR"]["STS12"], rows["PSL+WR"]["SICK14"]) == (59.5, 72.9)
    assert (rows["GloVe+UP"]["STS14"], rows["GloVe+UP"]["STSb"]) == (74.4, 71.5)
    assert (rows["PSL+UP"]["STS13"], rows["ParaNMT+UP"]["STS15"], rows["ParaNMT+UP"]["STSb"]) == (65.2, 79.0, 79.5)
    assert "STSb" not in rows["PSL+WR"]
    assert all("table" in row.source for row in PUBLISHED)
    # uSIF paper, section 4.3: GloVe+UP is up to 15.5 % better than GloVe+WR, PSL+UP 10.6 % than PSL+WR, on STS'12
    assert rows["GloVe+UP"]["STS12"] / rows["GloVe+WR"]["STS12"] == pytest.approx(1.155, abs=5e-4)
    assert rows["PSL+UP"]["STS12"] / rows["PSL+WR"]["STS12"] == pytest.approx(1.106, abs=5e-4)


def test_what_cannot_be_meant_is_said(tmp_path: Path, small_vectors: VectorTable) -> None:
    path = write(tmp_path / "x.tsv", pairs(3))
    with pytest.raises(UsageError, match="sequence of at least one file"):
        evaluate_sts(str(path))
    with pytest.raises(UsageError, match="no method 'nice'"):
        evaluate_sts([path], methods=["nice"], vectors=small_vectors)
    with pytest.raises(UsageError, match="methods are a sequence"):
        evaluate_sts([path], methods="sif", vectors=small_vectors)
    with pytest.raises(UsageError, match="once each"):
        evaluate_sts([path], methods=["sif", "sif"], vectors=small_vectors)


# -- word vectors ------------------------------------------------------------------------------------------------------


def test_coverage_counts_running_words(small_vectors: VectorTable) -> None:
    texts = ["The ship, the SHIP!", "xyzzy plugh", "", "bread"]
    known = [word in small_vectors.words for text in texts for word in words(text)]
    assert known_share(small_vectors, texts) == pytest.approx(sum(known) / len(known)) == pytest.approx(5 / 7)
    assert known_share(small_vectors, []) == 0


def test_vectors_are_measured_by_sif_and_usif(tmp_path: Path, small_vectors: VectorTable) -> None:
    path = write(tmp_path / "x.tsv", pairs(3))
    report = evaluate_vectors(small_vectors, sts=[path])
    assert report.sts == evaluate_sts([path], methods=["sif", "usif"], vectors=small_vectors).averages
    assert (report.retrieval, report.words) == ((), len(small_vectors))
    assert 0.5 < report.coverage["sts"] <= 1
    with pytest.raises(UsageError, match="nothing to measure on"):
        evaluate_vectors(small_vectors)
