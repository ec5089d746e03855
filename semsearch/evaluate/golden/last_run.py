"""What the last run of a file of questions found: a file of JSON beside the index, or wherever it is wanted.

The ranks of its questions are kept by file and mode, as far as they were asked: a question that is new has not changed.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from semsearch.errors import SourceError
from semsearch.evaluate.golden.golden_report import AnsweredQuestion
from semsearch.results.hits import Mode
from semsearch.system.durable import write_durably

NAME = "golden-runs.json"
Ranks = Mapping[str, AnsweredQuestion]


def read_runs(path: Path) -> dict[str, Any]:
    """The runs that a file keeps, by file of questions; none if there is none. Raises SourceError if it is damaged."""
    try:
        found = json.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        return {}
    except (OSError, ValueError) as error:
        raise SourceError(
            f"{path} holds no runs that can be read ({error}); remove it, or name another file"
        ) from error
    if not isinstance(found, dict):
        raise SourceError(f"{path} is a file of something else; name another one for what the last run found")
    return found


def last_of(runs: Mapping[str, Any], file: str, mode: str) -> Ranks | None:
    """The questions of the last run of a file and a mode; None if there was none."""
    kept = runs.get(file)
    of_mode = kept.get(mode) if isinstance(kept, Mapping) else None
    if not isinstance(of_mode, Mapping):
        return None
    return {
        query: AnsweredQuestion(query, 0, _rank(each.get("rank")), float(each.get("ndcg") or 0))
        for query, each in of_mode.items()
        if isinstance(each, Mapping)
    }


def write_runs(
    path: Path, runs: Mapping[str, Any], file: str, modes: Mapping[Mode, Sequence[AnsweredQuestion]]
) -> None:
    """Keep what a run of a file has found, beside the runs of others. Raises SourceError if that cannot be written."""
    new = {
        mode: {each.query: {"rank": each.rank, "ndcg": each.ndcg} for each in found} for mode, found in modes.items()
    }
    before = runs.get(file)
    whole = {**runs, file: {**(before if isinstance(before, Mapping) else {}), **new}}
    text = json.dumps(whole, ensure_ascii=False, indent=1).encode("utf-8", "replace")
    try:
        write_durably(path, lambda write: write(text))
    except OSError as error:
        raise SourceError(f"{path} cannot be written: {error.strerror or error}; name another file") from error


def _rank(value: Any) -> int | None:
    return value if isinstance(value, int) and value > 0 else None
