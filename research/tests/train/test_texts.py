"""Texts to train on: an even, repeatable share of a corpus, without texts kept for measuring; encoded once."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np
import numpy.typing as npt
import pytest

from semsearch.errors import SourceError, StorageError, UsageError
from semsearch_research.train.teacher_encodings import Encodings
from semsearch_research.train.training_texts import choose_texts, read_texts, without_excluded, write_texts

Float32 = npt.NDArray[np.float32]


def never(path: str, reason: str) -> None:
    pytest.fail(f"{path} was skipped: {reason}")


def paragraph(number: int) -> str:
    """Three sentences of ten words, no two paragraphs with one in common."""
    return " ".join(f"The w{number} of part {part} is here said once more." for part in range(3))


@pytest.fixture
def corpus(tmp_path: Path) -> Path:
    path = tmp_path / "corpus.txt"
    path.write_text("".join(paragraph(number) + "\n\n" for number in range(400)), encoding="utf-8")
    return path


def chosen(corpus: Path, **options: object) -> list[str]:
    return choose_texts([corpus], skipped=never, **options).texts  # type: ignore[arg-type]


def test_a_share_of_the_paragraphs_is_taken_whole_and_another_gives_its_sentences(corpus: Path) -> None:
    texts = chosen(corpus, passages=0.25, sentences=0.25)
    passages = {text for text in texts if len(text.split()) == 30}
    sentences = set(texts) - passages
    assert 70 < len(passages) < 130
    assert 3 * 70 < len(sentences) < 3 * 130
    assert all(len(text.split()) == 10 for text in sentences)
    assert not {text.split()[1] for text in passages} & {text.split()[1] for text in sentences}


def test_a_larger_share_holds_the_smaller_and_the_order_of_files_does_not_matter(tmp_path: Path, corpus: Path) -> None:
    half = chosen(corpus, sentences=0.5)
    assert set(chosen(corpus, sentences=0.2)) < set(half) < set(chosen(corpus, sentences=1))
    lines = corpus.read_text(encoding="utf-8").split("\n\n")
    other = tmp_path / "other.txt"
    other.write_text("\n\n".join(reversed(lines)), encoding="utf-8")
    assert set(chosen(other, sentences=0.5)) == set(half)
    assert set(chosen(corpus, sentences=0.5, seed=1)) != set(half)


def test_what_is_too_short_or_too_long_or_excluded_or_there_twice_is_left_out(tmp_path: Path) -> None:
    corpus, measured = tmp_path / "corpus.txt", tmp_path / "measured"
    long = " ".join(["many"] * 41)
    corpus.write_text(
        f"Too short.\n\nJust long enough this.\n\n{long}.\n\nJust long enough this.\n\nOne that is measured.\n"
    )
    measured.write_text("one that is measured\n")
    done = choose_texts([corpus], exclude=[measured], skipped=never)
    assert (done.texts, done.excluded) == (["Just long enough this."], 1)


def test_choosing_nothing_is_an_error(tmp_path: Path, corpus: Path) -> None:
    with pytest.raises(UsageError, match="no text"):
        chosen(corpus, sentences=1e-9)
    with pytest.raises(SourceError, match="nowhere"):
        chosen(tmp_path / "nowhere")


def test_given_texts_are_dropped_where_they_are_excluded(tmp_path: Path) -> None:
    measured = tmp_path / "measured"
    measured.write_text("one that is measured\n")
    texts = ["Another.", "One that is measured!", "a third"]
    assert without_excluded(texts, [measured]) == ["Another.", "a third"]
    assert without_excluded(texts, []) == texts
    with pytest.raises(UsageError, match="all 1 texts are excluded"):
        without_excluded(texts[1:2], [measured])


def test_texts_are_kept_a_line_each(tmp_path: Path) -> None:
    write_texts(["one text", "zwei Wörter"], tmp_path / "texts")
    assert read_texts([tmp_path / "texts", tmp_path / "texts"]) == ["one text", "zwei Wörter"]
    with pytest.raises(StorageError, match="gone"):
        write_texts(["a"], tmp_path / "gone" / "texts")
    (tmp_path / "empty").write_text("\n \n")
    with pytest.raises(UsageError, match="no texts"):
        read_texts([tmp_path / "empty"])
    with pytest.raises(SourceError, match="nowhere"):
        read_texts([tmp_path / "nowhere"])


def encode(texts: Sequence[str]) -> Float32:
    """A teacher that sees length and first letter."""
    return np.array([[len(text), ord(text[0]), 1] for text in texts], dtype=np.float32)


def test_each_text_is_encoded_once_and_found_again_by_whoever_opens_the_folder(tmp_path: Path) -> None:
    asked: list[str] = []

    def watched(texts: Sequence[str]) -> Float32:
        asked.extend(texts)
        return encode(texts)

    first = Encodings(tmp_path / "e", "some/teacher", "float32")
    first.complete(["b", "aa", "b"], watched)
    second = Encodings(tmp_path / "e", "teacher", "float32")
    heard: list[tuple[int, int]] = []
    second.complete(["aa", "ccc", "b"], watched, progress=lambda done, total: heard.append((done, total)))
    assert sorted(asked) == ["aa", "b", "ccc"]
    assert heard == [(3, 3)]
    texts = ["ccc", "b", "aa", "b"]
    assert np.array_equal(second.of(texts), encode(texts))


def test_a_run_that_was_stopped_goes_on_where_it_was(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("semsearch_research.train.teacher_encodings._PART", 2)
    asked: list[str] = []

    def stopping(texts: Sequence[str]) -> Float32:
        if asked:
            raise KeyboardInterrupt
        asked.extend(texts)
        return encode(texts)

    texts = ["a", "b", "c", "d", "e"]
    with pytest.raises(KeyboardInterrupt):
        Encodings(tmp_path, "t", "float32").complete(texts, stopping)
    later = Encodings(tmp_path, "t", "float32")
    rest: list[str] = []
    later.complete(texts, lambda some: (rest.extend(some), encode(some))[1])
    assert sorted(asked + rest) == texts
    assert np.array_equal(later.of(texts), encode(texts))
