"""Making word vectors: counts add up whatever the format; a teacher's vectors are kept as well as they can be."""

from __future__ import annotations

import gzip
import lzma
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from types import ModuleType
from typing import Any, cast

import numpy as np
import numpy.typing as npt
import pytest

from semsearch.embedding.embedder import SentenceEmbedder
from semsearch.errors import MissingExtra, SourceError, UsageError
from semsearch.word_vectors.table import VectorTable
from semsearch_research.train import corpus as counting
from semsearch_research.train.corpus import count_words
from semsearch_research.train.distill import Provenance, distill_words, reduce_dimension
from semsearch_research.train.matching import Matching
from semsearch_research.train.teacher_encodings import Teacher

Floats = npt.NDArray[np.float32]


def never(path: str, reason: str) -> None:
    pytest.fail(f"{path} was skipped: {reason}")


def store_plain(path: Path, text: str) -> Path:
    path.write_text(text, encoding="utf-8")
    return path


def store_xz(path: Path, text: str) -> Path:
    path = path.with_suffix(".txt.xz")
    path.write_bytes(lzma.compress(text.encode()))
    return path


def store_gz(path: Path, text: str) -> Path:
    path = path.with_suffix(".TXT.GZ")
    path.write_bytes(gzip.compress(text.encode()))
    return path


@pytest.mark.parametrize("store", [store_plain, store_xz, store_gz])
@pytest.mark.parametrize("block", [1 << 22, 5])
def test_words_are_counted_in_text_however_it_is_stored(
    tmp_path: Path, store: Callable[[Path, str], Path], block: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(counting, "_PIECE", block)
    path = store(tmp_path / "a.txt", "The cat.\nDon't wake the Café's cat!\n\nno newline")
    assert count_words([path], skipped=never) == {
        "the": 2, "cat": 2, "don": 1, "wake": 1, "café": 1, "no": 1, "newline": 1,
    }  # fmt: skip


def test_a_path_that_is_not_there_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(SourceError, match="nowhere"):
        count_words([tmp_path / "nowhere"], skipped=never)


def test_progress_hears_of_files_and_words(tmp_path: Path) -> None:
    for name in ("a.txt", "b.txt"):
        store_plain(tmp_path / name, "one two three")
    heard: list[tuple[int, int]] = []
    count_words([tmp_path], skipped=never, progress=lambda files, words: heard.append((files, words)))
    assert heard == [(0, 3), (1, 6)]


@pytest.fixture
def cloud() -> Floats:
    generator = np.random.default_rng(4)
    return (generator.standard_normal((300, 12)) * np.logspace(0, -2, 12) + 5).astype(np.float32)


def test_reduced_vectors_are_centred_and_their_dimensions_uncorrelated_and_falling(cloud: Floats) -> None:
    reduced = reduce_dimension(cloud, 6).astype(np.float64)
    assert reduced.shape == (300, 6)
    assert np.allclose(reduced.mean(axis=0), 0, atol=1e-5)
    covariance = reduced.T @ reduced
    assert np.allclose(covariance - np.diag(np.diag(covariance)), 0, atol=1e-3)
    assert (np.diff(np.diag(covariance)) < 0).all()


def test_all_dimensions_keep_all_distances_and_fewer_keep_the_most_there_is(cloud: Floats) -> None:
    centred = cloud - cloud.mean(axis=0)
    whole = reduce_dimension(cloud, 12)
    assert np.allclose(whole @ whole.T, centred @ centred.T, atol=1e-3)
    spectrum = np.linalg.svd(centred.astype(np.float64), compute_uv=False) ** 2
    assert (reduce_dimension(cloud, 3) ** 2).sum() == pytest.approx(spectrum[:3].sum(), rel=1e-4)


@pytest.mark.parametrize("dimension", [0, 13])
def test_more_dimensions_than_the_teacher_has_are_refused(cloud: Floats, dimension: int) -> None:
    with pytest.raises(UsageError, match=f"the teacher has 12 dimensions; {dimension} were requested"):
        reduce_dimension(cloud, dimension)


class FakeTeacher:
    """Each letter has a direction."""

    name = "fake"
    precision = "float32"
    dimension = 26

    def __init__(self) -> None:
        self.calls: list[list[str]] = []

    def encode(self, texts: Sequence[str]) -> Floats:
        self.calls.append(list(texts))
        rows = np.array([np.bincount([ord(c) - 97 for c in text if c != " "], minlength=26) for text in texts])
        return np.asarray(rows / np.linalg.norm(rows, axis=1, keepdims=True), dtype=np.float32)


COUNTS = {"the": 50, "cat": 30, "dog": 15, "rare": 5}


def distilled(teacher: FakeTeacher, to: Path, **options: Any) -> VectorTable:
    counts = options.pop("counts", COUNTS)
    return distill_words(cast(Teacher, teacher), counts, to, encodings=to.with_name("kept"), **options)


def test_distilled_vectors_have_the_counts_words_probabilities_and_a_card(tmp_path: Path) -> None:
    heard: list[tuple[str, int, int]] = []
    provenance = Provenance("MIT", counted="a test", command="the command")
    table = distilled(
        FakeTeacher(), tmp_path / "v", size=3, dimension=2, provenance=provenance,
        progress=lambda stage, done, total: heard.append((stage, done, total)),
    )  # fmt: skip
    assert table.words == ["the", "cat", "dog"]
    assert table.frequencies == pytest.approx([0.5, 0.3, 0.15])
    assert (table.dimension, table.card["dtype"], table.card["licence"]) == (2, "int8", "MIT")
    assert table.card["source"] == "3 words, each encoded alone by fake; 2 principal components"
    assert (table.card["counted"], table.card["counted words"]) == ("a test", 100)
    assert table.card["command"] == "the command"
    assert "texts" not in table.card
    assert table.verify()
    assert heard == [("words encoded", 3, 3)]


def test_words_encoded_alone_are_the_teachers_centred_and_reduced(tmp_path: Path) -> None:
    table = distilled(FakeTeacher(), tmp_path / "v", dimension=4)
    wanted = reduce_dimension(FakeTeacher().encode(list(COUNTS)), 4)
    assert np.allclose(table.rows(np.arange(4)), wanted, atol=1e-2)


def test_texts_make_averages_of_words_agree_with_the_teacher(tmp_path: Path) -> None:
    generator = np.random.default_rng(5)
    words = ["".join(generator.choice(list("abcdef"), 4)) for _ in range(60)]
    counts = {word: 1000 - rank for rank, word in enumerate(dict.fromkeys(words))}
    texts = [" ".join(generator.choice(list(counts), 6)) for _ in range(400)]
    teacher = FakeTeacher()
    right = teacher.encode(texts)
    matching = Matching(epochs=40, batch=64, groups=4, clusters=10, rate=0.02)

    def error(table: VectorTable) -> float:
        found = SentenceEmbedder(table, a=matching.a, components=0).fit_transform(texts)
        return float(np.abs(found @ found.T - right @ right.T).mean())

    before = distilled(teacher, tmp_path / "before", counts=counts, dimension=6)
    after = distilled(teacher, tmp_path / "after", counts=counts, dimension=6, texts=texts, matching=matching)
    assert error(after) < error(before) / 3
    assert "trained to have fake's similarities on 400 texts" in after.card["source"]
    assert after.words == before.words


def test_the_same_teacher_counts_texts_and_seed_give_the_same_digest(tmp_path: Path) -> None:
    texts = ["the cat", "the dog", "a rare cat", "dog cat dog"]
    one, same, other = (
        distilled(
            FakeTeacher(),
            tmp_path / name,
            dimension=3,
            texts=texts,
            matching=Matching(batch=2, groups=2, clusters=2, seed=seed),
        )
        for name, seed in (("a", 0), ("b", 0), ("c", 1))
    )
    assert one.digest == same.digest != other.digest


def test_nothing_is_encoded_twice(tmp_path: Path) -> None:
    teacher = FakeTeacher()
    distilled(teacher, tmp_path / "a", dimension=3, texts=["the cat", "the"])
    distilled(teacher, tmp_path / "b", dimension=2, texts=["the cat", "a dog"], matching=Matching(batch=20, groups=2))
    assert sorted(text for call in teacher.calls for text in call) == sorted([*COUNTS, "the cat", "a dog"])


def test_texts_without_known_words_are_an_error_and_leave_no_table(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="0 of 2 texts"):
        distilled(FakeTeacher(), tmp_path / "v", dimension=3, texts=["x y", "z"])
    assert not (tmp_path / "v").exists()


def test_without_the_extra_it_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "sentence_transformers", None)
    monkeypatch.setitem(sys.modules, "torch", ModuleType("torch"))
    with pytest.raises(MissingExtra, match=r"research\[train\]"):
        Teacher("fake")
