"""Word vectors of other formats: known by content, converted once, refused with the line where they are broken."""

from __future__ import annotations

import gzip
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import numpy as np
import numpy.typing as npt
import pytest

from semsearch.errors import StorageError, VectorsError
from semsearch.text.tokens import hash_words
from semsearch.word_vectors.table import VectorTable
from semsearch_research.word_tables import conversion, table_writer, vector_formats
from semsearch_research.word_tables.conversion import convert, folder_beside, load_vectors
from semsearch_research.word_tables.vector_formats import identify

WORDS = ["the", "of", "Paris", "café", "zebra", "1999"]
NUMBERS = np.random.default_rng(0).standard_normal((6, 4)).astype(np.float32).round(4)
Floats = npt.NDArray[np.float32]


def lines(words: list[str], vectors: Floats, *, end: str = "\n") -> bytes:
    rows = (word + " " + " ".join(map(str, row)) for word, row in zip(words, vectors.tolist(), strict=True))
    return "".join(row + end for row in rows).encode()


def header(words: list[str], vectors: Floats) -> bytes:
    return f"{len(words)} {vectors.shape[1]}\n".encode()


def glove(words: list[str], vectors: Floats) -> bytes:
    return lines(words, vectors)


def glove_windows(words: list[str], vectors: Floats) -> bytes:
    return b"\xef\xbb\xbf" + lines(words, vectors, end="\r\n")


def glove_tabs(words: list[str], vectors: Floats) -> bytes:
    return lines(words, vectors).replace(b" ", b"\t")


def glove_without_last_newline(words: list[str], vectors: Floats) -> bytes:
    return lines(words, vectors).rstrip()


def word2vec_text(words: list[str], vectors: Floats) -> bytes:
    return header(words, vectors) + lines(words, vectors)


def fasttext(words: list[str], vectors: Floats) -> bytes:
    return header(words, vectors) + lines(words, vectors, end=" \n")


def word2vec_binary(words: list[str], vectors: Floats, *, end: bytes = b"\n") -> bytes:
    rows = (word.encode() + b" " + row.astype("<f4").tobytes() + end for word, row in zip(words, vectors, strict=True))
    return header(words, vectors) + b"".join(rows)


def word2vec_binary_joined(words: list[str], vectors: Floats) -> bytes:
    return word2vec_binary(words, vectors, end=b"")


def zipped(make: Callable[[list[str], Floats], bytes]) -> Callable[[list[str], Floats], bytes]:
    return lambda words, vectors: gzip.compress(make(words, vectors))


MAKERS = {
    "glove": (glove, "GloVe text"),
    "glove windows": (glove_windows, "GloVe text"),
    "glove tabs": (glove_tabs, "GloVe text"),
    "glove cut newline": (glove_without_last_newline, "GloVe text"),
    "glove gz": (zipped(glove), "GloVe text"),
    "word2vec text": (word2vec_text, "word2vec text"),
    "fasttext": (fasttext, "word2vec text"),
    "fasttext gz": (zipped(fasttext), "word2vec text"),
    "word2vec binary": (word2vec_binary, "word2vec binary"),
    "word2vec binary joined": (word2vec_binary_joined, "word2vec binary"),
    "word2vec binary gz": (zipped(word2vec_binary), "word2vec binary"),
}


@pytest.fixture(params=MAKERS)
def made(request: pytest.FixtureRequest, tmp_path: Path) -> tuple[Path, str]:
    """A file in each of the formats; its name says nothing of it."""
    make, form = MAKERS[request.param]
    (tmp_path / "vectors").write_bytes(make(WORDS, NUMBERS))
    return tmp_path / "vectors", form


def test_a_format_is_known_by_its_content(made: tuple[Path, str]) -> None:
    path, form = made
    assert (identify(path).form, identify(path).dimension) == (form, 4)


@pytest.mark.parametrize("rows", [4096, 2])
def test_every_format_gives_the_same_table(made: tuple[Path, str], rows: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(vector_formats, "_ROWS", rows)
    table = load_vectors(made[0])
    assert table.words == ["the", "of", "paris", "café", "zebra", "1999"]
    assert np.allclose(table.rows(np.arange(6)), NUMBERS)
    assert table.lookup(hash_words(["PARIS Café"]).hashes).tolist() == [2, 3]
    assert table.verify()


@pytest.mark.parametrize("number", ["1e-5", "-0", "+3.5", ".5", "7", "1E+2"])
def test_numbers_are_read_however_they_are_written(tmp_path: Path, number: str) -> None:
    (tmp_path / "v").write_text(f"cat {number} 0.25\ndog 1 1\n")
    assert load_vectors(tmp_path / "v").rows(np.array([0])).tolist() == [[np.float32(number), 0.25]]


def test_words_with_spaces_are_read_past_and_dropped(tmp_path: Path) -> None:
    words = ["the", "at name@domain.com", ". . .", "in 1999", "cat"]
    (tmp_path / "v").write_bytes(lines(words, NUMBERS[:5]))
    table = load_vectors(tmp_path / "v")
    assert table.words == ["the", "cat"]
    assert np.allclose(table.rows(np.array([1])), NUMBERS[4])


def test_what_is_not_one_word_is_dropped_and_the_card_counts_it(tmp_path: Path) -> None:
    words = ["</s>x", ",", "New_York", "", "\u00a0", "cat"]
    (tmp_path / "v").write_bytes(word2vec_text(words, NUMBERS))
    table = load_vectors(tmp_path / "v")
    assert table.words == ["cat"]
    assert "6 rows, of which 5 are not one word" in table.card["source"]


@pytest.mark.parametrize("rows", [4096, 2])
def test_the_form_that_is_written_as_normalised_wins_else_the_first(
    tmp_path: Path, rows: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(vector_formats, "_ROWS", rows)
    words = ["The", "RUST", "the", "Rust", "the", "THE"]
    (tmp_path / "v").write_bytes(lines(words, NUMBERS))
    table = load_vectors(tmp_path / "v")
    assert table.words == ["the", "rust"]  # in the order in which they were first seen
    assert np.allclose(table.rows(np.array([0, 1])), NUMBERS[[2, 1]])
    assert "4 are other forms" in table.card["source"]


BROKEN = {
    "empty": (b"", "is empty"),
    "a text": (b"Once upon a time\nthere was\n", "line 1: expected a word and its numbers"),
    "a counts file": (b"the 5321\nof 4012\n", "line 1: expected a word and its numbers"),
    "one line without end": (b"x" * (1 << 21), "line 1: expected"),
    "utf-16": ("the 0.1 0.2\n".encode("utf-16"), "neither text in UTF-8"),
    "a zip archive": (b"PK\x03\x04....", "zip archive; unpack"),
    "a fastText model": ((793712314).to_bytes(4, "little") + b"\0" * 50, r"fastText model; give the \.vec"),
    "too few columns": (b"the 1 2 3\nof 1 2\nto 1 2 3\n", "line 2: expected a word and 3 numbers.*found 2 numbers"),
    "too many columns": (b"the 1.5 2 3\nof 1 2 3\nto 1.5 2 3 4\n", "line 3: expected a word and 3 numbers.*found 4"),
    "no numbers": (b"the 1.5 2 3\nof\n", "line 2: expected a word and 3 numbers"),
    "not a number": (b"the 1 2 3\n\nof 1 zwei 3\n", "line 3: .*'zwei' where a number should be"),
    "comma decimals": (b"the 1.0 2 3\nof 1,5 2,5 3,5\n", "line 2: .*'1,5' where a number"),
    "nan": (b"the 1 2 3\nof 1 nan 3\n", "line 2: .*infinite number, or NaN, for 'of'"),
    "inf": (b"the 1 2 3\nof 1 inf 3\n", "line 2: .*infinite"),
    "beyond float32": (b"the 1 2 3\nof 1 1e39 3\n", "line 2: .*infinite"),
    "latin-1": ("the 1 2 3\ncafé 1 2 3\n".encode("latin-1"), r"line 2: .*caf.*xe9', which is not UTF-8"),
    "fewer rows than promised": (b"3 2\nthe 1 2\nof 1 2\n", "line 1: promises 3 rows, but the file has 2"),
    "more rows than promised": (b"1 2\nthe 1 2\nof 1 2\n", "line 1: promises 1 rows, but the file has 2"),
    "other columns than promised": (
        b"2 3\nthe 1 2\nof 1 2\n",
        "line 2: expected a word and 3 numbers, as line 1 promises",
    ),
    "only a header": (b"0 5\n", "no word vectors after the first line"),
    "no dimension": (b"5 0\n", "line 1: 0 dimensions"),
    "a giant dimension": (b"5 99999999999\n", "line 1: 99999999999 dimensions"),
    "a number of thousands of digits": (b"1 " + b"2" * 5000 + b"\n", "line 1: expected a word and its numbers"),
    "none is a word": (b". 1 2\n, 1 2\n", "has 2 words, none of which is one word"),
    "binary cut short": (word2vec_binary(WORDS, NUMBERS)[:-9], "row 6: 8 bytes of numbers, not 16"),
    "binary cut in a word": (word2vec_binary(WORDS, NUMBERS)[:-19], "row 6: the end of the file"),
    "binary with rows missing": (word2vec_binary(WORDS, NUMBERS)[:50], "row 3"),
    "binary with more": (word2vec_binary(WORDS, NUMBERS) + b"abc", "row 6: more bytes after the last row"),
    "binary with nan": (
        word2vec_binary(WORDS, NUMBERS * [1, 1, np.nan, 1]),
        "row 1: .*infinite number, or NaN, for 'the'",
    ),
    "binary with a bad word": (
        word2vec_binary(WORDS, NUMBERS).replace("café".encode(), b"caf\xe9"),
        "row 4: .*not UTF-8",
    ),
    "gzip cut short": (gzip.compress(glove(WORDS, NUMBERS))[:-12], "cannot be read as word vectors"),
    "gzip damaged": (gzip.compress(glove(WORDS, NUMBERS))[:15] + b"\xff" * 30, "cannot be read as word vectors"),
}


@pytest.mark.parametrize("case", BROKEN)
def test_a_broken_file_is_refused_with_its_place_and_leaves_no_table(tmp_path: Path, case: str) -> None:
    data, said = BROKEN[case]
    path = tmp_path / "vectors.txt"
    path.write_bytes(data)
    with pytest.raises(VectorsError, match=said) as caught:
        load_vectors(path)
    assert str(path) in str(caught.value)
    assert "\n" not in str(caught.value)
    assert [found for found in tmp_path.iterdir() if found.is_dir()] == []


@pytest.fixture
def source(tmp_path: Path) -> Path:
    path = tmp_path / "glove.txt"
    path.write_bytes(glove(WORDS, NUMBERS))
    return path


@pytest.fixture
def conversions(monkeypatch: pytest.MonkeyPatch) -> list[Path]:
    """The folders into which something was converted."""
    seen: list[Path] = []
    plain = conversion.convert

    def counting(path: Path, folder: Path, **options: object) -> VectorTable:
        seen.append(folder)
        return plain(path, folder, **options)  # type: ignore[arg-type]

    monkeypatch.setattr(conversion, "convert", counting)
    return seen


def test_a_file_is_converted_once_and_kept_beside_it(source: Path, conversions: list[Path]) -> None:
    first, again = load_vectors(source), load_vectors(source)
    assert conversions == [source.with_name("glove.txt.semsearch")]
    assert (first.digest, first.name) == (again.digest, "glove")
    assert source.with_name("glove.txt.semsearch") == again.folder


def test_a_file_that_has_changed_is_converted_again(source: Path, conversions: list[Path]) -> None:
    load_vectors(source)
    source.write_bytes(glove(["whale", *WORDS[1:]], NUMBERS))
    assert load_vectors(source).words[0] == "whale"
    os.utime(source, (1, 1))
    load_vectors(source)
    assert len(conversions) == 3
    assert [path.name for path in source.parent.iterdir() if path.is_dir()] == ["glove.txt.semsearch"]


def test_a_full_disk_is_said_and_leaves_no_table(source: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(*_: object, **__: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(table_writer, "save_array", full)
    with pytest.raises(StorageError, match="No space left on device; free space"):
        load_vectors(source)
    assert [path for path in source.parent.iterdir() if path.is_dir()] == []


def test_a_killed_conversion_leaves_nothing_that_opens(source: Path) -> None:
    code = (
        "import os, sys; from semsearch_research.word_tables import conversion, table_writer\n"
        "table_writer.TableWriter._commit = lambda *_: os._exit(9)\n"
        "conversion.load_vectors(sys.argv[1])"
    )
    load_vectors(source)
    source.write_bytes(glove(["whale", *WORDS[1:]], NUMBERS))
    assert subprocess.run([sys.executable, "-c", code, str(source)], check=False).returncode == 9
    assert load_vectors(source).words[0] == "whale"


def test_two_processes_may_convert_the_same_file(source: Path) -> None:
    code = (
        "import sys; from semsearch_research.word_tables.conversion import load_vectors\n"
        "print(load_vectors(sys.argv[1]).digest)"
    )
    both = [subprocess.Popen([sys.executable, "-c", code, str(source)], stdout=subprocess.PIPE) for _ in range(2)]
    digests = {process.communicate()[0] for process in both}
    assert [process.returncode for process in both] == [0, 0]
    assert len(digests) == 1
    assert [path.name for path in source.parent.iterdir() if path.is_dir()] == ["glove.txt.semsearch"]


def test_probabilities_come_from_a_counts_file(source: Path, tmp_path: Path) -> None:
    (tmp_path / "counts.txt").write_text("the 70\nparis 20\nother 10\n")
    table = convert(source, folder_beside(source), counts=tmp_path / "counts.txt")
    assert table.frequencies == pytest.approx([0.7, 0.1, 0.2, 0.1, 0.1, 0.1])
    assert "counts.txt, which has 2 of the words" in table.card["frequencies"]
    assert load_vectors(source).frequencies[0] == pytest.approx(0.7)  # what was asked for is kept


def test_probabilities_come_from_shipped_english(
    source: Path, small_vectors: VectorTable, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(conversion, "shipped", lambda _: small_vectors)
    table = load_vectors(source)
    p = small_vectors.frequencies
    assert table.frequencies[:2] == pytest.approx(p[[small_vectors.id_of("the"), small_vectors.id_of("of")]])
    assert table.frequencies[2:] == pytest.approx(p.min())
    assert "which has 2 of the words" in table.card["frequencies"]


def test_without_english_probabilities_follow_zipf(source: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(conversion, "shipped", lambda _: None)
    table = load_vectors(source)
    assert table.frequencies.sum() == pytest.approx(1)
    assert table.frequencies[0] / table.frequencies[3] == pytest.approx(4)
    assert "Zipf" in table.card["frequencies"]
