"""Similarity of sentence pairs: files, correlations, the papers' protocol, published figures."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest
import scipy
from collections_made import pairs, write_pairs
from references import papers as reference
from small import TOPICS, sentence

from semsearch import SentenceEmbedder
from semsearch.embedding.weights import usif_a
from semsearch.errors import SourceError, UsageError
from semsearch.word_vectors.table import VectorTable
from semsearch_research.evaluate import sts
from semsearch_research.evaluate.published import GROUPS, PUBLISHED, YEAR_TASKS, published, published_task
from semsearch_research.evaluate.sentence_pairs import read_tasks
from semsearch_research.evaluate.sts import evaluate_sts, sentences_of
from semsearch_research.evaluate.sts_scores import StsReport, pearson, ranks, spearman
from semsearch_research.evaluate.vector_scores import evaluate_vectors


@pytest.fixture(autouse=True)
def cache(tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> None:
    """No test finds what another has kept, and none keeps anything in the user's own folder."""
    folder = str(tmp_path_factory.mktemp("cache"))
    for name in ("XDG_CACHE_HOME", "LOCALAPPDATA", "HOME"):
        monkeypatch.setenv(name, folder)
    for name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
        monkeypatch.setenv(name, "1")  # so that what a command sets is taken back


# -- files -------------------------------------------------------------------------------------------------------------


def test_a_folder_gives_the_files_of_the_split_and_those_of_none(tmp_path: Path) -> None:
    for name in ("stsb.test.tsv", "stsb.dev.tsv", "mine.tsv", "notes.md"):
        write_pairs(tmp_path / name, pairs(0))
    assert [task.name for task in read_tasks([tmp_path])] == ["mine", "stsb"]
    assert [task.split for task in read_tasks([tmp_path], split="dev")] == ["", "dev"]


BROKEN = {
    "two columns": ("4\tone\n", r"x\.tsv, line 2: expected a score and two sentences"),
    "no sentence": ("4\tone\t \n", r"x\.tsv, line 2: expected a score and two sentences"),
    "a word": ("four\tone\ttwo\n", r"x\.tsv, line 2: expected a score from 0 to 5, found 'four'"),
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


def test_a_pair_without_a_score_is_left_out_or_has_score_zero(tmp_path: Path) -> None:
    path = tmp_path / "2015.belief.test.tsv"
    path.write_text("4\ta b\tb c\n\tnot judged\tby anybody\n1\tc d\td e\n")
    [left_out] = read_tasks([path])
    assert (left_out.scores.tolist(), left_out.first) == ([4, 1], ["a b", "c d"])
    [zero] = read_tasks([path], blank_as_zero=True)
    assert (zero.scores.tolist(), zero.first) == ([4, 0, 1], ["a b", "not judged", "c d"])


# -- correlations ------------------------------------------------------------------------------------------------------


def test_correlations_are_those_of_scipy() -> None:
    generator = np.random.default_rng(0)
    x, y = generator.standard_normal(50), generator.integers(0, 6, size=50).astype(float)
    assert pearson(x, y) == pytest.approx(scipy.stats.pearsonr(x, y).statistic)
    assert spearman(x, y) == pytest.approx(scipy.stats.spearmanr(x, y).statistic)
    assert ranks(y) == pytest.approx(scipy.stats.rankdata(y))


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
    return 100 * float(scipy.stats.pearsonr((rows[:half] * rows[half:]).sum(axis=1), gold).statistic)


def test_components_are_those_of_each_task_and_weights_those_of_the_papers(
    tmp_path: Path, small_vectors: VectorTable
) -> None:
    table, p = lookup(small_vectors)
    data = [pairs(0), pairs(50)]
    paths = [write_pairs(tmp_path / f"2013.{name}.test.tsv", rows) for name, rows in zip("ab", data, strict=True)]
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
    paths = [write_pairs(tmp_path / f"{name}.tsv", rows) for name, rows in zip("ab", data, strict=True)]
    scores = evaluate_sts(paths, methods=["tfidf"], vectors=small_vectors).scores
    sides = [[one for _, one, _ in rows] + [two for _, _, two in rows] for rows in data]
    together = reference.tfidf([*sides[0], *sides[1]], table)
    for score, rows, first in zip(scores, data, (0, len(sides[0])), strict=True):
        own = together[first : first + 2 * len(rows)]
        assert score.pearson == pytest.approx(literal(own, [gold for gold, _, _ in rows]), abs=1e-3)


def test_fitted_on_a_file_the_components_are_those_of_its_sentences(tmp_path: Path, small_vectors: VectorTable) -> None:
    path = write_pairs(tmp_path / "x.tsv", pairs(3))
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
        assert score.pearson == pytest.approx(100 * scipy.stats.pearsonr(cosines, task.scores).statistic, abs=1e-3)
        assert score.spearman == pytest.approx(100 * scipy.stats.spearmanr(cosines, task.scores).statistic, abs=1e-3)
    assert report.scores != evaluate_sts([path], methods=["sif", "usif"], vectors=small_vectors).scores
    (tmp_path / "empty.txt").write_text("\n")
    with pytest.raises(SourceError, match="no sentences to fit on"):
        evaluate_sts([path], vectors=small_vectors, fit_on=tmp_path / "empty.txt")


# -- averages and published figures ------------------------------------------------------------------------------------


def test_a_year_is_the_mean_of_its_tasks_and_published_figures_stand_beside_a_whole_one(
    tmp_path: Path, small_vectors: VectorTable
) -> None:
    for number, task in enumerate(sorted(YEAR_TASKS["STS12"])):
        write_pairs(tmp_path / f"2012.{task}.test.tsv", pairs(number, 5 + 10 * number))
    report = evaluate_sts([tmp_path], methods=["sif"], vectors=small_vectors)
    [year] = report.averages
    assert (year.group, year.tasks, year.whole) == ("STS12", 5, True)
    assert year.pearson == pytest.approx(np.mean([score.pearson for score in report.scores]))
    assert year.spearman == pytest.approx(np.mean([score.spearman for score in report.scores]))
    assert year.published == published("STS12")
    (tmp_path / "2012.OnWN.test.tsv").unlink()
    [year] = evaluate_sts([tmp_path], methods=["sif"], vectors=small_vectors).averages
    assert (year.tasks, year.whole, year.published) == (4, False, {})


def test_published_figures_are_those_of_the_papers() -> None:
    rows = {row.name: row.figures for row in PUBLISHED}
    assert rows["GloVe+WR"] == dict(zip(GROUPS, (56.2, 56.6, 68.5, 71.7, 72.2, 72.0, 48.0), strict=True))
    assert (rows["PSL+WR"]["STS12"], rows["PSL+WR"]["SICK14"]) == (59.5, 72.9)
    assert (rows["GloVe+UP"]["STS14"], rows["GloVe+UP"]["STSb"]) == (74.4, 71.5)
    assert (rows["PSL+UP"]["STS13"], rows["ParaNMT+UP"]["STS15"], rows["ParaNMT+UP"]["STSb"]) == (65.2, 79.0, 79.5)
    assert "STSb" not in rows["PSL+WR"]
    assert all("table" in row.source for row in PUBLISHED)
    # uSIF paper, section 4.3: GloVe+UP is up to 15.5 % better than GloVe+WR, PSL+UP 10.6 % than PSL+WR, on STS'12
    assert rows["GloVe+UP"]["STS12"] / rows["GloVe+WR"]["STS12"] == pytest.approx(1.155, abs=5e-4)
    assert rows["PSL+UP"]["STS12"] / rows["PSL+WR"]["STS12"] == pytest.approx(1.106, abs=5e-4)


# -- variants ----------------------------------------------------------------------------------------------------------


def literal_variant(
    texts: Sequence[str],
    vectors: dict[str, np.ndarray],
    p: dict[str, float],
    *,
    a: float,
    half: bool,
    normalise: bool,
    m: int,
    piecewise: bool,
) -> np.ndarray:
    """Any choice of the two papers' parts, word by word. `half`: uSIF's a / (a/2 + p), else a / (a + p)."""
    rows = []
    for text in texts:
        found = reference.known(text, vectors)
        matrix = np.array([vectors[word] for word in found])
        if normalise:
            matrix = matrix / np.linalg.norm(matrix, axis=0)
        weights = [a / ((a / 2 if half else a) + p[word]) for word in found]
        rows.append(sum(weight * row for weight, row in zip(weights, matrix, strict=True)) / len(found))
    X = np.array(rows)
    _, sigma, right = np.linalg.svd(X, full_matrices=False)
    strengths = sigma[:m] ** 2 / np.sum(sigma[:m] ** 2) if piecewise else np.ones(m)
    return reference.unit(X - sum(s * np.outer(X @ c, c) for s, c in zip(strengths, right[:m], strict=True)))


PARTS = {  # uSIF's weights, normalisation, piecewise removal of five
    "w": (False, False, None),
    "r": (None, False, False),
    "sif": (False, False, False),
    "usif": (True, True, True),
    "sif+u": (True, False, False),
    "sif+p": (False, False, True),
    "sif+n": (False, True, False),
    "usif-u": (False, True, True),
    "usif-p": (True, True, False),
    "usif-n": (True, False, True),
}


@pytest.mark.parametrize("name", list(PARTS))
def test_a_variant_has_the_parts_that_its_name_says(tmp_path: Path, small_vectors: VectorTable, name: str) -> None:
    rows = pairs(0, 30)
    path = write_pairs(tmp_path / "x.tsv", rows)
    table, p = lookup(small_vectors)
    half, normalise, piecewise = PARTS[name]
    a = reference.usif_a(p, 11) if half else 1e9 if half is None else 1e-3
    texts = [one for _, one, _ in rows] + [two for _, _, two in rows]
    expected = literal_variant(
        texts,
        table,
        p,
        a=a,
        half=bool(half),
        normalise=normalise,
        m=0 if piecewise is None else 5 if piecewise else 1,
        piecewise=bool(piecewise),
    )
    [score] = evaluate_sts([path], methods=[name], vectors=small_vectors).scores
    assert score.pearson == pytest.approx(literal(expected, [gold for gold, _, _ in rows]), abs=2e-3)
    assert score.a == pytest.approx({True: a, False: 1e-3, None: 0}[half])


# -- where p(w) and components come from -------------------------------------------------------------------------------


def test_p_is_that_of_a_counts_file_and_so_is_usifs_a(tmp_path: Path, small_vectors: VectorTable) -> None:
    rows = pairs(0, 30)
    path, counts = write_pairs(tmp_path / "x.tsv", rows), tmp_path / "counts.txt"
    table, _ = lookup(small_vectors)
    numbers = {word: 10 + 37 * index % 1000 for index, word in enumerate(small_vectors.words[5:])} | {"xyzzy": 20_000}
    counts.write_text("".join(f"{word} {number}\n" for word, number in numbers.items()), encoding="utf-8")
    total = sum(numbers.values())
    counted = {word: number / total for word, number in numbers.items()}
    p = {word: counted.get(word, min(counted.values())) for word in table}
    a = reference.usif_a(counted, 11)
    texts, gold = [one for _, one, _ in rows] + [two for _, _, two in rows], [gold for gold, _, _ in rows]
    sif, usif = evaluate_sts([path], methods=["sif", "usif"], vectors=small_vectors, frequencies=counts).scores
    assert sif.pearson == pytest.approx(literal(reference.sif(texts, table, p), gold), abs=2e-3)
    assert usif.pearson == pytest.approx(literal(reference.usif(texts, table, p, a=a), gold), abs=2e-3)
    assert usif.a == pytest.approx(a)


def test_fitted_on_the_corpus_components_are_those_of_all_tasks_together(
    tmp_path: Path, small_vectors: VectorTable
) -> None:
    data = [pairs(0), pairs(50)]
    paths = [write_pairs(tmp_path / f"{name}.tsv", rows) for name, rows in zip("ab", data, strict=True)]
    table, p = lookup(small_vectors)
    sides = [[one for _, one, _ in rows] + [two for _, _, two in rows] for rows in data]
    together = reference.sif([*sides[0], *sides[1]], table, p)
    report = evaluate_sts(paths, methods=["sif"], vectors=small_vectors, fit_on=["task", "corpus"])
    assert [(score.task, score.fit_on) for score in report.scores] == [
        (task, fit) for fit in ("task", "corpus") for task in "ab"
    ]
    for score, own, rows in zip(
        report.scores[2:], (together[: len(sides[0])], together[len(sides[0]) :]), data, strict=True
    ):
        assert score.pearson == pytest.approx(literal(own, [gold for gold, _, _ in rows]), abs=2e-3)


# -- orderings ---------------------------------------------------------------------------------------------------------


def test_a_task_has_the_figures_that_were_published_for_its_test_split(
    tmp_path: Path, small_vectors: VectorTable
) -> None:
    paths = [write_pairs(tmp_path / f"2012.MSRpar.{split}.tsv", pairs(1)) for split in ("test", "train")]
    tested, trained = evaluate_sts(paths, methods=["sif"], vectors=small_vectors).scores
    assert (tested.published, trained.published) == (published_task("2012.MSRpar"), {})


# -- keeping -----------------------------------------------------------------------------------------------------------


def test_a_report_is_the_same_from_json(tmp_path: Path, small_vectors: VectorTable) -> None:
    path = write_pairs(tmp_path / "2012.MSRpar.test.tsv", pairs(3))
    found = evaluate_sts([path], methods=["sif", "usif"], vectors=small_vectors).to_dict()
    assert found["orderings"]
    assert StsReport.from_dict(json.loads(json.dumps(found))).to_dict() == found


def test_what_is_kept_is_computed_anew_only_when_something_changes(
    tmp_path: Path, small_vectors: VectorTable, monkeypatch: pytest.MonkeyPatch
) -> None:
    runs: list[str] = []
    cosines = sts.cosines
    monkeypatch.setattr(sts, "cosines", lambda *given, **named: runs.append("") or cosines(*given, **named))
    path, corpus = write_pairs(tmp_path / "x.tsv", pairs(3)), tmp_path / "corpus.txt"
    corpus.write_text(sentence("sea", 1))

    def run(**options: object) -> tuple[int, StsReport]:
        runs.clear()
        report = evaluate_sts([path], methods=["sif"], vectors=small_vectors, keep=True, **options)  # type: ignore[arg-type]
        return len(runs), report

    first = run()
    assert (first[0], run()) == (1, (0, first[1]))
    assert run(fresh=True) == first
    for options in ({"a": 1e-2}, {"components": 2}, {"fit_on": corpus}, {"frequencies": "corpus"}):
        assert [run(**options)[0], run(**options)[0]] == [1, 0]
    corpus.write_text(sentence("law", 1))
    assert run(fit_on=corpus)[0] == 1
    write_pairs(path, pairs(4))
    assert run()[0] == 1


# -- the command -------------------------------------------------------------------------------------------------------


# -- word vectors ------------------------------------------------------------------------------------------------------


def test_vectors_are_measured_by_sif_and_usif(tmp_path: Path, small_vectors: VectorTable) -> None:
    path = write_pairs(tmp_path / "x.tsv", pairs(3))
    report = evaluate_vectors(small_vectors, sts=[path])
    assert report.sts == evaluate_sts([path], methods=["sif", "usif"], vectors=small_vectors).averages
    assert (report.retrieval, report.words) == ((), len(small_vectors))
    assert 0.5 < report.coverage["sts"] <= 1
    with pytest.raises(UsageError, match="nothing to measure on"):
        evaluate_vectors(small_vectors)
