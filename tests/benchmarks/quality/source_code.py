"""Questions over source code: is the function that answers among the first hits?

    python tests/benchmarks/quality/source_code.py FOLDER [--split test|dev|all] [--bm25s] [--semble PYTHON]

FOLDER holds two code bases: `python` (the packages `requests` and `urllib3`, as their wheels have them) and `go` (the
repository gin-gonic/gin). The questions, in code_questions.jsonl, were written from the names of their functions, in a
user's words, before any search was run. Settings are chosen on those of split `dev` and reported on those of `test`.

An answer is the beginning of a definition's line. What is right is a hit whose sentence stands in the definition, from
the comments above it to its end by indentation; for another program, a piece of code that overlaps with it by half of
the shorter one. `--bm25s` ranks the same passages by bm25s, whose tokens are words, identifiers, and their parts;
`--semble` asks the package of that name, which the given interpreter has.
"""

from __future__ import annotations

import argparse
import json
import re
import subprocess
import tempfile
import time
from collections import defaultdict
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from semsearch import Index
from semsearch.readers.read import read_file
from semsearch.text.passages import each_record

QUESTIONS = Path(__file__).with_name("code_questions.jsonl")
DEPTH = 10
ABOVE = re.compile(r"\s*(?:#|//|/\*|\*|@|\"\"\")")
CLOSING = re.compile(r"\s*[)\]}]")
CODE = (".py", ".go")
SEMBLE = """
import json, sys
from semble import SembleIndex
index = SembleIndex.from_path(sys.argv[1])
for question in json.load(sys.stdin):
    found = index.search(question, top_k=int(sys.argv[2]))
    print(json.dumps([[each.chunk.file_path, each.chunk.start_line, each.chunk.end_line] for each in found]))
"""
Found = tuple[str, int, int]  # path, first and last line


def extent(source: str, beginning: str) -> tuple[int, int]:
    """The lines, from 1, of the first definition that begins so."""
    lines = source.splitlines()
    first = last = next(number for number, line in enumerate(lines) if line.lstrip().startswith(beginning))
    indent = len(lines[first]) - len(lines[first].lstrip())
    for number, line in enumerate(lines[first + 1 :], first + 1):
        if line.strip():
            own = len(line) - len(line.lstrip())
            if own < indent or (own == indent and not CLOSING.match(line)):
                break
            last = number
    while first and ABOVE.match(lines[first - 1]):
        first -= 1
    return first + 1, last + 1


def rank_of(answers: Sequence[Found], found: Sequence[Found]) -> float:
    """The rank of the first of the found places that is in one of the answers; infinite if none of the first ten is."""
    for rank, (path, first, last) in enumerate(found[:DEPTH], 1):
        for answer, begin, end in answers:
            common = min(last, end) - max(first, begin) + 1
            if path == answer and 2 * common >= min(last - first, end - begin) + 1:
                return rank
    return float("inf")


def tokens(text: str) -> list[str]:
    """Words, identifiers and the parts of these, in lower case."""
    found: list[str] = []
    for word in re.findall(r"\w+", text):
        parts = re.findall(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|\d+", word)
        found += [word.lower(), *(part.lower() for part in parts if len(parts) > 1)]
    return found


def bm25s_answers(folder: Path, questions: Sequence[str]) -> list[list[Found]]:
    """What bm25s finds among the passages that semsearch makes of the files of code."""
    import bm25s
    import Stemmer

    stemmer = Stemmer.Stemmer("english")
    places: list[Found] = []
    corpus: list[list[str]] = []
    for path in sorted(path for path in folder.rglob("*") if path.suffix in CODE):
        document = read_file(path).document
        for passage in each_record(document):
            places.append((path.relative_to(folder).as_posix(), passage.line, passage.line))
            corpus.append(stemmer.stemWords(tokens(f"{passage.above} {passage.text}")))
    ranking = bm25s.BM25(k1=1.2, b=0.75)
    ranking.index(corpus, show_progress=False)
    asked = [stemmer.stemWords(tokens(question)) for question in questions]
    return [
        [places[number] for number in ranking.retrieve([each], k=DEPTH, show_progress=False)[0][0]] for each in asked
    ]


def semble_answers(interpreter: str, folder: Path, questions: Sequence[str]) -> list[list[Found]]:
    """What semble finds in a folder."""
    command = [interpreter, "-c", SEMBLE, str(folder), str(DEPTH)]
    answer = subprocess.run(command, input=json.dumps(questions), capture_output=True, text=True, check=True)
    return [[(path, first, last) for path, first, last in json.loads(line)] for line in answer.stdout.splitlines()]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--split", default="test", choices=["test", "dev", "all"])
    parser.add_argument("--bm25s", action="store_true")
    parser.add_argument("--semble", metavar="PYTHON")
    parser.add_argument("--show-misses", action="store_true")
    arguments = parser.parse_args()
    asked: dict[str, list[dict[str, Any]]] = defaultdict(list)
    for question in map(json.loads, QUESTIONS.read_text(encoding="utf-8").splitlines()):
        if arguments.split in ("all", question["split"]):
            asked[question["collection"]].append(question)
    ranks: dict[str, list[float]] = defaultdict(list)
    for collection, group in asked.items():
        folder = arguments.folder / collection
        texts = [question["question"] for question in group]
        answers = [
            [(path, *extent((folder / path).read_text("utf-8"), beginning)) for path, beginning in
             (answer.split("#", 1) for answer in question["answers"])]
            for question in group
        ]  # fmt: skip

        def count(
            system: str,
            found: Sequence[Sequence[Found]],
            group: Any = group,
            answers: Any = answers,
            of: str = collection,
        ) -> None:
            for question, right, places in zip(group, answers, found, strict=True):
                rank = rank_of(right, places)
                ranks[system].append(rank)
                ranks[f"{system}, {of}"].append(rank)
                if arguments.show_misses and rank > 5:
                    print(f"{system}: {question['id']} rank {rank}: {question['question']} -> {places[:1]}")

        with tempfile.TemporaryDirectory() as temporary, Index.create(Path(temporary) / collection) as index:
            began = time.process_time()
            index.sync(folder)
            size = sum(path.stat().st_size for path in folder.rglob("*") if path.suffix in CODE)
            rate = size / 1e6 / (time.process_time() - began)
            print(f"{collection}: {size:,} bytes of code, indexed at {rate:.2f} MB/s")
            for mode in ("hybrid", "dense", "lexical"):
                hits = index.search_many(texts, DEPTH, mode=mode)
                count(f"semsearch, {mode}", [[(hit.document, hit.line, hit.line) for hit in each] for each in hits])
        if arguments.bm25s:
            count("bm25s", bm25s_answers(folder, texts))
        if arguments.semble:
            count("semble", semble_answers(arguments.semble, folder, texts))
    print("| system | questions | hit@1 | hit@5 | MRR@10 |\n|---|---|---|---|---|")
    for system, found in sorted(ranks.items()):
        hit1, hit5 = (sum(rank <= limit for rank in found) / len(found) for limit in (1, 5))
        mrr = sum(1 / rank for rank in found) / len(found)
        print(f"| {system} | {len(found)} | {hit1:.2f} | {hit5:.2f} | {mrr:.2f} |")


if __name__ == "__main__":
    main()
