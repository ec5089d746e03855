"""Known items of a guide: does what a document says of itself find that document, when it no longer stands there?

    python tests/benchmarks/quality/known_items.py FOLDER... [--title-shares 0,0.5,1,2]

Of each Markdown or reStructuredText file of a folder the first sentence of its summary is the question, and the file is
its answer: of a section "Abstract" or "Summary", which is then taken out, or of a "description" in the front matter,
likewise; where a folder has neither, the headings of three words and more, each replaced by "Section". At most three
hundred questions of a folder are asked, drawn from a fixed seed. nDCG@10 over documents, as a Markdown table.
"""

from __future__ import annotations

import argparse
import random
import re
import tempfile
from collections.abc import Sequence
from math import log2
from pathlib import Path

from semsearch import Index, tuning

MOST, DEPTH = 300, 10
SECTION = re.compile(
    r"^#+[ \t]*(?:Summary|Abstract)[ \t]*$(.*?)(?=^#)|^(?:Summary|Abstract)\n=+\n(.*?)(?=^[^\n]+\n=+\n)", re.M | re.S
)
DESCRIPTION = re.compile(r"^description:[ \t]*(?:>-?\s*)?(.+?)(?=^\S+:|^---)", re.M | re.S)
HEADING = re.compile(r"^#{2,4} (.+)$", re.M)
MARKS = re.compile(r"[`*_]|\[([^\]]*)\]\([^)]*\)|^\[summary\].*$", re.M)


def first_sentence(text: str) -> str | None:
    """The first sentence of forty characters and more, without marks."""
    plain = " ".join(MARKS.sub(lambda found: found.group(1) or "", text).split())
    found = re.match(r"(.{40,300}?[.!?])(\s|$)", plain)
    return found.group(1) if found else None


def summary_of(text: str) -> tuple[str | None, str]:
    """What a document says of itself, if it does, and the document without it."""
    for pattern in (SECTION, DESCRIPTION):
        if found := pattern.search(text):
            said = next(filter(None, found.groups()), "")
            question = first_sentence(said) or (" ".join(said.split()) if len(said) > 40 else None)
            if question:
                return question, text[: found.start()] + text[found.end() :]
    return None, text


def headings_of(text: str) -> tuple[list[str], str]:
    """The first four headings of three words and more, and the document with "Section" in their place."""
    told = [found for found in HEADING.finditer(text) if len(re.findall(r"[A-Za-z]{3,}", found.group(1))) >= 3][:4]
    for found in told:
        text = text.replace(found.group(0), "## Section")
    return [" ".join(MARKS.sub(lambda each: each.group(1) or "", found.group(1)).split()) for found in told], text


def prepared(source: Path, target: Path) -> list[tuple[str, str]]:
    """Copy the files of a folder without their summaries; the questions with the paths of their answers."""
    files = sorted(path for path in source.rglob("*") if path.suffix in {".md", ".rst"})
    texts = {path.relative_to(source).as_posix(): path.read_text("utf-8", errors="replace") for path in files}
    summaries = {path: summary_of(text) for path, text in texts.items()}
    asked = [(question, path) for path, (question, _) in summaries.items() if question]
    rest = {path: text for path, (_, text) in summaries.items()}
    if not asked:
        headings = {path: headings_of(text) for path, text in texts.items()}
        asked = [(question, path) for path, (questions, _) in headings.items() for question in questions]
        rest = {path: text for path, (_, text) in headings.items()}
    for path, text in rest.items():
        (target / path).parent.mkdir(parents=True, exist_ok=True)
        (target / path).write_text(text, "utf-8")
    return random.Random(0).sample(asked, MOST) if len(asked) > MOST else asked


def ndcg(index: Index, asked: Sequence[tuple[str, str]]) -> float:
    answers = index.search_many([question for question, _ in asked], 5 * DEPTH, duplicates=True, syntax="plain")
    total = 0.0
    for (_, path), hits in zip(asked, answers, strict=True):
        documents = list(dict.fromkeys(hit.document for hit in hits))[:DEPTH]
        total += 1 / log2(documents.index(path) + 2) if path in documents else 0.0
    return total / len(asked)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folders", nargs="+", type=Path)
    parser.add_argument("--title-shares", default="0,0.5,1,2")
    arguments = parser.parse_args()
    shares = [float(each) for each in arguments.title_shares.split(",")]
    usual = tuning.TUNING
    print("| folder | questions | " + " | ".join(f"{share:g} parts" for share in shares) + " |")
    print("|---" * (2 + len(shares)) + "|")
    for folder in arguments.folders:
        with tempfile.TemporaryDirectory() as temporary:
            asked = prepared(folder, Path(temporary) / "files")
            with Index.create(Path(temporary) / "index") as index:
                index.sync(Path(temporary) / "files")
                cells = []
                for share in shares:
                    tuning.TUNING = usual._replace(title_share=share)
                    cells.append(f"{ndcg(index, asked):.4f}")
                tuning.TUNING = usual
        print(f"| {folder.name} | {len(asked)} | " + " | ".join(cells) + " |", flush=True)


if __name__ == "__main__":
    main()
