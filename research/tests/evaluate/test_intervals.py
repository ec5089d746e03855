"""Intervals of correlations: draws of pairs, differences on the same draws, pairs that are counted once."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
import scipy
from collections_made import pairs, write_pairs

from semsearch.word_vectors.table import VectorTable
from semsearch_research.evaluate.claims import HOLDS, REVERSED, UNDECIDED, verdict_of_interval
from semsearch_research.evaluate.pair_bootstrap import PairDraws, Resampled, claimed
from semsearch_research.evaluate.sentence_pairs import read_tasks
from semsearch_research.evaluate.sts import evaluate_sts
from semsearch_research.evaluate.sts_scores import counted_once
from semsearch_research.experiments.sts_experiment import notes_on


def made(count: int, noise: float, seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    generator = np.random.default_rng(seed)
    gold = generator.uniform(0, 5, count)
    return gold + noise * generator.standard_normal(count), gold


# -- draws -------------------------------------------------------------------------------------------------------------


def test_the_interval_is_that_of_theory_for_normal_data() -> None:
    generator = np.random.default_rng(1)
    both = generator.multivariate_normal([0, 0], [[1, 0.7], [0.7, 1]], 800)
    found = Resampled(0.0, PairDraws("normal", 800).pearson(both[:, 0], both[:, 1])).interval
    r = scipy.stats.pearsonr(*both.T)
    expected = r.confidence_interval(0.95)  # Fisher's transformation
    assert (found.low, found.high) == pytest.approx((expected.low, expected.high), abs=0.01)


def test_a_difference_is_narrower_than_its_parts_where_methods_agree() -> None:
    x, y = made(300, 1.5)
    other = x + 0.05 * np.random.default_rng(3).standard_normal(300)
    draws = PairDraws("x", 300)
    one, two = (Resampled(scipy.stats.pearsonr(found, y).statistic, draws.pearson(found, y)) for found in (x, other))
    apart = one.above(two)
    assert apart.value == pytest.approx(one.value - two.value)
    assert apart.interval.high - apart.interval.low < 0.2 * (one.interval.high - one.interval.low)


def test_a_claim_is_the_mean_over_the_tasks_that_both_have() -> None:
    one, two = ({"a": Resampled(5.0, np.array([4.0, 6.0])), "b": Resampled(v, np.array([v, v]))} for v in (1.0, 3.0))
    found = claimed(one, {**two, "c": Resampled(9.0, np.zeros(2))})
    assert found is not None
    assert (found.value, found.draws.tolist()) == (-1.0, [-1.0, -1.0])
    assert claimed({"a": one["a"]}, {"b": one["b"]}) is None


@pytest.mark.parametrize(
    ("low", "high", "verdict"), [(0.1, 2.0, HOLDS), (-2.0, -0.1, REVERSED), (-0.1, 0.1, UNDECIDED), (0, 0, UNDECIDED)]
)
def test_a_verdict_is_whether_zero_lies_in_the_interval(low: float, high: float, verdict: str) -> None:
    assert verdict_of_interval(low, high) == verdict


# -- what is counted once ----------------------------------------------------------------------------------------------


def test_a_pair_of_a_year_is_not_counted_again_in_the_benchmark(tmp_path: Path, small_vectors: VectorTable) -> None:
    write_pairs(tmp_path / "2012.MSRvid.test.tsv", pairs(1))
    write_pairs(tmp_path / "stsb.test.tsv", pairs(2))
    before = counted_once(read_tasks([tmp_path]))["stsb"]
    lines = (tmp_path / "2012.MSRvid.test.tsv").read_text().splitlines()[:2]
    again = [line.split("\t") for line in lines]
    with (tmp_path / "stsb.test.tsv").open("a") as file:
        file.write(f"0\t{again[0][2]} !\t{again[0][1].upper()}\n5\t{again[1][1]}\t{again[1][2]}.\n")
    kept = counted_once(read_tasks([tmp_path]))
    assert kept["2012.MSRvid"].all()
    assert kept["stsb"].tolist()[-2:] == [False, False]
    assert np.array_equal(kept["stsb"][:-2], before)
    report = evaluate_sts([tmp_path], methods=["sif", "mean"], vectors=small_vectors, components=0)
    assert report.repeated == {"stsb": int((~kept["stsb"]).sum())}
    plain = evaluate_sts([tmp_path / "2012.MSRvid.test.tsv"], methods=["sif"], vectors=small_vectors, components=0)
    assert plain.repeated == {}
    assert f"{report.repeated['stsb']} of the {len(kept['stsb'])} pairs of stsb" in notes_on(report)


# -- what is said ------------------------------------------------------------------------------------------------------


def test_every_figure_has_an_interval_around_it(tmp_path: Path, small_vectors: VectorTable) -> None:
    for seed, name in enumerate(("2012.MSRpar", "2012.OnWN", "stsb")):
        write_pairs(tmp_path / f"{name}.test.tsv", pairs(seed))
    report = evaluate_sts([tmp_path], vectors=small_vectors, fit_on=["task", "corpus"])
    assert all(one.low < one.pearson < one.high for one in (*report.scores, *report.averages))
    assert all(one.low <= one.found.difference <= one.high for one in report.orderings)
    assert {(fit.group, fit.fit_on) for fit in report.fits} == {("STS12", "corpus"), ("STSb", "corpus")}
    by_run = {(one.group, one.method, one.fit_on): one.pearson for one in report.averages}
    for fit in report.fits:
        expected = by_run[fit.group, fit.method, "corpus"] - by_run[fit.group, fit.method, "task"]
        assert fit.difference == pytest.approx(expected)
        assert fit.low <= fit.difference <= fit.high
