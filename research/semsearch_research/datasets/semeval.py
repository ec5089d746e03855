"""SemEval's releases of STS: STS.input.MSRpar.txt with pairs between tabs, STS.gs.MSRpar.txt with a score a line.

A blank line of scores is a pair that nobody judged, as most are in 2015 and 2016: the pair stays, and its score is
blank. Several years have tasks of one name (OnWN, headlines, images), and 2012 has two of it (MSRpar): which one it is
says its sum, if it is known; else a task beside it that one year alone has, or the names of the folders.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from semsearch.errors import SourceError
from semsearch.evaluate.file_lines import as_number
from semsearch_research.datasets.known import known_files
from semsearch_research.datasets.made import Made, content
from semsearch_research.datasets.originals import Original

_NAME = re.compile(r"STS(20\d\d)?\.(input|gs)\.(?:surprise\.)?([\w-]+)\.txt")
_YEAR = re.compile(r"(?<!\d)(?:20|sts[ _-]?)(1[2-6])(?!\d)", re.IGNORECASE)
_HIGHEST = 5.0
_ONE_YEAR = {
    **dict.fromkeys(("MSRpar", "MSRvid", "SMTeuroparl", "SMTnews"), "2012"),
    **dict.fromkeys(("FNWN", "SMT"), "2013"),
    **dict.fromkeys(("deft-forum", "deft-news", "tweet-news"), "2014"),
    **dict.fromkeys(("answers-forums", "answers-students", "belief"), "2015"),
    **dict.fromkeys(("answer-answer", "plagiarism", "postediting", "question-question"), "2016"),
}


@dataclass(frozen=True, slots=True)
class _File:
    """The lines of a file, blank ones too, and the year that its name has, if any."""

    name: str
    folder: str
    year: str
    lines: tuple[str, ...]


class SemEval:
    """Pairs and scores, by folder and task, until all files have been seen."""

    def __init__(self) -> None:
        self._files: dict[str, dict[tuple[str, str], _File]] = {"input": {}, "gs": {}}

    def wants(self, name: str) -> bool:
        """Return whether it is a file of pairs or of scores. `ALL` has what the others have."""
        match = _NAME.fullmatch(name.rpartition("/")[2])
        return match is not None and match[3] != "ALL"

    def take(self, original: Original) -> None:
        """Keep its lines."""
        match = _NAME.fullmatch(original.base)
        assert match is not None  # or it was not wanted
        file = _File(original.name, original.folder, match[1] or "", tuple(original.lines()))
        self._files[match[2]].setdefault((original.folder, match[3]), file)

    def made(self) -> Iterator[Made | str]:
        """Yield each task whose pairs and scores are both there."""
        for (folder, task), pairs in self._files["input"].items():
            scores = self._files["gs"].get((folder, task)) or self._elsewhere(task, len(pairs.lines))
            if scores is None:
                yield f"{pairs.name}: there are no scores beside it, STS.gs.{task}.txt"
                continue
            try:
                lines = _joined(pairs, scores)
                yield Made(self._path(task, pairs, lines), lines, pairs.name)
            except SourceError as error:
                yield str(error)

    def _elsewhere(self, task: str, count: int) -> _File | None:
        """The scores of a task in another folder, if only one file has as many."""
        found = [file for (_, name), file in self._files["gs"].items() if name == task and len(file.lines) == count]
        return found[0] if len(found) == 1 else None

    def _path(self, task: str, pairs: _File, lines: tuple[str, ...]) -> str:
        found = content("sts/", lines)
        for known in known_files().values():
            if known.digest and (known.rows, known.digest) == (found.rows, found.digest):
                return known.path
        beside = {_ONE_YEAR.get(name, "") for folder, name in self._files["input"] if folder == pairs.folder} - {""}
        said = {f"20{year}" for year in _YEAR.findall(pairs.name)}
        year = pairs.year or _ONE_YEAR.get(task, "") or _only(beside) or _only(said)
        if not year:
            raise SourceError(
                f"{pairs.name}: it does not say of which year it is; give its folder a name such as STS2014"
            )
        split = "train" if year == "2012" and "train" in pairs.folder.rpartition("/")[2].lower() else "test"
        path = f"sts/{year}.{task}.{split}.tsv"
        if path not in known_files():
            raise SourceError(f"{pairs.name}: STS {year} has no task {task}")
        return path


def _joined(pairs: _File, scores: _File) -> tuple[str, ...]:
    if len(pairs.lines) != len(scores.lines):
        raise SourceError(f"{scores.name} has {len(scores.lines)} lines, and {pairs.name} {len(pairs.lines)} pairs")
    made = []
    for number, (pair, said) in enumerate(zip(pairs.lines, scores.lines, strict=True), 1):
        cells = [" ".join(cell.split()) for cell in pair.split("\t")]
        score = as_number(said) if said.strip() else None
        if said.strip() and (score is None or not 0 <= score <= _HIGHEST):
            raise SourceError(
                f"{scores.name}, line {number}: expected a score from 0 to 5 or nothing, found {said[:40]!r}"
            )
        if len(cells) < 2 or not (cells[0] and cells[1]):
            raise SourceError(
                f"{pairs.name}, line {number}: expected two sentences with a tab between, found {pair[:60]!r}"
            )
        made.append("\t".join([said.strip(), *cells[:2]]))
    return tuple(made)


def _only(found: set[str]) -> str:
    return next(iter(found)) if len(found) == 1 else ""
