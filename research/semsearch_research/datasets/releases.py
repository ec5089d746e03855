"""The releases of the data sets: which of their files are taken, and what becomes of their lines.

    SemEval STS    STS.input.MSRpar.txt: pairs between tabs; STS.gs.MSRpar.txt: a score a line, blank if nobody judged
    STSb           sts-train.csv: genre, file, year, number, score, sentence, sentence, between tabs
    SICK           SICK.txt with a column of splits, or SICK_train, _trial, _test_annotated.txt; by the header
    PIT-2015       test.data (Twitter'15; Xu et al.): a topic, its name, two sentences, an expert's score from 0 to 5
    MSRP           msr_paraphrase_train.txt, _test.txt: quality, two ids, two sentences
    SST            trees/train.txt: `(3 (2 It) (4 works))`; a label below 2 is negative, above it positive
    SNLI           snli_1.0_train.jsonl: gold_label, sentence1, sentence2
    IMDB           aclImdb/train/pos/123_9.txt: a review a file; every tenth number of train is dev, which it lacks

Of the SST's dev and test the sentences are taken, of train all phrases as well, each once, as in the SIF paper's data.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from semsearch.errors import SourceError
from semsearch_research.datasets.known import known_files
from semsearch_research.evaluate.file_lines import as_number

Lines = Iterator[tuple[int, str]]  # of a file, with their numbers from 1
Finished = tuple[str, list[str]] | str  # the path and the rows of a file; or why there is none


@dataclass(frozen=True, slots=True)
class Release:
    """A release of a data set: a pattern of its files' names, and how their lines become rows.

    `read` yields a key and an item for each line that counts, and raises SourceError, which names the line; of several
    files that give a key, the first counts. `finish` makes rows of all items by key, each with the path of its file,
    and says in words what cannot be made. By default the keys are paths, and the items rows.
    """

    names: re.Pattern[str]
    read: Callable[[re.Match[str], Lines], Iterator[tuple[Any, Any]]]
    finish: Callable[[dict[Any, list[Any]]], Iterator[Finished]] = lambda items: iter(items.items())


def _cells(line: str) -> list[str]:
    return [" ".join(cell.split()) for cell in line.split("\t")]


def _wrong(match: re.Match[str], number: int, expected: str, line: str) -> SourceError:
    return SourceError(f"{match.string}, line {number}: expected {expected}, found {line[:60]!r}")


# -- Pairs with scores -------------------------------------------------------------------------------------------------


def _benchmark(match: re.Match[str], lines: Lines) -> Iterator[tuple[str, str]]:
    for number, line in lines:
        cells = _cells(line)
        if len(cells) < 7 or as_number(cells[4]) is None or not (cells[5] and cells[6]):
            raise _wrong(match, number, "genre, file, year, number, score and two sentences, between tabs", line)
        yield f"sts/stsb.{match[1]}.tsv", "\t".join(cells[4:7])


_SICK_SPLITS = {"train": "train", "trial": "dev", "test": "test", "test_annotated": "test"}
_SICK_COLUMNS = (("relatedness_score",), ("sentence_A",), ("sentence_B",), ("entailment_judgment", "entailment_label"))


def _sick(match: re.Match[str], lines: Lines) -> Iterator[tuple[str, str]]:
    split = _SICK_SPLITS.get((match[1] or "").removeprefix("_"), "")
    first = next(lines, (1, ""))[1]
    header = _cells(first)
    columns = [next((header.index(name) for name in names if name in header), -1) for names in _SICK_COLUMNS]
    of_split = header.index("SemEval_set") if "SemEval_set" in header and not split else -1
    if min(columns) < 0 or (of_split < 0 and not split):
        raise _wrong(match, 1, "pair_ID, sentence_A, sentence_B, a label and relatedness_score", first)
    for number, line in lines:
        cells = _cells(line)
        if len(cells) < len(header) or as_number(cells[columns[0]]) is None:
            raise _wrong(match, number, "as many cells as the first line, with a score", line)
        name = split or _SICK_SPLITS.get(cells[of_split].lower(), "")
        if not name:
            raise _wrong(match, number, "a split: TRAIN, TRIAL or TEST", cells[of_split])
        yield f"sts/sick.{name}.tsv", "\t".join(cells[column] for column in columns)


def _twitter(match: re.Match[str], lines: Lines) -> Iterator[tuple[str, str]]:
    for number, line in lines:
        if line.strip():
            cells = _cells(line)
            score = as_number(cells[4]) if len(cells) > 4 else None
            if score is None or not 0 <= score <= 5 or not (cells[2] and cells[3]):
                raise _wrong(match, number, "a topic, its name, two sentences and a score from 0 to 5", line)
            yield "sts/twitter15.test.tsv", "\t".join([cells[4], cells[2], cells[3]])


# -- SemEval's years ---------------------------------------------------------------------------------------------------
# Several years have tasks of one name (OnWN, headlines, images): which it is say the file, a task beside it that one
# year alone has, or the names of its folders.

_YEAR = re.compile(r"(?<!\d)(?:20|sts[ _-]?)(1[2-6])(?!\d)", re.IGNORECASE)
_ONE_YEAR = {
    **dict.fromkeys(("MSRpar", "MSRvid", "SMTeuroparl", "SMTnews"), "2012"),
    **dict.fromkeys(("FNWN", "SMT"), "2013"),
    **dict.fromkeys(("deft-forum", "deft-news", "tweet-news"), "2014"),
    **dict.fromkeys(("answers-forums", "answers-students", "belief"), "2015"),
    **dict.fromkeys(("answer-answer", "plagiarism", "postediting", "question-question"), "2016"),
}


def _semeval(match: re.Match[str], lines: Lines) -> Iterator[tuple[tuple[str, str, str, str], str]]:
    folder, year, kind, task = match[1] or "", match[2] or "", match[3], match[4]
    for number, line in lines:
        if kind == "input":
            cells = _cells(line)
            if len(cells) < 2 or not (cells[0] and cells[1]):
                raise _wrong(match, number, "two sentences with a tab between", line)
            yield (folder, task, kind, year), "\t".join(cells[:2])
        else:
            score = as_number(line) if line.strip() else 0.0
            if score is None or not 0 <= score <= 5:
                raise _wrong(match, number, "a score from 0 to 5 or nothing", line)
            yield (folder, task, kind, year), line.strip()


def _joined_tasks(items: dict[tuple[str, str, str, str], list[str]]) -> Iterator[Finished]:
    """Each task whose pairs and scores are both there."""
    scores = {(folder, task): lines for (folder, task, kind, _), lines in items.items() if kind == "gs"}
    for (folder, task, kind, year), pairs in items.items():
        if kind != "input":
            continue
        name = f"{folder}STS.input.{task}.txt"
        elsewhere = [lines for (_, other), lines in scores.items() if other == task and len(lines) == len(pairs)]
        of_task = scores.get((folder, task)) or (elsewhere[0] if len(elsewhere) == 1 else None)
        if of_task is None:
            yield f"{name}: there are no scores beside it, STS.gs.{task}.txt"
            continue
        if len(of_task) != len(pairs):
            yield f"{name} has {len(pairs)} pairs, and STS.gs.{task}.txt {len(of_task)} scores"
            continue
        beside = {_ONE_YEAR.get(other, "") for at, other, *_ in items if at == folder} - {""}
        named = {f"20{digits}" for digits in _YEAR.findall(folder)}
        year = year or _ONE_YEAR.get(task, "") or next((min(one) for one in (beside, named) if len(one) == 1), "")
        if not year:
            yield f"{name}: it does not say of which year it is; give its folder a name such as STS2014"
            continue
        is_training = year == "2012" and "train" in folder.rstrip("/").rpartition("/")[2].lower()
        path = f"sts/{year}.{task}.{'train' if is_training else 'test'}.tsv"
        if path in known_files():
            yield path, ["\t".join(row) for row in zip(of_task, pairs, strict=True)]
        else:
            yield f"{name}: STS {year} has no task {task}"


# -- Groups of paraphrases ---------------------------------------------------------------------------------------------


def _paraphrases(match: re.Match[str], lines: Lines) -> Iterator[tuple[str, list[str]]]:
    for number, line in lines:
        cells = [cell.strip() for cell in line.split("\t")]
        if number == 1 and cells[0] == "Quality":
            continue
        if len(cells) != 5 or cells[0] not in ("0", "1") or not all(cells):
            raise _wrong(match, number, "a quality of 0 or 1, two ids and two sentences", line)
        yield match[1], cells


def _grouped(items: dict[str, list[list[str]]]) -> Iterator[Finished]:
    """MSRP's pairs as groups, as in White et al. 2015, section 4.1: sentences that a chain of paraphrases joins, in
    training and test pairs together. Groups of fewer than three are left out. 274 groups of 859 sentences; the paper
    says 273 of the same 859."""
    if missing := {"train", "test"} - items.keys():
        yield f"the groups of MSRP are of both files, and there is no msr_paraphrase_{missing.pop()}.txt"
        return
    texts: dict[str, str] = {}
    group_of: dict[str, set[str]] = {}
    for quality, one, other, *pair in (cells for part in items.values() for cells in part):
        texts |= dict(zip((one, other), pair, strict=True))
        if quality == "1":
            joined = group_of.get(one, {one}) | group_of.get(other, {other})
            group_of |= dict.fromkeys(joined, joined)
    groups = {id(group): sorted(group) for _, group in sorted(group_of.items()) if len(group) >= 3}
    large = sorted(groups.values(), key=lambda group: -len(group))
    rows = [f"msrp{number}\t{one}\t{texts[one]}" for number, group in enumerate(large, 1) for one in group]
    yield "paraphrase/msrp_groups3.tsv", rows


# -- Labelled texts ----------------------------------------------------------------------------------------------------

_PIECE = re.compile(r"[()]|[^\s()]+")
_ESCAPED = {"-LRB-": "(", "-RRB-": ")"}


def _trees(match: re.Match[str], lines: Lines) -> Iterator[tuple[str, tuple[str, int]]]:
    for number, line in lines:
        nodes = _nodes(line)
        if not nodes and line.strip():
            raise _wrong(match, number, "a tree such as (3 (2 It) (4 works))", line)
        for label, text in nodes if match[1] == "train" else nodes[-1:]:
            if label != 2:
                yield f"supervised/sst.{match[1]}.tsv", (text, int(label > 2))


def _distinct(items: dict[str, list[tuple[str, int]]]) -> Iterator[Finished]:
    for path, phrases in items.items():
        first = dict(reversed(phrases))
        yield path, [f"{text}\t{first[text]}" for text in dict.fromkeys(text for text, _ in phrases)]


def _nodes(line: str) -> list[tuple[int, str]]:
    """The labels and phrases of a tree's nodes, the whole tree last; none if it is no tree."""
    open_nodes: list[tuple[int, list[str]]] = []
    nodes: list[tuple[int, str]] = []
    pieces = iter(_PIECE.findall(line))
    for piece in pieces:
        if piece == "(":
            label = next(pieces, "")
            if not re.fullmatch("[0-4]", label):
                return []
            open_nodes.append((int(label), []))
        elif not open_nodes:
            return []
        elif piece == ")":
            number, words = open_nodes.pop()
            nodes.append((number, " ".join(words)))
            if open_nodes:
                open_nodes[-1][1].extend(words)
        else:
            open_nodes[-1][1].append(_ESCAPED.get(piece, piece.replace("\\/", "/").replace("\\*", "*")))
    return [] if open_nodes else nodes


def _snli(match: re.Match[str], lines: Lines) -> Iterator[tuple[str, str]]:
    for number, line in lines:
        try:
            pair = json.loads(line)
            cells = [pair[name] for name in ("sentence1", "sentence2", "gold_label")]
            row = "\t".join(" ".join(cell.split()) for cell in cells)
        except (ValueError, KeyError, TypeError, AttributeError, RecursionError) as error:
            raise _wrong(match, number, "an object with sentence1, sentence2 and gold_label", line) from error
        yield f"supervised/snli.{match[1]}.tsv", row


def _review(match: re.Match[str], lines: Lines) -> Iterator[tuple[tuple[str, int, str], str]]:
    split, side, number = match[1], match[2], int(match[3])
    text = " ".join(" ".join(line for _, line in lines).replace("<br />", " ").split())
    yield ("dev" if split == "train" and number % 10 == 0 else split, number, side), f"{text}\t{side}"


def _in_order(items: dict[tuple[str, int, str], list[str]]) -> Iterator[Finished]:
    splits: dict[str, list[str]] = {}
    for (split, _, _), rows in sorted(items.items()):
        splits.setdefault(f"supervised/imdb.{split}.tsv", []).extend(rows)
    yield from splits.items()


# -- Files that look as they are laid out ------------------------------------------------------------------------------

_PATHS = {path.rpartition("/")[2]: path for path in known_files()}


def _as_laid_out(match: re.Match[str], lines: Lines) -> Iterator[tuple[str, str]]:
    path = _PATHS[match[1]]
    least, between = {"frequencies": (2, " "), "supervised": (2, "\t")}.get(path.partition("/")[0], (3, "\t"))
    for number, line in lines:
        if line.strip():
            if len(line.strip(" ").split(between)) < least:
                raise _wrong(match, number, f"{least} cells or more, with {between!r} between them", line)
            yield path, line


def _named(pattern: str) -> re.Pattern[str]:
    return re.compile(rf"(?:.*/)?{pattern}")


RELEASES: Sequence[Release] = (
    Release(_named(f"({'|'.join(map(re.escape, _PATHS))})"), _as_laid_out),
    Release(
        re.compile(r"(.*/)?STS(20\d\d)?\.(input|gs)\.(?:surprise\.)?(?!ALL\.)([\w-]+)\.txt"), _semeval, _joined_tasks
    ),
    Release(_named(r"sts-(train|dev|test)\.csv"), _benchmark),
    Release(_named(r"SICK(_train|_trial|_test_annotated)?\.txt"), _sick),
    Release(_named(r"test\.data"), _twitter),
    Release(_named(r"msr_paraphrase_(train|test)\.txt"), _paraphrases, _grouped),
    Release(_named(r"trees/(train|dev|test)\.txt"), _trees, _distinct),
    Release(_named(r"snli_1\.0_(train|dev|test)\.jsonl"), _snli),
    Release(_named(r"aclImdb/(train|test)/(pos|neg)/(\d+)_\d+\.txt"), _review, _in_order),
)
