"""Targets that are files of ours which somebody else may have made: configurations, word vectors."""

from __future__ import annotations

import gzip
import os
import shutil
import tempfile
from collections.abc import Iterator
from pathlib import Path

import numpy as np
from language_tables import write_language_table
from small import small_vectors

from fuzzing.target import Run, Target, text_of
from semsearch.cli.configuration import configuration_of, section_items, use_configuration
from semsearch.embedding.embedder import SentenceEmbedder
from semsearch.sources.ignore import compose, globs, rules_of_folder
from semsearch.text.ragged import OovWords
from semsearch.word_vectors.language_table import LanguageTable
from semsearch.word_vectors.table import VectorTable
from semsearch.word_vectors.vector_formats import identify

_CONFIGURATION = b"""# ours
indexes = "indexes"
ask = ["notes", "docs"]
rerank = "models/small"
rerank_seconds = 0.5

[search]
k = 20
mode = "dense"
filters = ["*.md"]
min_score = 0.2

[settings]
method = "usif"
max_words = 100

[profiles.notes]
roots = ["."]
exclude = ["*.log"]
"""
_CONFIGURATION_WORDS = (
    "[search]",
    "[settings]",
    "[profiles.a]",
    "[[a]]",
    "a.b = ",
    '"""',
    "'''",
    "1979-05-27T07:32:00Z",
    "inf",
    "nan",
    "0x1F",
    "1e9",
    "true",
    "{a = 1}",
    "\\u00E9",
    "roots = ",
    "../",
    "~/",
    "/etc",
    "server = ",
    "ask = ",
    "per_document = ",
    "half_life = ",
)


def targets() -> Iterator[Target]:
    """All targets that are such files."""
    yield Target("configuration", _configuring, lambda: [_CONFIGURATION], _CONFIGURATION_WORDS, 2000)
    yield Target(
        "ignore-rules",
        _ignoring,
        _ignore_files,
        ("**/", "[!", "]", "\\\\", "!", "*a", "/", "#", "[[:alpha:]]"),
        1000,
        grows=False,
    )  # a path is short
    yield Target("word-vectors", _reading_vectors, _vector_files, ("2 3\n", " 1.5", "\n", "\x1f\x8b", "1e9", "nan"))
    yield Target("vector-table", _opening_table, _table_files, grows=False)
    words = ('"words":', '"parts":', '"dimension":', '"scale":', "1e999", "true", "-1", "9" * 20, "\n", "{}", "null")
    yield Target("language-table", _opening_language, _language_files, words, 8192, grows=False)
    yield Target(
        "embedder",
        _restoring,
        _embedders,
        ('"card"', "PK", "NUMPY", "(0,)", "<f4", "fortran_order"),
        20_000,
        grows=False,
    )


def _configuring(folder: Path) -> Run:
    os.chdir(folder)
    os.environ["XDG_CONFIG_HOME"] = str(folder / "none")
    path = folder / "semsearch.toml"

    def run(data: bytes) -> None:
        path.write_bytes(data)
        for command in ("query", "index", "serve"):
            use_configuration(command)
        list(section_items(configuration_of()))

    return run


def _ignoring(folder: Path) -> Run:
    """The last line is a path, those before it are the rules."""

    def run(data: bytes) -> None:
        lines, _, path = data.rpartition(b"\n")
        (folder / ".gitignore").write_bytes(lines)
        rules = rules_of_folder(f"{folder}/", [".gitignore"], None, lambda *_: None)
        if rules is not None:
            rules.ignore(f"{folder}/{compose(path.decode('utf-8', 'replace'))}")
        globs(text_of(lines).split("\n"))

    return run


def _ignore_files() -> Iterator[bytes]:
    yield b"*.log\n!keep.log\n/build/\n**/cache/**\n[a-c]?.md\nguide/part/a.log"
    yield b"*a*a*ab\naaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"


def _reading_vectors(folder: Path) -> Run:
    path = folder / "vectors"

    def run(data: bytes) -> None:
        path.write_bytes(data)
        for rows in identify(path).rows():
            assert len(rows.words) == len(rows.vectors), "words without a vector"
            assert np.isfinite(rows.vectors).all(), "numbers that are none"
            "".join(rows.words).encode()

    return run


def _vector_files() -> Iterator[bytes]:
    rows = np.array([[1, 2, 3], [4, 5, 6]], dtype="<f4")
    text = b"sea 1 2 3\nmoon -4.5 5e-3 6\n"
    binary = b"2 3\n" + b"".join(word + b" " + row.tobytes() for word, row in zip((b"sea", b"moon"), rows, strict=True))
    yield from (text, b"2 3\n" + text, binary, gzip.compress(text, mtime=0))


# -- Tables of word vectors --------------------------------------------------------------------------------------------

_TABLE = ("card.json", "vectors.npy", "frequencies.npy", "keys.npy", "slots.npy", "words.txt")


def _opening_table(folder: Path) -> Run:
    """The first byte chooses the file that the other bytes are."""
    whole = small_vectors(folder).folder
    shutil.copytree(whole, folder / "table", dirs_exist_ok=True)

    def run(data: bytes) -> None:
        name = _TABLE[data[0] % len(_TABLE) if data else 0]
        (folder / "table" / name).unlink()  # what is mapped is another file
        (folder / "table" / name).write_bytes(data[1:])
        try:
            table = VectorTable(folder / "table")
            ids = [table.id_of(word) for word in ("ship", "bread", "no such word")]
            table.rows(np.array([number for number in ids if number >= 0], dtype=np.int64))
            assert len(table.words) >= 0
        finally:
            shutil.copy(whole / name, folder / "table" / name)

    return run


def _table_files() -> Iterator[bytes]:
    with tempfile.TemporaryDirectory() as folder:
        whole = small_vectors(Path(folder)).folder
        for number, name in enumerate(_TABLE):
            yield bytes([number]) + (whole / name).read_bytes()[:4000]


_LANGUAGE_WORDS = ("Schiff", "Brot", "Sturm", "Kapitän")


def _opening_language(folder: Path) -> Run:
    path = folder / "german.vectors"

    def run(data: bytes) -> None:
        path.unlink(missing_ok=True)  # what is mapped is another file
        path.write_bytes(data)
        table = LanguageTable(path)
        ids = table.lookup(OovWords.of(_LANGUAGE_WORDS).hashes)
        assert table.rows(ids[ids >= 0]).shape == ((ids >= 0).sum(), table.dimension)
        table.lookup(np.arange(5000, dtype=np.uint64) << np.uint64(40))
        assert len(table.frequencies) == len(table)
        table.verify()

    return run


def _language_files() -> Iterator[bytes]:
    rows = np.random.default_rng(0).normal(size=(len(_LANGUAGE_WORDS), 4)).astype(np.float32)
    p = np.full(len(_LANGUAGE_WORDS), 0.1)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "german.vectors"
        write_language_table(path, "de", _LANGUAGE_WORDS, rows, p, parts=2, card={"space": "0" * 32})
        yield path.read_bytes()


def _restoring(folder: Path) -> Run:
    """The bytes are a saved embedder: it is opened, and embeds a sentence."""
    vectors, path = small_vectors(folder), folder / "saved"

    def run(data: bytes) -> None:
        path.write_bytes(data)
        rows = SentenceEmbedder.load(path, vectors=vectors).transform(["A ship in the storm.", "no such word"])
        assert np.isfinite(rows).all(), "numbers that are none"

    return run


def _embedders() -> Iterator[bytes]:
    with tempfile.TemporaryDirectory() as folder:
        vectors = small_vectors(Path(folder))
        for unknown in ("skip", "pieces"):
            embedder = SentenceEmbedder(vectors=vectors, components=2, unknown=unknown)
            embedder.fit([f"The ship {number} sails in a storm." for number in range(9)])
            embedder.save(Path(folder) / "saved")
            yield (Path(folder) / "saved").read_bytes()
