"""A small world for tests of the index: made-up word vectors in a few topics, and documents in their words."""

from __future__ import annotations

import struct
import zlib
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path

import numpy as np
from small_tables import write_table

from semsearch.index import Index
from semsearch.lexical.postings import GatheredPostings, PostingsBuilder, gather
from semsearch.rerankers import Reranker
from semsearch.text.passage_words import PassageRecord, find_words
from semsearch.text.terms import Lexicon
from semsearch.word_vectors.table import VectorTable

TOPICS = {
    "sea": "ship sail harbour captain wave anchor sailor storm island boat coast deck rope tide voyage",
    "kitchen": "bread oven flour butter recipe bake cake sugar dough kitchen salt pan soup cheese knife",
    "night": "star planet telescope moon orbit comet galaxy astronomer sky eclipse sun mars light dark night",
    "garden": "rose seed soil garden plant flower tree leaf root water spade grass bee fruit apple",
    "music": "violin song melody piano orchestra singer rhythm concert chord flute drum opera note tune choir",
    "law": "judge court trial lawyer verdict jury witness law crime evidence appeal prison sentence contract oath",
}
GLUE = "the a of and in to is was with for on it as at by from that this one some every many old new first".split()
DIMENSION = 24


def small_vectors(folder: Path, *, seed: int = 0, name: str = "small") -> VectorTable:
    """Words of one topic point the same way, more or less; glue words point nowhere in particular."""
    words = GLUE + [word for words in TOPICS.values() for word in words.split()]
    generator = np.random.default_rng(seed)
    centres = {topic: generator.standard_normal(DIMENSION) for topic in TOPICS}
    rows = [generator.standard_normal(DIMENSION) * 0.3 for _ in GLUE]
    for topic, members in TOPICS.items():
        rows += [centres[topic] + 0.5 * generator.standard_normal(DIMENSION) for _ in members.split()]
    frequencies = 1 / (np.arange(len(words)) + 2.0)
    return write_table(folder / name, words, np.array(rows, dtype=np.float32), frequencies / frequencies.sum())


def sentence(topic: str, number: int, *, words: int = 7) -> str:
    """A made-up sentence of a topic, always the same for the same number."""
    generator = np.random.default_rng(zlib.crc32(f"{topic} {number}".encode()))
    content = generator.choice(TOPICS[topic].split(), size=words // 2 + 1)
    glue = generator.choice(GLUE, size=words // 2)
    mixed = [word for pair in zip(content, [*glue, "again"], strict=False) for word in pair]
    return " ".join(str(word) for word in mixed).capitalize() + "."


def article(topic: str, number: int, *, paragraphs: int = 3, sentences: int = 4) -> str:
    """A Markdown document of one topic."""
    parts = [f"# About {TOPICS[topic].split()[number % 15]}"]
    for paragraph in range(paragraphs):
        parts.append(f"## Part {paragraph + 1}")
        first = 1000 * number + sentences * paragraph
        parts.append(" ".join(sentence(topic, first + number) for number in range(sentences)))
    return "\n\n".join(parts) + "\n"


def gathered(headings: Sequence[str], texts: Sequence[str]) -> GatheredPostings:
    """The postings of passages in English, each of one sentence."""
    records = [
        PassageRecord("[]", above, 1, None, text, struct.pack("<5i", 0, len(text), 0, len(text), 1), 1)
        for above, text in zip(headings, texts, strict=True)
    ]
    builder = PostingsBuilder(Lexicon())
    gather(builder, find_words(records))
    return builder.gathered()


def write_articles(folder: Path, count: int, *, first: int = 0) -> None:
    """`count` documents, their topics in turn."""
    folder.mkdir(parents=True, exist_ok=True)
    topics = list(TOPICS)
    for number in range(first, first + count):
        topic = topics[number % len(topics)]
        (folder / f"{topic}-{number}.md").write_text(article(topic, number), encoding="utf-8")


@contextmanager
def index_of_articles(folder: Path, count: int, *, vectors: VectorTable | None = None) -> Iterator[Index]:
    """An index, in a folder, of `count` documents in it, by these word vectors or else by those of the small world."""
    write_articles(folder / "docs", count)
    with Index.create(folder / "index", vectors=vectors or small_vectors(folder)) as index:
        index.sync(folder / "docs")
        yield index


@contextmanager
def opening(made: Index) -> Iterator[Callable[[Reranker], Index]]:
    """A function that opens an index with a reranker. What it has opened is closed after the block."""
    with ExitStack() as opened:
        yield lambda reranker: opened.enter_context(Index.open(made.path, vectors=made._vectors(), reranker=reranker))
