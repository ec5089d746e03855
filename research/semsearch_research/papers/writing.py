"""Write a report to a folder: an index, a page for each paper, and the pictures in images/."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from semsearch.errors import StorageError, UsageError
from semsearch.system.durable import write_durably
from semsearch_research.analysis import sif_pictures
from semsearch_research.evaluate import sts_picture
from semsearch_research.evaluate.inputs import import_extra
from semsearch_research.evaluate.plots import png
from semsearch_research.experiments import sweep_experiment
from semsearch_research.papers.chapters import IMAGES
from semsearch_research.papers.document import NOTHING, PAGES, pages
from semsearch_research.papers.notes import read_notes_of
from semsearch_research.papers_report import PapersReport

if TYPE_CHECKING:
    from matplotlib.figure import Figure

_DPI = 120


def check_target_folder(folder: Path) -> None:
    """Check before long work that a report can be written. Raises UsageError, SourceError, MissingExtra."""
    if folder.exists() and not folder.is_dir():
        raise UsageError(f"the report cannot be written to {folder}: it is a file; give a folder")
    if not folder.absolute().parent.is_dir():
        raise UsageError(f"the report cannot be written to {folder}: there is no folder {folder.parent}; make it first")
    import_extra("matplotlib.figure", package="matplotlib")
    read_notes_of(folder / name for name in PAGES)


def drawn(report: PapersReport) -> dict[str, bytes]:
    """Draw the report's pictures as PNG, by the names of their files. Raises MissingExtra without matplotlib."""
    pictures: dict[str, Figure] = {}
    if report.sts is not None:
        pictures["sts"] = sts_picture.draw(report.sts)
    if report.weights is not None:
        pictures["weights"] = sif_pictures.draw_weights(report.weights)
    if report.sweep is not None:
        pictures["sweep"] = sif_pictures.draw_sweep(sweep_experiment.without_uniform(report.sweep))
    return {f"{name}.png": png(figure, dpi=_DPI) for name, figure in pictures.items()}


def write_report(report: PapersReport, folder: str | Path) -> list[Path]:
    """Write a report and its pictures; notes of an earlier one are kept. Returns the files, the index last.

    The page of a paper of which nothing was run this time stays as it is.
    Raises UsageError for a path or notes that make no sense, StorageError, MissingExtra without matplotlib.
    """
    folder = Path(folder)
    check_target_folder(folder)
    places = [folder / name for name in PAGES]
    earlier = [path.name for path in places if path.exists() and NOTHING not in path.read_text(encoding="utf-8")]
    files = {folder / IMAGES / name: picture for name, picture in drawn(report).items()}
    texts = pages(report, read_notes_of(places), earlier=earlier)
    files |= {folder / name: text.encode() for name, text in texts.items()}
    try:
        (folder / IMAGES).mkdir(parents=True, exist_ok=True)
        for path, data in files.items():
            write_durably(path, lambda write, data=data: write(data))  # type: ignore[misc]  # each its own data
    except OSError as error:
        raise StorageError(f"{error.filename or folder} cannot be written: {error.strerror or error}") from error
    return list(files)
