"""What an index costs by its size: bytes, time to make, and the time of each stage of a question; written as JSON.

    python tests/benchmarks/scale/costs.py TEXT.txt.xz... --questions FILE.txt --sizes 100000,1000000 --out costs.json

Texts have a paragraph a line; they are taken one after the other until there are so many sentences, and become files
of 200 paragraphs. Each size gets an index of its own, with one process. Then every question (a line) is asked of every
index, in rounds, so that what else the machine does hits all sizes alike; the fastest of a question's rounds counts.
All times are processor time.

The stages of a question: embed (its terms, language, corrections and vector), dense (the nearest passages), words
(BM25), sentences (the vectors of the candidates' sentences), rows (SQLite: spans, hits), quotes (the sentences shown),
ranking (the rest). They add up; the means are printed.

    python tests/benchmarks/scale/costs.py INDEX... --questions FILE.txt --rounds 0

asks indexes that there are, and with --rounds 0 each question once, so that nothing of it is remembered.
"""

from __future__ import annotations

import argparse
import json
import lzma
import shutil
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, dataclass
from functools import wraps
from pathlib import Path
from statistics import median
from typing import Any

from semsearch import Index
from semsearch.lexical.bm25 import WordScores, WordSearch
from semsearch.search import pipeline
from semsearch.search.index_reader import IndexReader, IndexView

STAGES = ("embed", "dense", "words", "sentences", "rows", "quotes", "ranking")
PARAGRAPHS = 200  # in a file
WRAPPED: Sequence[tuple[Any, str, str]] = (
    (pipeline, "prepare", "embed"),
    (IndexReader, "scan", "dense"),
    (WordSearch, "scores", "words"),
    (WordScores, "best", "words"),
    (WordScores, "scored", "words"),
    (WordSearch, "locate", "words"),
    (IndexView, "sentences", "sentences"),
    (IndexView, "spans", "rows"),
    (IndexView, "texts", "rows"),
    (pipeline, "make_hits", "rows"),
    (pipeline, "quote", "quotes"),
)


@dataclass
class Costs:
    """What one index costs. Times of questions are in seconds, by stage, a number for each question."""

    sentences: int
    passages: int
    documents: int
    text_bytes: int
    index_seconds: float
    database_bytes: int
    postings_bytes: int
    passage_bytes: int
    sentence_bytes: int
    topics_bytes: int
    stages: dict[str, list[float]]

    @property
    def totals(self) -> list[float]:
        """The time of each question."""
        return [sum(each) for each in zip(*self.stages.values(), strict=True)]


class Stopwatch:
    """Charges processor time, of all threads, to the stage that runs: of nested ones the inner."""

    def __init__(self) -> None:
        self.seconds: Counter[str] = Counter()
        self._stack = ["ranking"]
        self._since = 0.0

    def start(self) -> None:
        """Begin with a new question."""
        self.seconds = Counter()
        self._since = time.process_time()

    def switch(self) -> None:
        """Charge what has passed to the stage on top."""
        now = time.process_time()
        self.seconds[self._stack[-1]] += now - self._since  # type: ignore[assignment]  # seconds, not a count
        self._since = now

    def wrapped(self, work: Callable[..., Any], stage: str) -> Callable[..., Any]:
        """A function whose time is a stage's."""

        @wraps(work)
        def timed(*arguments: Any, **keywords: Any) -> Any:
            self.switch()
            self._stack.append(stage)
            try:
                return work(*arguments, **keywords)
            finally:
                self.switch()
                self._stack.pop()

        return timed


def paragraphs(texts: Sequence[Path]) -> Iterator[str]:
    """The paragraphs of texts, one after the other."""
    for path in texts:
        with lzma.open(path, "rt", encoding="utf-8") if path.suffix == ".xz" else path.open(encoding="utf-8") as lines:
            yield from (line.strip() for line in lines if line.strip())


def write_files(texts: Sequence[Path], folder: Path, sentences: int) -> int:
    """Write files of paragraphs until there are about so many sentences; the number of bytes."""
    written, held, size, some = 0, 0, 0, list[str]()
    for text in paragraphs(texts):
        some.append(text)
        held += max(1, text.count(". ") + text.endswith("."))
        if len(some) == PARAGRAPHS or held >= sentences:
            path = folder / f"{written // 500:04d}" / f"{written:06d}.txt"
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text("\n\n".join(some), encoding="utf-8")
            size += path.stat().st_size
            written, some = written + 1, []
        if held >= sentences:
            break
    return size


def made(texts: Sequence[Path], folder: Path, sentences: int) -> tuple[Path, Costs]:
    """Make an index of about so many sentences."""
    size = write_files(texts, folder / f"text-{sentences}", sentences)
    place = folder / f"index-{sentences}"
    with Index.create(place) as index:
        began = time.process_time()
        done = index.sync(folder / f"text-{sentences}", processes=1)
        seconds = time.process_time() - began
    shutil.rmtree(folder / f"text-{sentences}")
    by_kind: Counter[str] = Counter()
    for path in (place / "segments").iterdir():
        by_kind[path.name.partition("-")[0]] += path.stat().st_size
    costs = Costs(
        done.sentences,
        done.passages,
        done.added,
        size,
        seconds,
        (place / "index.sqlite").stat().st_size,
        by_kind["words"],
        by_kind["passage"],
        by_kind["sentence"],
        by_kind["topics"],
        {},
    )
    return place, costs


def ask(index: Index, question: str, watch: Stopwatch) -> dict[str, float]:
    """The seconds of each stage of a question."""
    watch.start()
    index.search(question)
    watch.switch()
    return dict(watch.seconds)


def measure(places: Sequence[Path], questions: Sequence[str], rounds: int) -> list[dict[str, list[float]]]:
    """The stages of each question on each index: of its rounds the fastest."""
    watch = Stopwatch()
    for holder, name, stage in WRAPPED:
        setattr(holder, name, watch.wrapped(getattr(holder, name), stage))
    indexes = [Index.open(place) for place in places]
    best: list[list[dict[str, float]]] = [[{} for _ in questions] for _ in places]
    for turn in range(rounds + 1):
        for number, question in enumerate(questions):
            for which, index in enumerate(indexes):
                found = ask(index, question, watch)
                known = best[which][number]
                is_counted = turn > 0 or not rounds  # the first round only warms
                if is_counted and (not known or sum(found.values()) < sum(known.values())):
                    best[which][number] = found
        print(f"round {turn} of {rounds}", flush=True)
    return [{stage: [each.get(stage, 0.0) for each in own] for stage in STAGES} for own in best]


def show(name: str, stages: dict[str, list[float]]) -> None:
    """Print the mean milliseconds of each stage, of all together, and the median of these."""
    totals = [sum(each) for each in zip(*stages.values(), strict=True)]
    means = "  ".join(f"{stage} {1000 * sum(own) / len(own):.2f}" for stage, own in stages.items())
    print(f"{name}: {means}  all {1000 * sum(totals) / len(totals):.2f} (median {1000 * median(totals):.2f})")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("texts", type=Path, nargs="+")
    parser.add_argument("--questions", type=Path, required=True)
    parser.add_argument("--sizes", default="100000,1000000")
    parser.add_argument("--asked", type=int, default=300, help="questions, evenly from the file")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--keep", type=Path, help="where to keep the indexes")
    parser.add_argument("--out", type=Path)
    given = parser.parse_args()
    lines = [line.strip() for line in given.questions.read_text().splitlines() if line.strip()]
    questions = lines[:: max(1, len(lines) // given.asked)][: given.asked]
    if all((place / "index.sqlite").exists() for place in given.texts):
        for place, stages in zip(given.texts, measure(given.texts, questions, given.rounds), strict=True):
            show(str(place), stages)
        return
    with tempfile.TemporaryDirectory() as temporary:
        folder, found = given.keep or Path(temporary), list[tuple[Path, Costs]]()
        folder.mkdir(exist_ok=True, parents=True)
        for size in map(int, given.sizes.split(",")):
            found.append(made(given.texts, folder, size))
            print(f"{found[-1][1].sentences:,} sentences in {found[-1][1].index_seconds:.1f} s", flush=True)
        for (_, costs), stages in zip(
            found, measure([place for place, _ in found], questions, given.rounds), strict=True
        ):
            costs.stages = stages
            show(f"{costs.sentences:,} sentences", stages)
    if given.out:
        given.out.write_text(json.dumps([asdict(costs) for _, costs in found]))


if __name__ == "__main__":
    main()
