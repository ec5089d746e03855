"""Ask one's own questions, and report where their answers stand, and where they stood the last time."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Sequence
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, get_args

from semsearch.errors import SourceError, UsageError
from semsearch.evaluate.golden.expected_answers import names, paths_of
from semsearch.evaluate.golden.golden_report import (
    DEPTH,
    AnsweredQuestion,
    ChangedQuestion,
    GoldenMode,
    GoldenReport,
    figures_of,
)
from semsearch.evaluate.golden.last_run import NAME, Ranks, last_of, read_runs, write_runs
from semsearch.evaluate.golden.questions import GoldenFile
from semsearch.index import Index
from semsearch.results.hits import Mode
from semsearch.results.options import SearchOptions

if TYPE_CHECKING:
    from semsearch.searchable import Searchable

Report = Callable[[str, int, int], None]


def evaluate_golden(
    path: str | Path,
    index: Searchable,
    *,
    modes: Sequence[Mode] = ("hybrid",),
    record: str | Path | None = None,
    keep: bool = True,
    progress: Report | None = None,
) -> GoldenReport:
    """Ask the questions of a file (semsearch.evaluate.golden.questions) and report where their answers stand.

    What the run found is kept in the file `record`, for an index here by default beside it, unless `keep` is false;
    what has changed since the run before is reported. Raises SourceError, with a line for each bad line of the file;
    UsageError for a mode that there is not.
    """
    for mode in modes:
        if mode not in get_args(Mode):
            raise UsageError(f"there is no mode {mode!r}; expected {', '.join(get_args(Mode))}")
    golden = GoldenFile.read(Path(path))
    if golden.problems:
        raise SourceError("\n".join(golden.problems))
    file = os.path.realpath(path)
    place = _place_of(index) if record is None else Path(record)
    runs = {} if place is None else read_runs(place)
    found: dict[Mode, tuple[AnsweredQuestion, ...]] = {mode: _answered(golden, index, mode, progress) for mode in modes}
    if place is not None and keep:
        write_runs(place, runs, file, found)
    return GoldenReport(
        str(path),
        tuple(_of_mode(mode, found[mode], last_of(runs, file, mode), golden) for mode in modes),
        tuple(_strangers(golden, index)) if isinstance(index, Index) else (),
    )


def _place_of(index: Searchable) -> Path | None:
    return index.path / NAME if isinstance(index, Index) else None


def _answered(
    golden: GoldenFile, index: Searchable, mode: Mode, progress: Report | None
) -> tuple[AnsweredQuestion, ...]:
    found = []
    for done, each in enumerate(golden.questions):
        if progress is not None:
            progress(f"asking, {mode}", done, len(golden.questions))
        hits = index.search(each.query, options=SearchOptions(DEPTH, mode))
        found.append(AnsweredQuestion.of(each.query, each.line, each.answers, hits))
    return tuple(found)


def _of_mode(mode: Mode, found: Sequence[AnsweredQuestion], last: Ranks | None, golden: GoldenFile) -> GoldenMode:
    """The figures of all questions, and of those that were asked before, what they were and have gained."""
    again = [each for each in found if last and each.query in last]
    was = _figures([last[each.query] for each in again], golden) if last and again else None
    gained = {name: value - was[name] for name, value in _figures(again, golden).items()} if was else None
    return GoldenMode(
        mode,
        _figures(found, golden),
        was,
        gained,
        tuple(_changed(found, last or {})),
        found,
    )


def _figures(found: Sequence[AnsweredQuestion], golden: GoldenFile) -> dict[str, float]:
    ndcg = [each.ndcg for each in found] if golden.is_graded else None
    return figures_of([each.rank for each in found], ndcg)


def _changed(found: Sequence[AnsweredQuestion], last: Ranks) -> Iterator[ChangedQuestion]:
    for each in found:
        if each.query in last and last[each.query].rank != each.rank:
            yield ChangedQuestion(each.query, each.rank, last[each.query].rank)


def _strangers(golden: GoldenFile, index: Index) -> Iterator[str]:
    """Say of each answer that no document has its path: it can never be found."""
    paths = [*chain.from_iterable(map(paths_of, index))]
    for question in golden.questions:
        for answer in question.answers:
            if not any(names(answer.path, path) or names(answer.written, path) for path in paths):
                yield f"line {question.line}: no document of the index is called {answer.path}"
