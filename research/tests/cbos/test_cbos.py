"""CBOS beside word2vec: the text as the paper prepares it, sums of word vectors, kept trainings."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import numpy as np
import pytest
import scipy
import Stemmer
from collections_made import pairs, write_pairs
from small import TOPICS, sentence

from semsearch.text.sentences import sentence_spans
from semsearch.text.tokens import words
from semsearch_research.cbos import trainer
from semsearch_research.cbos.gensim_vectors import word2vec
from semsearch_research.cbos.stemmed import Stemming, read_stemmed
from semsearch_research.cbos.trainer import Recipe, Trainer
from semsearch_research.cbos.word2vec_comparison import RANDOM, CbosReport, evaluate_cbos
from semsearch_research.evaluate import cache as kept_results
from semsearch_research.evaluate.published import published_figures
from semsearch_research.experiments.cbos_experiment import above

QUICK = {"dimension": 8, "epochs": 2, "batch": 16, "min_count": 2, "seeds": 1}
ROWS = ["skip-gram", "CBOW", "skip-thought", "Siamese CBOW", "CBOS"]


@pytest.fixture(autouse=True)
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    folder = tmp_path / "cache"
    monkeypatch.setattr(kept_results, "cache_folder", lambda kind: folder / kind)
    for name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
        monkeypatch.setenv(name, "1")  # so that what a command sets is taken back
    return folder


@pytest.fixture
def corpus(tmp_path: Path) -> Path:
    """Sixty lines, each of one topic, each of three sentences."""
    lines = [
        " ".join(sentence(topic, 10 * number + index) for index in range(3)) for number in range(10) for topic in TOPICS
    ]
    path = tmp_path / "corpus.txt"
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return path


@pytest.fixture
def sts(tmp_path: Path) -> Path:
    """Three tasks of the paper, and one that it has not."""
    folder = tmp_path / "sts"
    folder.mkdir()
    for seed, name in enumerate(("2012.MSRpar", "2014.OnWN", "2014.images", "stsb")):
        write_pairs(folder / f"{name}.test.tsv", pairs(seed))
    return folder


# -- the text ----------------------------------------------------------------------------------------------------------


def slow_text(path: Path, min_count: int, limit: int | None = None) -> list[list[str]]:
    """Section IV.B: stems, frequent ones only, sentences of fewer than 120 words. One sentence after the other."""
    stemmer = Stemmer.Stemmer("porter")
    texts = []
    for line in path.read_text(encoding="utf-8").splitlines():
        for start, end in sentence_spans(line):
            texts.append([stemmer.stemWord(word) for word in words(line[start:end])])
    texts = [text for text in texts if text][:limit]
    counts = Counter(word for text in texts for word in text)
    frequent = [[word for word in text if counts[word] >= min_count] for text in texts]
    return [text[first : first + 119] for text in frequent for first in range(0, len(text), 119)]


def test_text_is_stemmed_and_without_rare_words_and_long_sentences(corpus: Path) -> None:
    with corpus.open("a", encoding="utf-8") as file:
        file.write("Sailing, SAILED & sails!\nOnce rarity.\n" + "ship sails " * 90 + "ship.\n")
    text = read_stemmed([corpus], Stemming(), min_count=4)
    expected = slow_text(corpus, 4)
    assert list(text.as_words()) == expected
    assert dict(zip(text.words, text.counts.tolist(), strict=True)) == Counter(w for one in expected for w in one)
    assert (np.diff(text.counts) <= 0).all()
    assert "sail" in text.words
    assert not {"sails", "rariti"} & set(text.words)
    assert max(map(len, expected)) == 119


# -- word2vec ----------------------------------------------------------------------------------------------------------


def test_word2vec_learns_the_same_from_the_same_and_gives_rows_in_the_order_asked_for(corpus: Path) -> None:
    pytest.importorskip("gensim")
    text = read_stemmed([corpus], Stemming(), min_count=2)
    first = word2vec(text.as_words, text.words, skip_gram=True, dimension=8, epochs=2, seed=1)
    assert first.shape == (len(text.words), 8)
    backwards = word2vec(text.as_words, text.words[::-1], skip_gram=True, dimension=8, epochs=2, seed=1)
    np.testing.assert_array_equal(backwards[::-1], first)
    for other in ({"skip_gram": False, "seed": 1}, {"skip_gram": True, "seed": 2}):
        assert not np.array_equal(word2vec(text.as_words, text.words, dimension=8, epochs=2, **other), first)


@pytest.mark.parametrize(("skip_gram", "rate"), [(True, 0.025), (False, 0.05)])
def test_the_rates_are_those_of_the_authors_program(corpus: Path, skip_gram: bool, rate: float) -> None:
    models = pytest.importorskip("gensim.models")
    text = read_stemmed([corpus], Stemming(), min_count=2)
    shared = {"vector_size": 8, "window": 5, "min_count": 2, "negative": 5, "sample": 1e-3, "workers": 1, "seed": 3}
    plain = models.Word2Vec(slow_text(corpus, 2), sg=int(skip_gram), alpha=rate, epochs=3, **shared)
    found = word2vec(text.as_words, text.words, skip_gram=skip_gram, dimension=8, epochs=3, seed=3)
    np.testing.assert_array_equal(found, plain.wv[text.words])


def test_skip_gram_finds_the_topics(corpus: Path) -> None:
    pytest.importorskip("gensim")
    text = read_stemmed([corpus], Stemming(stem=False), min_count=1)
    vectors = word2vec(text.as_words, text.words, skip_gram=True, dimension=16, epochs=60)
    unit = vectors / np.linalg.norm(vectors, axis=1, keepdims=True)
    numbers = {word: number for number, word in enumerate(text.words)}
    rows = [[numbers[word] for word in TOPICS[topic].split() if word in numbers] for topic in ("sea", "garden")]
    within = np.mean([(unit[own] @ unit[own].T).mean() for own in rows])
    assert within > (unit[rows[0]] @ unit[rows[1]].T).mean() + 0.2


# -- the protocol ------------------------------------------------------------------------------------------------------


def literal(vectors: dict[str, np.ndarray], path: Path) -> float:
    """Pearson's r × 100 of the cosines of sums, a pair after the other."""
    stemmer = Stemmer.Stemmer("porter")
    cosines, gold = [], []
    for line in path.read_text(encoding="utf-8").splitlines():
        score, *texts = line.split("\t")
        sums = []
        for text in texts:
            known = [vectors[stem] for word in words(text) if (stem := stemmer.stemWord(word)) in vectors]
            sums.append(sum(known, np.zeros(8)))
        lengths = np.linalg.norm(sums[0]) * np.linalg.norm(sums[1])
        cosines.append(sums[0] @ sums[1] / lengths if lengths else 0.0)
        gold.append(float(score))
    return 100 * float(scipy.stats.pearsonr(cosines, gold).statistic)


def test_similarity_is_the_cosine_of_sums_of_the_vectors_of_stems(corpus: Path, sts: Path) -> None:
    with (sts / "2014.images.test.tsv").open("a") as file:
        file.write("0\txyzzy plugh\tship\n5\tsailing ships\tthe sailors sailed\n")
    report = evaluate_cbos([corpus], [sts], baselines=False, **QUICK)
    recipe = Recipe((corpus,), None, True, 8, 2, 16, 2, 0)
    made = Trainer(recipe, False, lambda *_: None, None).cbos(1, 2)
    vectors = dict(zip(made.words, made.vectors.astype(np.float64), strict=True))
    assert [task.task for task in report.tasks] == ["2012.MSRpar", "2014.OnWN", "2014.images"]
    for task in report.tasks:
        assert task.pearson["CBOS"] == pytest.approx(literal(vectors, sts / f"{task.task}.test.tsv"), abs=1e-3)
    assert 0 < report.known < 1
    assert (report.sentences, report.running_words) == (
        len(list(slow_text(corpus, 2))),
        sum(map(len, slow_text(corpus, 2))),
    )


def test_every_method_learns_and_stands_beside_the_papers_figures(corpus: Path, sts: Path) -> None:
    pytest.importorskip("gensim")
    report = evaluate_cbos([corpus], [sts], **QUICK)
    assert list(report.seconds) == ["skip-gram", "CBOW", "CBOS"]
    assert [list(task.pearson) for task in report.tasks] == [["skip-gram", "CBOW", "CBOS", RANDOM]] * 3
    assert len({round(value, 6) for value in report.tasks[0].pearson.values()}) == 4
    assert report.tasks[0].published == pytest.approx(dict(zip(ROWS, (37.4, 34.19, 5.6, 43.79, 45.3), strict=True)))
    assert [(year.group, year.tasks, year.whole, year.printed) for year in report.years] == [
        ("STS12", 1, False, {}),
        ("STS14", 2, False, {}),
    ]
    year = report.years[1]
    for name in ROWS:
        assert year.published[name] == pytest.approx(np.mean([task.published[name] for task in report.tasks[1:]]))
    assert year.pearson["CBOS"] == pytest.approx(np.mean([task.pearson["CBOS"] for task in report.tasks[1:]]))


def test_a_whole_year_has_the_average_that_the_paper_prints(corpus: Path, sts: Path) -> None:
    for seed, name in enumerate(("MSRvid", "OnWN", "SMTeuroparl", "SMTnews")):
        write_pairs(sts / f"2012.{name}.test.tsv", pairs(seed))
    year = evaluate_cbos([corpus], [sts], baselines=False, **QUICK).years[0]
    assert (year.tasks, year.whole) == (5, True)
    assert (year.printed["CBOS"], year.published["CBOS"]) == (pytest.approx(53.59), pytest.approx(53.586))
    assert (year.printed["CBOW"], year.published["CBOW"]) == (pytest.approx(44.79), pytest.approx(46.552))


def test_the_paper_has_cbos_above_the_others_on_fourteen_of_twenty_tasks() -> None:
    by_task: dict[str, dict[str, float]] = {}
    for figure in published_figures("cbos", "table I"):
        if figure.row.startswith("20"):
            by_task.setdefault(figure.row, {})[figure.column] = figure.value
    tasks = list(by_task.values())
    assert (len(tasks), above(tasks, "CBOS", ROWS[:-1])) == (20, 14)
    assert above(tasks, "CBOS", ROWS[:2]) == 19


def test_figures_are_means_over_seeds_with_their_deviation(corpus: Path, sts: Path) -> None:
    given = {**QUICK, "baselines": False}
    alone = [evaluate_cbos([corpus], [sts], **{**given, "seed": seed}) for seed in (4, 5)]  # type: ignore[arg-type]
    both = evaluate_cbos([corpus], [sts], **{**given, "seed": 4, "seeds": 2})  # type: ignore[arg-type]
    for task, one, two in zip(both.tasks, alone[0].tasks, alone[1].tasks, strict=True):
        for name in ("CBOS", RANDOM):
            each = [one.pearson[name], two.pearson[name]]
            assert task.pearson[name] == pytest.approx(np.mean(each))
            assert task.spread[name] == pytest.approx(np.std(each, ddof=1))
            assert one.spread[name] is None
    low, high = both.years[1].interval["CBOS"]
    assert low < both.years[1].pearson["CBOS"] < high
    year = [report.years[1].pearson["CBOS"] for report in alone]
    assert both.years[1].spread["CBOS"] == pytest.approx(np.std(year, ddof=1))


# -- what is kept ------------------------------------------------------------------------------------------------------


def fails(*_: object, **__: object) -> None:
    raise AssertionError("it trains again")


def run(corpus: Path, sts: Path, **options: object) -> CbosReport:
    return evaluate_cbos([corpus], [sts], baselines=False, **{**QUICK, **options})


def test_a_second_run_takes_what_was_trained_and_only_the_same(
    corpus: Path, sts: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    first = run(corpus, sts)
    with monkeypatch.context() as patched:
        patched.setattr(trainer, "train_round", fails)
        patched.setattr(trainer, "read_stemmed", fails)
        assert run(corpus, sts) == first
        for other in ({"fresh": True}, {"sentences": 50}, {"seed": 1}, {"stem": False}, {"batch": 8}):
            with pytest.raises(AssertionError, match="trains again"):
                run(corpus, sts, **other)
        corpus.write_text(corpus.read_text() + "More.\n")
        with pytest.raises(AssertionError, match="trains again"):
            run(corpus, sts)
