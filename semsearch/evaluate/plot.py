"""Draw a report on answers: what share of the facts of each kind is stated, and the verdicts on the questions."""

from __future__ import annotations

import io
from pathlib import Path
from typing import TYPE_CHECKING

from semsearch.errors import MissingExtra, StorageError, UsageError
from semsearch.system.durable import write_durably

if TYPE_CHECKING:
    from semsearch.evaluate.answers import AnswersReport

_COLOURS = {
    "answers": "#009E73",
    "perhaps": "#E69F00",
    "not here": "#0072B2",
}  # of Okabe and Ito
_FORMATS = (".png", ".svg", ".pdf")


def plot_answers(report: AnswersReport, path: Path) -> None:
    """Write a picture (.png, .svg, .pdf) with two panels for each mode of a report.

    Raises MissingExtra without matplotlib, UsageError for another format, StorageError if it cannot be written.
    """
    if path.suffix.casefold() not in _FORMATS:
        raise UsageError(f"{path} must end in {', '.join(_FORMATS)}")
    try:
        from matplotlib.figure import Figure  # optional dependency
    except ImportError as error:
        raise MissingExtra("matplotlib", "plot") from error
    figure = Figure(figsize=(9, 2.6 * len(report.modes)), layout="constrained")
    panels = figure.subplots(len(report.modes), 2, squeeze=False)
    for (shares, verdicts), mode in zip(panels, report.modes, strict=True):
        facts = mode.kinds or {"all": {"questions": len(mode.questions), "stated": mode.figures["quoted_of_first"]}}
        shares.barh(
            [f"{kind} ({values['questions']})" for kind, values in facts.items()],
            [values["stated"] or 0.0 for values in facts.values()],
            color="#56B4E9",
        )
        shares.set(xlim=(0, 1), title=f"{mode.mode}: the sentence shown states the fact")
        left = [0] * len(mode.verdicts)
        for verdict, colour in _COLOURS.items():
            counts = [row[verdict] for row in mode.verdicts.values()]  # type: ignore[index]
            verdicts.barh([*mode.verdicts], counts, left=left, color=colour, label=verdict)
            left = [one + other for one, other in zip(left, counts, strict=True)]
        verdicts.set(title="verdicts, by the first hit")
        verdicts.legend(frameon=False)
        for axes in (shares, verdicts):
            axes.invert_yaxis()
            axes.spines[["top", "right"]].set_visible(False)
    picture = io.BytesIO()
    figure.savefig(picture, format=path.suffix.casefold()[1:], dpi=160)
    try:
        write_durably(path, lambda write: write(picture.getvalue()))
    except OSError as error:
        raise StorageError(f"{path} cannot be written: {error.strerror or error}; name another file") from error
