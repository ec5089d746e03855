"""The released programs: cosines that they gave, and what each of their choices costs.

The golden cosines are what the authors' programs print for the made-up vectors, counts and pairs below: SIF's
`sim_algo.py` with the weights of `data_io.py`, uSIF's `usif.py`, whose tokeniser has nothing to do here.
"""

from __future__ import annotations

import math
from pathlib import Path

import numpy as np
import pytest
from collections_made import pairs, write_pairs
from console import semsearch

from semsearch import SentenceEmbedder
from semsearch.embedding.weights import usif_a
from semsearch.errors import SemsearchError
from semsearch.word_vectors.table import VectorTable
from semsearch.word_vectors.table_writer import TableWriter
from semsearch.word_vectors.word_frequencies import shares
from semsearch_research.evaluate.sts import evaluate_sts
from semsearch_research.released.costs import CHOICES, evaluate_released
from semsearch_research.released.rules import ReleasedRules, RuledSentences, released_words

WORDS = "the a ship sails dawn sea bread oven warm mia zyx last".split()  # the program finds "last" for unknown words
COUNTS = {"the": 9000, "a": 7000, "ship": 40, "sails": 25, "dawn": 12, "sea": 60, "bread": 30, "oven": 9, "warm": 45}
COUNTS |= {f"filler{number}": 5 for number in range(40)}
DIMENSION = 6
PAIRS = (
    ("the ship sails", "a ship sails the sea"),
    ("warm bread", "the oven"),
    ("mia sails at dawn", "the dawn sea"),
    ("a warm sea", "bread oven mia"),
    ("the zyx ship", "a zyx oven"),
    ("qqq bread", "bread warm the the"),
)
KNOWN = (*PAIRS[:2], ("a sea", "the dawn sea"), ("a warm sea", "bread oven"))
ALL = {"white_space": True, "last_for_unknown": True, "uncounted_weigh_one": True}

EACH_SIDE = (0.3839535, -0.2026289, 0.2440715, -0.2902283, 0.8381104, 0.1740667)
WEIGHTS_ONLY = (0.9797419, 0.3873391, 0.4906469, 0.6766534, 0.8178706, 0.2961042)
UNWEIGHTED = (0.9598518, 0.1281351, 0.6854939, 0.7929835, 0.6194761, 0.4110889)
TOGETHER = (0.7046106, -0.7472567, -0.7636091, -0.3557008)  # SIF_embedding.py on both sides of KNOWN at once
TFIDF = (0.9481031, 0.2077691, 0.6928131, 0.7682576, 0.5346742, 0.4463565)
USIF_A = 0.9591836734693878
USIF = (0.9387408, -0.0595794, 0.5698826, 0.3379054, 0.4136731, -0.0266412)


@pytest.fixture
def vectors(tmp_path: Path) -> VectorTable:
    """Word i has in dimension j sin(1.7 (i + 1) (j + 1)) + cos(0.3 i - j) + 0.4."""
    rows = [
        [round(math.sin(1.7 * (i + 1) * (j + 1)) + math.cos(0.3 * i - j) + 0.4, 6) for j in range(DIMENSION)]
        for i in range(len(WORDS))
    ]
    total = sum(COUNTS.values())
    p = np.array([COUNTS.get(word, 5) / total for word in WORDS], dtype=np.float32)  # 5 is the least count
    with TableWriter(tmp_path / "made", dtype="float32") as writer:
        writer.add(WORDS, np.array(rows, dtype=np.float32))
        return writer.finish(p, card={"name": "made"})


def both_sides(given: tuple[tuple[str, str], ...]) -> list[str]:
    return [one for one, _ in given] + [other for _, other in given]


# -- golden cosines ----------------------------------------------------------------------------------------------------


def test_sif_as_released_has_the_programs_cosines(vectors: VectorTable) -> None:
    sentences = RuledSentences(vectors, COUNTS, ReleasedRules(**ALL, each_side=True, nearly_unweighted=True))
    texts = sentences.ids(both_sides(PAIRS))
    weights = sentences.sif_weights(1e-3)
    assert sentences.cosines(texts, weights, components=1) == pytest.approx(EACH_SIDE, abs=2e-6)
    assert sentences.cosines(texts, weights, components=0) == pytest.approx(WEIGHTS_ONLY, abs=2e-6)
    assert sentences.cosines(texts, sentences.equal_weights(), components=0) == pytest.approx(UNWEIGHTED, abs=2e-6)


def test_tfidf_as_released_has_the_programs_cosines(vectors: VectorTable) -> None:
    sentences = RuledSentences(vectors, COUNTS, ReleasedRules(**ALL, occurrences=True))
    texts = sentences.ids(both_sides(PAIRS))
    assert sentences.cosines(texts, sentences.idf([texts]), components=0) == pytest.approx(TFIDF, abs=2e-6)


def test_our_sif_has_the_programs_cosines_where_all_words_are_known_and_counted(vectors: VectorTable) -> None:
    rows = SentenceEmbedder(vectors, method="sif").fit_transform(both_sides(KNOWN))
    first, second = np.split(rows, 2)
    assert np.einsum("ij,ij->i", first, second) == pytest.approx(TOGETHER, abs=2e-6)


def test_our_usif_has_the_programs_cosines(vectors: VectorTable) -> None:
    a = usif_a(shares(COUNTS), 11)
    assert a == pytest.approx(USIF_A)
    rows = SentenceEmbedder(vectors, method="usif", a=a).fit_transform(both_sides(PAIRS))
    first, second = np.split(rows, 2)
    assert np.einsum("ij,ij->i", first, second) == pytest.approx(USIF, abs=2e-6)


# -- rules -------------------------------------------------------------------------------------------------------------


def test_words_as_released_stand_between_white_space() -> None:
    assert released_words("#Sea, the  SHIP's #") == ["sea,", "the", "ship's", "#"]


def test_without_rules_unknown_words_are_left_out(vectors: VectorTable) -> None:
    assert RuledSentences(vectors, COUNTS, ReleasedRules()).ids(["qqq bread", "qqq"]).ids.tolist() == [6]
    found = RuledSentences(vectors, COUNTS, ReleasedRules(last_for_unknown=True)).ids(["qqq bread", "qqq"])
    assert (found.ids.tolist(), found.lengths.tolist()) == ([11, 6, 11], [2, 1])


def test_idf_counts_sentences_or_occurrences(vectors: VectorTable) -> None:
    texts = ["the the ship", "the sea", "warm bread"]
    plain = RuledSentences(vectors, COUNTS, ReleasedRules())
    released = RuledSentences(vectors, COUNTS, ReleasedRules(occurrences=True))
    assert plain.idf([plain.ids(texts)])[:3] == pytest.approx([math.log(4 / 3), math.log(4), math.log(4 / 2)])
    assert released.idf([released.ids(texts)])[:3] == pytest.approx([math.log2(5 / 4), math.log2(5), math.log2(5 / 2)])


# -- costs -------------------------------------------------------------------------------------------------------------


@pytest.fixture
def made(tmp_path: Path, small_vectors: VectorTable) -> tuple[Path, Path]:
    """A folder of pairs, and counts that lack some words of the vectors."""
    folder = tmp_path / "sts"
    folder.mkdir()
    for seed, name in enumerate(("2012.MSRpar", "2012.OnWN", "stsb")):
        write_pairs(folder / f"{name}.test.tsv", pairs(seed))
    counts = tmp_path / "counts.txt"
    counts.write_text(
        "".join(f"{word} {90 - n}\n" for n, word in enumerate(small_vectors.words[:80])), encoding="utf-8"
    )
    return folder, counts


def test_without_a_choice_it_is_what_evaluate_sts_measures(made: tuple[Path, Path], small_vectors: VectorTable) -> None:
    folder, counts = made
    report = evaluate_released([folder], frequencies=counts, vectors=small_vectors)
    sts = evaluate_sts([folder], methods=["sif", "tfidf", "mean"], vectors=small_vectors, frequencies=counts)
    expected = {(one.method, one.group): one.pearson for one in sts.averages}
    for cost in report.costs:
        assert cost.pearson == pytest.approx(expected[cost.method, cost.group], abs=1e-3)
        assert cost.low <= cost.difference <= cost.high
    assert list(dict.fromkeys(cost.choice for cost in report.costs)) == [choice.name for choice in CHOICES]


def test_what_programs_differ_on_is_counted(made: tuple[Path, Path], small_vectors: VectorTable) -> None:
    folder, counts = made
    with (folder / "stsb.test.tsv").open("a") as file:
        file.write("0\txyzzy\tship\n")
    report = evaluate_released([folder], frequencies=counts, vectors=small_vectors)
    assert (report.empty, report.zero_dimension, report.taught) == (1, 0, False)
    assert 0 < report.uncounted < 1


def test_the_command_has_a_row_for_each_choice(made: tuple[Path, Path], small_vectors: VectorTable) -> None:
    folder, counts = made
    command = ("evaluate", "released", folder, "--frequencies", counts, "--vectors", small_vectors.folder)
    result = semsearch(*command)
    assert (result.status, result.err) == (0, "")
    assert all(any(line.startswith(choice.name) for line in result.lines) for choice in CHOICES)
    report = evaluate_released([folder], frequencies=counts, vectors=small_vectors)
    assert semsearch(*command, "--json").json == report.to_dict()
    missing = semsearch("evaluate", "released", folder, "--frequencies", folder / "none.txt")
    assert (missing.status, len(missing.err.splitlines())) == (2, 1)
    with pytest.raises(SemsearchError, match="cannot be read as a file of word counts"):
        evaluate_released([folder], frequencies=folder / "none.txt", vectors=small_vectors)
