"""Made-up test collections in the files that `evaluate` reads: pairs, groups, labelled rows, questions."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path

import numpy as np
from small import TOPICS, sentence

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


def write_pairs(path: Path, rows: Sequence[Pair]) -> Path:
    path.write_text("".join(f"{score}\t{one}\t{two}\n" for score, one, two in rows), encoding="utf-8")
    return path


def write_groups(path: Path, sizes: list[int]) -> Path:
    """A group a topic, with so many sentences."""
    rows = [
        f"{topic}\tid{number}\t{sentence(topic, number)}\n"
        for topic, size in zip(TOPICS, sizes, strict=False)
        for number in range(size)
    ]
    path.write_text("".join(rows), encoding="utf-8")
    return path


SIZES = {"train": 60, "dev": 20, "test": 24}
SPLITS = tuple(SIZES)


Row = tuple[str, ...]


def sick(folder: Path) -> Path:
    """Pairs of one topic, which are alike, and of two."""
    return write_rows(folder, "sick.{}.tsv", [labelled_pair(number) for number in range(sum(SIZES.values()))])


def labelled_pair(number: int) -> Row:
    generator = np.random.default_rng(number)
    one, two = generator.choice(list(TOPICS), size=2)
    if number % 2:
        two = one
    score = 4 + generator.random() if one == two else 1 + generator.random()
    label = "ENTAILMENT" if one == two else "NEUTRAL"
    return f"{score:.1f}", sentence(one, number), sentence(two, 1000 + number), label


def write_rows(folder: Path, name: str, rows: list[Row]) -> Path:
    folder.mkdir(exist_ok=True)
    for split in SPLITS:
        part, rows = rows[: SIZES[split]], rows[SIZES[split] :]
        text = "".join("\t".join(row) + "\n" for row in part)
        (folder / name.format(split)).write_text(text, encoding="utf-8")
    return folder


EACH = 5  # documents of a topic


def collection(folder: Path, *, queries: dict[str, str] | None = None, qrels: str = "") -> Path:
    """Documents of six topics; a query is three words of a topic, all its documents are relevant."""
    documents = [
        {
            "_id": f"{topic}{number}",
            "title": topic,
            "text": " ".join(sentence(topic, 10 * number + n) for n in range(3)),
        }
        for topic in TOPICS
        for number in range(EACH)
    ]
    asked = queries or {topic: " ".join(TOPICS[topic].split()[:3]) for topic in TOPICS}
    judged = qrels or "".join(f"{topic}\t{topic}{number}\t1\n" for topic in asked for number in range(EACH))
    (folder / "qrels").mkdir(parents=True)
    lines = [json.dumps({"_id": key, "text": text}) for key, text in asked.items()]
    (folder / "corpus.jsonl").write_text("\n".join(map(json.dumps, documents)), encoding="utf-8")
    (folder / "queries.jsonl").write_text("\n".join(lines), encoding="utf-8")
    (folder / "qrels" / "test.tsv").write_text("query-id\tcorpus-id\tscore\n" + judged, encoding="utf-8")
    return folder
