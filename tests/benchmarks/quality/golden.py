"""Five hundred questions over real documentation: is the document that answers among the first hits?

    python tests/benchmarks/quality/golden.py FOLDER [--split test|dev|all] [--show-misses]

FOLDER holds some of the trees `peps`, `rust-book`, `rust-rfcs`, `powershell` (the PEPs, the Rust book and RFCs, the
PowerShell documentation), `pytest` (with doc/en), `fastapi` (with docs/en/docs/*.md), and `guide`:
git archive HEAD docs '*.md' | tar -x -C FOLDER/guide

The questions, in tests/golden/questions.jsonl, were written from the documents' subjects, in a user's words, before any
search was run. Then the first documents of all modes were judged; those that answer as well were added. In a second
reading, the first passages of lexical, dense and hybrid search that no label had were judged once more, mixed, by what
they say: documents whose passage answers are in `also`. Both are printed. Settings are chosen on the questions of split
`dev` (PEPs, Rust book, FastAPI, guide) and reported on those of split `test`.
"""

from __future__ import annotations

import argparse
import json
import tempfile
from collections import defaultdict
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from semsearch import Index

QUESTIONS = Path(__file__).parents[2] / "golden" / "questions.jsonl"
DEPTH = 10


def rank_of(answers: Sequence[str], documents: Sequence[str]) -> float:
    """The rank of the first document that answers, from 1; infinite where none of the first ten does."""
    ranks = [rank for rank, document in enumerate(documents[:DEPTH], 1) if document in answers]
    return ranks[0] if ranks else float("inf")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--split", default="test", choices=["test", "dev", "all"])
    parser.add_argument("--show-misses", action="store_true")
    arguments = parser.parse_args()
    questions = [json.loads(line) for line in QUESTIONS.read_text(encoding="utf-8").splitlines()]
    asked: dict[str, list[dict[str, Any]]] = defaultdict(list)
    for question in questions:
        if arguments.split in ("all", question["split"]):
            asked[question["collection"]].append(question)
    ranks: dict[str, list[tuple[float, float]]] = defaultdict(list)
    for collection, group in asked.items():
        if not (arguments.folder / collection).is_dir():
            continue
        with tempfile.TemporaryDirectory() as folder, Index.create(Path(folder) / collection) as index:
            index.sync(arguments.folder / collection)
            for mode in ("hybrid", "dense", "lexical"):
                answers = index.search_many([question["question"] for question in group], 5 * DEPTH, mode=mode)
                for question, hits in zip(group, answers, strict=True):
                    found, both = list(dict.fromkeys(hit.document for hit in hits)), question["answers"]
                    rank, also = rank_of(both, found), rank_of([*both, *question.get("also", ())], found)
                    for name in (mode, f"{mode}, {collection}"):
                        ranks[name].append((rank, also))
                    if arguments.show_misses and rank > 5 and mode == "hybrid":
                        print(f"{question['id']} rank {rank}: {question['question']} -> {hits[0].document}")
    columns = [
        f"{measure}{reading}" for reading in ("", ", second reading") for measure in ("hit@1", "hit@5", "MRR@10")
    ]
    print(f"| mode | questions | {' | '.join(columns)} |\n|---|---|{'---|' * len(columns)}")
    for mode, own in ranks.items():
        print(f"| {mode} | {len(own)} | {' | '.join(map(measured, zip(*own, strict=True)))} |")


def measured(ranks: Sequence[float]) -> str:
    """hit@1, hit@5 and MRR@10, as columns."""
    hit1, hit5 = (sum(rank <= limit for rank in ranks) / len(ranks) for limit in (1, 5))
    return f"{hit1:.3f} | {hit5:.3f} | {sum(1 / rank for rank in ranks) / len(ranks):.3f}"


if __name__ == "__main__":
    main()
