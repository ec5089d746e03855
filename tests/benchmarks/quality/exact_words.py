"""Exact words: does a query that is an identifier find the one document in which it stands?

    python tests/benchmarks/quality/exact_words.py FOLDER... [--identifiers 120] [--seed 0] [--show-misses]

Identifiers (CamelCase, snake_case, with digits) that stand in the text of one file of the folders are drawn at random.
The folders become one index, which is asked for each. Asked for are those that stand literally in a passage among the
first ten hits of lexical search, alone and in questions; the table says at which rank each mode has that passage.
"""

from __future__ import annotations

import argparse
import random
import re
import tempfile
from collections import defaultdict
from pathlib import Path

from semsearch import Hit, Index

DEPTH = 10
FORMS = {
    "alone": "{}",
    "in a question": "what does {} mean?",
    "in a long question": "a program of ours complains about {} since we installed the new version, what can we do?",
}
IDENTIFIER = re.compile(
    r"(?<![\w.])(?:[A-Z][a-z]+(?:[A-Z][a-z]+)+|[a-z]+(?:_[a-z]+)+|(?=\w*[A-Za-z]{2})[A-Za-z]\w*\d\w*)(?![\w.])"
)


def unique_identifiers(folders: list[Path]) -> list[str]:
    """The identifiers that stand in one file only, sorted."""
    files: dict[str, set[Path]] = defaultdict(set)
    for path in sorted(path for folder in folders for path in folder.rglob("*") if path.is_file()):
        for found in set(IDENTIFIER.findall(path.read_text("utf-8", errors="replace"))):
            files[found].add(path)
    return sorted(name for name, paths in files.items() if len(paths) == 1 and len(name) > 4)


def rank_in(hits: list[Hit], name: str) -> float:
    """The rank of the first hit in which the identifier stands; infinite where it stands in none."""
    literal = re.compile(rf"(?<!\w){re.escape(name)}(?!\w)")
    return next((hit.rank for hit in hits if literal.search(hit.passage)), float("inf"))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folders", nargs="+", type=Path)
    parser.add_argument("--identifiers", type=int, default=120)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--index", type=Path, help="keep the index in this folder, or use the one that is there")
    parser.add_argument("--show-misses", action="store_true")
    arguments = parser.parse_args()
    every = unique_identifiers(arguments.folders)
    drawn = random.Random(arguments.seed).sample(every, min(arguments.identifiers, len(every)))
    with tempfile.TemporaryDirectory() as temporary:
        place = arguments.index or Path(temporary) / "index"
        if not place.exists():
            with Index.create(place) as index:
                index.sync(*arguments.folders)
        with Index.open(place) as index:
            found = [name for name in drawn if rank_in(index.search(name, DEPTH, mode="lexical"), name) <= DEPTH]
            print(
                f"{len(every)} identifiers stand in one file; of {len(drawn)} drawn, lexical search finds {len(found)}"
            )
            print("| query | mode | first | in the first three | in the first ten |\n|---|---|---|---|---|")
            for label, form in FORMS.items():
                for mode in ("hybrid", "dense", "lexical"):
                    ranks = {name: rank_in(index.search(form.format(name), DEPTH, mode=mode), name) for name in found}
                    counts = [sum(rank <= limit for rank in ranks.values()) for limit in (1, 3, DEPTH)]
                    print(f"| {label} | {mode} | {' | '.join(map(str, counts))} |", flush=True)
                    if arguments.show_misses and mode == "hybrid":
                        print(*(f"{name}: {rank}" for name, rank in ranks.items() if rank > 1), sep="\n")


if __name__ == "__main__":
    main()
