"""Ask a guide in one language, find the page in another: nDCG@10, hit@1 and hit@5, as Markdown tables.

    python tests/benchmarks/quality/parallel_guides.py FOLDER FOLDER... [--sections] [--between] [--indexes KEPT]
    python tests/benchmarks/quality/parallel_guides.py FOLDER --asked docs [--languages de,es]

The folders hold a guide's Markdown files under the same paths, one language each, whose code is the folder's name
(fastapi/en, fastapi/de). Of the headings of one language a hundred are drawn from a fixed seed, and asked of an index
of another: the same page is the answer. Asked are headings of two words and more (five characters in Chinese and
Japanese) that stand in one page only. Pairs are the first folder's language and each other, both ways; with
`--between` all. `--sections` makes each section of the second level a page, for guides that have few pages.

With `--asked`, the short questions of guide_questions.jsonl are asked of one guide, in each language of them: the
answer is a section, given by page and heading. `docs` is this project's own guide, `progit` the book Pro Git.
"""

from __future__ import annotations

import argparse
import json
import random
import re
import tempfile
from collections import defaultdict
from collections.abc import Mapping, Sequence
from math import log2
from pathlib import Path
from typing import Any

from semsearch import Hit, Index

QUESTIONS = Path(__file__).with_name("guide_questions.jsonl")
MOST, DEPTH = 100, 10
MODES: tuple[Any, ...] = ("hybrid", "dense")
_COMMENT = re.compile(r"<!--.*?-->|[ \t]*\{ ?#[\w-]+ ?\}", re.S)  # an anchor in English would be found
_FENCE = re.compile(r"^([`~]{3,}).*?^\1", re.M | re.S)
_HEADING = re.compile(r"^#{1,4} +(.+?)[ #]*$", re.M)
_MARKS = re.compile(r"[`*_]|<[^>]*>|!?\[([^\]]*)\]\([^)]*\)")
_SECTION = re.compile(r"^(?=## )", re.M)
_UNPARTED = re.compile(r"[\u3040-\u30ff\u4e00-\u9fff]")


def pages_of(folder: Path, *, sections: bool) -> dict[str, str]:
    """The text of each page of a guide, by its path; with `sections`, by that and the number of the section."""
    files = sorted(path for path in folder.rglob("*") if path.suffix in {".md", ".markdown"})
    pages: dict[str, str] = {}
    for file in files:
        text, name = _COMMENT.sub("", file.read_text("utf-8", errors="replace")), file.relative_to(folder)
        parts = _SECTION.split(text) if sections else [text]
        several = len(parts) if sections else 0
        pages |= {
            str(name.with_suffix(f"/{number}-of-{several}.md") if several else name): part
            for number, part in enumerate(parts)
        }
    return pages


def headings_of(pages: Mapping[str, str]) -> list[tuple[str, str]]:
    """The headings that can be asked, each with the page that alone has it."""
    pages_with: dict[str, set[str]] = defaultdict(set)
    for path, text in pages.items():
        for found in _HEADING.finditer(_FENCE.sub("", text)):
            heading = " ".join(_MARKS.sub(lambda each: each.group(1) or "", found.group(1)).split())
            pages_with[heading].add(path)
    return [(heading, min(paths)) for heading, paths in pages_with.items() if len(paths) == 1 and _says_enough(heading)]


def _says_enough(heading: str) -> bool:
    letters = re.findall(r"[^\W\d_]+", heading)
    return len(_UNPARTED.findall(heading)) >= 5 if _UNPARTED.search(heading) else sum(len(w) > 1 for w in letters) > 1


def open_index(pages: Mapping[str, str], place: Path) -> Index:
    """The index of a guide in one language, made if it is not there."""
    if (place / "index").exists():
        return Index.open(place / "index")
    for path, text in pages.items():
        (place / "files" / path).parent.mkdir(parents=True, exist_ok=True)
        (place / "files" / path).write_text(text, "utf-8")
    index = Index.create(place / "index")
    index.sync(place / "files")
    return index


def measures(ranks: Sequence[int | None]) -> list[float]:
    """nDCG@10, hit@1 and hit@5 of the ranks (from 0, or None) of each question's one answer."""
    found = [rank for rank in ranks if rank is not None and rank < DEPTH]
    values = sum(1 / log2(rank + 2) for rank in found), sum(rank < 1 for rank in found), sum(rank < 5 for rank in found)
    return [value / max(len(ranks), 1) for value in values]


def _row(label: str, of_modes: Sequence[Sequence[float]]) -> str:
    return f"| {label} | " + " | ".join(f"{value:.3f}" for values in of_modes for value in values) + " |"


def _head(label: str) -> str:
    columns = [f"{mode} {name}" for mode in MODES for name in ("nDCG@10", "hit@1", "hit@5")]
    return f"| {label} | " + " | ".join(columns) + " |\n" + "|---" * (len(columns) + 1) + "|"


def across(folders: Sequence[Path], kept: Path, *, sections: bool, between: bool) -> None:
    """Print the table of headings asked across languages."""
    pages = {folder.name: pages_of(folder, sections=sections) for folder in folders}
    indexes = {language: open_index(own, kept / language) for language, own in pages.items()}
    first, *others = pages
    directions = {
        f"{first} → X": [(first, each) for each in others],
        f"X → {first}": [(each, first) for each in others],
    }
    if between:
        directions["X → Y"] = [(one, other) for one in others for other in others if one != other]
    print(_head("from → to (questions)"))
    for name, pairs in directions.items():
        rows: list[list[list[float]]] = []
        for asked, answering in pairs:
            questions = [(text, path) for text, path in headings_of(pages[asked]) if path in pages[answering]]
            questions = random.Random(0).sample(sorted(questions), min(MOST, len(questions)))
            rows.append([measures(ranks_of_pages(indexes[answering], questions, mode)) for mode in MODES])
            print(_row(f"{asked} → {answering} ({len(questions)})", rows[-1]), flush=True)
        means = [
            [sum(column) / len(rows) for column in zip(*of_mode, strict=True)] for of_mode in zip(*rows, strict=True)
        ]
        print(_row(f"mean of {name}", means), flush=True)
    for index in indexes.values():
        index.close()


def ranks_of_pages(index: Index, questions: Sequence[tuple[str, str]], mode: Any) -> list[int | None]:
    answers = index.search_many([text for text, _ in questions], 5 * DEPTH, mode=mode, duplicates=True, syntax="plain")
    return [
        _rank(path, list(dict.fromkeys(hit.document for hit in hits)))
        for (_, path), hits in zip(questions, answers, strict=True)
    ]


def _rank(path: str, documents: Sequence[str]) -> int | None:
    return documents.index(path) if path in documents else None


def asked(folder: Path, guide: str, languages: Sequence[str], kept: Path, *, misses: bool) -> None:
    """Print the table of short questions in each language over one guide."""
    questions = [each for each in map(json.loads, QUESTIONS.read_text("utf-8").splitlines()) if each["guide"] == guide]
    print(_head(f"{guide}: asked in"))
    with open_index(pages_of(folder, sections=False), kept) as index:
        for language in languages:
            rows = []
            for mode in MODES:
                answers = index.search_many([each[language] for each in questions], DEPTH, mode=mode, duplicates=True)
                ranks = [
                    next((rank for rank, hit in enumerate(hits) if _answers(hit, each["answers"])), None)
                    for each, hits in zip(questions, answers, strict=True)
                ]
                rows.append(measures(ranks))
                for each, rank, hits in zip(questions, ranks, answers, strict=True) if misses else ():
                    if rank is None or rank >= 5:
                        first = " | ".join(f"{hit.document}#{' > '.join(hit.headings[-1:])}" for hit in hits[:3])
                        print(f"{mode} {language} {rank}: {each[language]} [{each['answers'][0]}] -> {first}")
            print(_row(f"{language} ({len(questions)})", rows), flush=True)


def _answers(hit: Hit, sections: Sequence[str]) -> bool:
    for path, _, heading in (section.partition("#") for section in sections):
        if hit.document.endswith(path) and heading in hit.headings:
            return True
    return False


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folders", nargs="+", type=Path)
    parser.add_argument("--sections", action="store_true")
    parser.add_argument("--between", action="store_true")
    parser.add_argument("--indexes", type=Path, help="keep the indexes here, for the next run")
    parser.add_argument("--asked", choices=("docs", "progit"))
    parser.add_argument("--languages", default="en,de,es,fr,ru")
    parser.add_argument("--misses", action="store_true")
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as temporary:
        kept = arguments.indexes or Path(temporary)
        if arguments.asked:
            languages = arguments.languages.split(",")
            asked(arguments.folders[0], arguments.asked, languages, kept / arguments.asked, misses=arguments.misses)
        else:
            across(arguments.folders, kept, sections=arguments.sections, between=arguments.between)


if __name__ == "__main__":
    main()
