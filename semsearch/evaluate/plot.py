"""Draw a report on answers: the share of facts of each kind that is stated, and the verdicts on the questions."""

from __future__ import annotations

import io
from pathlib import Path
from typing import get_args

from semsearch.errors import MissingExtra, StorageError, UsageError
from semsearch.evaluate.answers import AnswersReport
from semsearch.results.hits import Verdict
from semsearch.system.durable import write_durably

_FORMATS = (".png", ".svg", ".pdf")
_ROWS = {"right": "right first hit", "wrong": "wrong first hit", "none": "without an answer"}


def check_plot(path: Path) -> None:
    """Raise, before a long measurement, UsageError for another format, and MissingExtra without matplotlib."""
    if path.suffix.casefold() not in _FORMATS:
        raise UsageError(f"{path} must end in {', '.join(_FORMATS)}")
    try:
        import matplotlib  # noqa: F401  # optional dependency
    except ImportError as error:
        raise MissingExtra("matplotlib", "plot") from error


def plot_answers(report: AnswersReport, path: Path) -> None:
    """Write a picture (.png, .svg, .pdf): for each mode, the facts that are stated, and the table of verdicts.

    A row of the table is shaded by its shares. Raises as `check_plot` does, and StorageError.
    """
    check_plot(path)
    from matplotlib.figure import Figure  # optional dependency

    figure = Figure(figsize=(10, 3 * len(report.modes)), layout="constrained")
    for (facts, table), mode in zip(figure.subplots(len(report.modes), 2, squeeze=False), report.modes, strict=True):
        kinds = {**mode.kinds, "all": mode.all_facts}
        stated = [values["stated"] for values in kinds.values()]  # None: no right document is among the first hits
        shares_stated = ["–" if share is None else f"{share:.2f}" for share in stated]
        labels = [f"{kind} ({values['questions']})" for kind, values in kinds.items()]
        bars = facts.barh(labels, [share or 0.0 for share in stated], height=0.6, color="#56B4E9")
        facts.bar_label(bars, shares_stated, padding=3)
        facts.set(xlim=(0, 1.1), title=f"{mode.mode}: facts stated in the sentence shown")
        facts.margins(y=0.3 / len(kinds))
        facts.invert_yaxis()
        facts.spines[["top", "right"]].set_visible(False)

        counts = [[*row.values()] for row in mode.verdicts.values()]
        shares = [[count / max(sum(row), 1) for count in row] for row in counts]
        table.imshow(shares, cmap="Blues", vmin=0, vmax=1, aspect="auto")
        for y, row in enumerate(counts):
            for x, count in enumerate(row):
                colour = "white" if shares[y][x] > 0.5 else "black"
                table.text(x, y, f"{count:,}", ha="center", va="center", color=colour)
        rows = [f"{_ROWS[row]} ({sum(values.values())})" for row, values in mode.verdicts.items()]
        table.set_xticks(range(3), get_args(Verdict))
        table.set_yticks(range(3), rows)
        table.set(title=f"{mode.mode}: verdicts on the questions")
    picture = io.BytesIO()
    figure.savefig(picture, format=path.suffix.casefold()[1:], dpi=160)
    try:
        write_durably(path, lambda write: write(picture.getvalue()))
    except OSError as error:
        raise StorageError(f"{path} cannot be written: {error.strerror or error}; name another file") from error
