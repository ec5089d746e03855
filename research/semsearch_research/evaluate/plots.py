"""Draw pictures of measurements: one plain style, and files whose bytes depend on nothing but the figure.

matplotlib is used by its objects alone, so that no window, no display and no state of a whole process is involved.
Colours are those of Okabe and Ito, which people of all kinds of colour vision tell apart; markers differ too.
"""

from __future__ import annotations

import io
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from semsearch.errors import StorageError, UsageError
from semsearch.system.durable import write_durably
from semsearch_research.evaluate.inputs import import_extra

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#56B4E9", "#E69F00", "#000000")
MARKERS = ("o", "s", "^", "D", "v", "P", "X")
_GREY = "#444444"
_PALE = "#DDDDDD"
_DPI = 160
# the metadata that would write the time or a version into the file, by format
_METADATA: Mapping[str, Mapping[str, Any]] = {
    ".png": {"Software": None},
    ".svg": {"Date": None, "Creator": None},
    ".pdf": {"CreationDate": None, "Creator": None, "Producer": None},
}


def new_figure(width: float, height: float, *, title: str = "") -> tuple[Figure, Axes]:
    """Make a figure of a size in inches, and its axes in the common style. Raises MissingExtra."""
    figure: Figure = _matplotlib("matplotlib.figure").Figure(figsize=(width, height), layout="constrained")
    axes = figure.add_subplot()
    style(axes)
    if title:
        axes.set_title(title, loc="left", fontsize=11)
    return figure, axes


def style(axes: Axes) -> None:
    """Apply the common style to axes."""
    cycler = _matplotlib("cycler").cycler
    axes.set_prop_cycle(cycler(linestyle=("-", "--")) * (cycler(color=COLOURS) + cycler(marker=MARKERS)))
    axes.grid(visible=True, color=_PALE, linewidth=0.8)
    axes.set_axisbelow(True)
    for side, spine in axes.spines.items():
        spine.set_visible(side in ("left", "bottom"))
        spine.set_color(_GREY)
    axes.tick_params(which="both", color=_GREY, labelcolor=_GREY, labelsize=9)
    axes.xaxis.label.set_fontsize(10)
    axes.yaxis.label.set_fontsize(10)


def save(figure: Figure, path: Path) -> None:
    """Write a figure as .png, .svg or .pdf: whole or not at all, and the same bytes for the same figure.

    Raises UsageError for another suffix, StorageError if it cannot be written.
    """
    data = _rendered(figure, _suffix(path), _DPI)
    try:
        write_durably(path, lambda write: write(data))
    except OSError as error:
        raise StorageError(f"{path} cannot be written: {error.strerror or error}; choose another place") from error


def png(figure: Figure, *, dpi: int) -> bytes:
    """Render a figure as PNG, with 128 colours, which makes it a third of the size."""
    image = _matplotlib("PIL.Image")  # matplotlib needs it too
    few = image.open(io.BytesIO(_rendered(figure, ".png", dpi))).convert("RGB").quantize(128, dither=image.Dither.NONE)
    buffer = io.BytesIO()
    few.save(buffer, "PNG", optimize=True)
    return buffer.getvalue()


def check_target(path: Path | None) -> None:
    """Check before long work that a picture can be written to a path; None for no picture.

    Raises UsageError, MissingExtra.
    """
    if path is None:
        return
    _suffix(path)
    if path.is_dir() or not path.parent.is_dir():
        what = "it is a folder" if path.is_dir() else f"there is no folder {path.parent}"
        raise UsageError(f"a picture cannot be written to {path}: {what}; give the path of a file")
    _matplotlib("matplotlib.figure")


def _rendered(figure: Figure, suffix: str, dpi: int) -> bytes:
    buffer = io.BytesIO()
    with _matplotlib("matplotlib").rc_context({"svg.hashsalt": "semsearch"}):
        figure.savefig(buffer, format=suffix[1:], dpi=dpi, metadata=dict(_METADATA[suffix]))
    return buffer.getvalue()


def _suffix(path: Path) -> str:
    suffix = path.suffix.lower()
    if suffix not in _METADATA:
        raise UsageError(f"a picture must be {', '.join(_METADATA)}, got {path.name!r}; give such a name")
    return suffix


def _matplotlib(module: str) -> Any:
    return import_extra(module, package="matplotlib")
