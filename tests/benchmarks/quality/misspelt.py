"""Headings of a guide as questions, clean and misspelt: is a passage below the heading among the first five hits?

    python tests/benchmarks/quality/misspelt.py FOLDER [--index INDEX] [--questions 200] [--show-misses]

FOLDER is a documentation tree. A mistake replaces a letter, leaves one out, adds one or swaps two, each as often, in a
word of six letters or more; `replaced` only replaces. Two words are joined, and a long one is divided, in one place.
The digest is of all hits and scores of the clean questions: two versions that print the same one answer them alike, to
the last bit. "As typed" is with the syntax "plain", which corrects nothing.
"""

from __future__ import annotations

import argparse
import hashlib
import logging
import random
import re
import sqlite3
import time
from collections.abc import Callable, Sequence
from contextlib import closing
from json import loads
from pathlib import Path
from tempfile import TemporaryDirectory

from semsearch import Index
from semsearch.results.hits import Hit
from semsearch.results.options import Syntax

LONG = 6  # letters of a word that is misspelt
FIRST = 5  # hits
Change = Callable[[str, random.Random], str]


def replaced(word: str, random_: random.Random) -> str:
    """A word with another letter in one place; the letter is one of its script."""
    at = random_.randrange(len(word))
    alphabet = "абвгдежзиклмнопрстуфхцчшщыьэюя" if "а" <= word[at].lower() <= "я" else "abcdefghijklmnopqrstuvwxyz"
    return word[:at] + random_.choice([each for each in alphabet if each != word[at].lower()]) + word[at + 1 :]


def mistaken(word: str, random_: random.Random) -> str:
    """A word with one mistake of any kind."""
    kind, at = random_.randrange(4), random_.randrange(len(word) - 1)
    if kind == 0:
        return replaced(word, random_)
    if kind == 1:
        return word[:at] + word[at + 1 :]
    if kind == 2:
        return word[:at] + replaced(word[at], random_) + word[at:]
    return word[:at] + word[at + 1] + word[at] + word[at + 2 :]


def misspelt(question: str, change: Change, random_: random.Random, *, every: bool) -> str:
    """A question with a mistake in one of its long words, or in each."""
    found = list(re.finditer(rf"[^\W\d_]{{{LONG},}}", question))
    for match in reversed(found if every else [random_.choice(found)]):
        question = question[: match.start()] + change(match.group(), random_) + question[match.end() :]
    return question


def joined(question: str, random_: random.Random) -> str:
    """A question without one of its spaces."""
    space = random_.choice([match.start() for match in re.finditer(" ", question)])
    return question[:space] + question[space + 1 :]


def divided(question: str, random_: random.Random) -> str:
    """A question with a space in one of its long words, three letters or more from its ends."""
    word = random_.choice(list(re.finditer(rf"[^\W\d_]{{{LONG},}}", question)))
    at = random_.randrange(word.start() + 3, word.end() - 2)
    return f"{question[:at]} {question[at:]}"


def headings_of(index: Path, n: int) -> list[tuple[str, str]]:
    """Some headings that stand in one document only, with its path: three words or more, one of them long."""
    with closing(sqlite3.connect(f"file:{index / 'index.sqlite'}?mode=ro", uri=True)) as db:
        rows = db.execute(
            "SELECT DISTINCT d.path, p.headings FROM passages p JOIN documents d ON d.id = p.document_id"
        ).fetchall()
    places: dict[str, set[str]] = {}
    for path, headings in rows:
        for heading in loads(headings):
            places.setdefault(heading, set()).add(path)
    fit = re.compile(r"[^\W\d_][\w ,?'-]*")
    chosen = [
        (heading, next(iter(paths)))
        for heading, paths in sorted(places.items())
        if len(paths) == 1
        and len(heading.split()) >= 3
        and fit.fullmatch(heading)
        and re.search(rf"[^\W\d_]{{{LONG},}}", heading)
        and "_" not in heading
        and not re.search(r"\w[A-Z]", heading)
    ]
    random.Random(3).shuffle(chosen)
    return chosen[:n]


def is_found(hits: Sequence[Hit], heading: str, path: str) -> bool:
    """Whether one of the first hits stands below a heading of a document."""
    return any(heading in hit.headings and hit.document.endswith(path) for hit in hits[:FIRST])


def digest_of(answers: Sequence[Sequence[Hit]]) -> str:
    """A digest of all hits and their scores, to the last bit."""
    parts = [(hit.passage_id, hit.sentence_id, hit.score.hex(), str(hit.relevance)) for hits in answers for hit in hits]
    return hashlib.blake2b(repr(parts).encode(), digest_size=8).hexdigest()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--index", type=Path)
    parser.add_argument("--questions", type=int, default=200)
    parser.add_argument("--show-misses", action="store_true")
    arguments = parser.parse_args()
    logging.getLogger("semsearch").setLevel(logging.ERROR)
    with TemporaryDirectory() as temporary:
        path = arguments.index or Path(temporary) / "index"
        if not path.exists():
            Index.create(path).sync(arguments.folder)
        with Index.open(path) as index:
            measure(index, headings_of(path, arguments.questions), show=arguments.show_misses)


def measure(index: Index, asked: Sequence[tuple[str, str]], *, show: bool) -> None:
    """Ask all questions in all spellings, and print a table."""
    ways: dict[str, Callable[[str], str]] = {
        "clean": lambda question: question,
        "one letter replaced": lambda question: misspelt(question, replaced, random_, every=False),
        "one mistake": lambda question: misspelt(question, mistaken, random_, every=False),
        "all long words misspelt": lambda question: misspelt(question, mistaken, random_, every=True),
        "two words joined": lambda question: joined(question, random_),
        "a word divided": lambda question: divided(question, random_),
    }
    print("| questions | hit@5 as typed | hit@5 | of clean | corrected | digest | ms |\n|---|---|---|---|---|---|---|")
    clean = 0
    for name, way in ways.items():
        random_ = random.Random(7)
        questions = [way(heading.lower()) for heading, _ in asked]
        counts: dict[Syntax, int] = {}
        seconds = time.process_time()
        for syntax in ("plain", "full"):
            seconds = time.process_time()
            answers = [index.search(question, syntax=syntax) for question in questions]
            seconds = time.process_time() - seconds
            found = [is_found(hits, *where) for hits, where in zip(answers, asked, strict=True)]
            counts[syntax] = sum(found)
        changed = sum(bool(hits.corrected) for hits in answers)
        clean = clean or counts["full"]
        share = counts["full"] / max(clean, 1)
        about = f"{share:.3f} | {changed} | {digest_of(answers)} | {1000 * seconds / len(asked):.1f}"
        print(f"| {name} | {counts['plain']} of {len(asked)} | {counts['full']} | {about} |", flush=True)
        for (heading, path), question, hits, hit in zip(asked, questions, answers, found, strict=True):
            if show and not hit and name != "clean":
                print(f"    {heading!r} ({path}) asked {question!r}: {hits.corrected}")


if __name__ == "__main__":
    main()
