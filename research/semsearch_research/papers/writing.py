"""Write a report and its pictures to files, as one page or as a folder with a page for each paper: all, or none."""

from __future__ import annotations

import os
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING
from urllib.parse import quote

from semsearch.errors import StorageError, UsageError
from semsearch_research.analysis import removal_picture, sif_pictures
from semsearch_research.cbos import effects_picture
from semsearch_research.evaluate import sts_picture
from semsearch_research.evaluate.inputs import import_extra
from semsearch_research.evaluate.plots import png
from semsearch_research.experiments import classify_experiment, sweep_experiment
from semsearch_research.papers.document import NOTHING, PAGES, document, pages
from semsearch_research.papers.notes import read_notes_of
from semsearch_research.papers_report import PapersReport

if TYPE_CHECKING:
    from matplotlib.figure import Figure

_DPI = 120
_MARKDOWN = (".md", ".markdown")


def is_one_page(out: Path) -> bool:
    """Return whether a report goes to one file; to a folder with a page for each paper otherwise.

    A folder is one that is there, or a name without an ending. Raises UsageError for a name that is neither.
    """
    if out.suffix.lower() in _MARKDOWN:
        return True
    if out.suffix and not out.is_dir():
        raise UsageError(
            f"the report is Markdown, and {out.name} is not called so; give a name such as papers.md, or a folder"
        )
    return False


def check_target_folder(out: Path, images: Path | None = None) -> None:
    """Check before long work that a report can be written. Raises UsageError, SourceError, MissingExtra."""
    what = ""
    if is_one_page(out):
        what = "it is a folder; give the path of a file" if out.is_dir() else ""
    elif out.exists() and not out.is_dir():
        what = "it is a file; give a folder, or a name such as papers.md"
    if not out.absolute().parent.is_dir():
        what = f"there is no folder {out.parent}; make it first"
    if what:
        raise UsageError(f"the report cannot be written to {out}: {what}")
    folder = images_folder(out, images)
    if folder.exists() and not folder.is_dir():
        raise UsageError(f"pictures cannot go to {folder}, which is a file; name a folder with --images")
    import_extra("matplotlib.figure", package="matplotlib")
    read_notes_of(_pages_at(out))


def drawn(report: PapersReport) -> dict[str, bytes]:
    """Draw the report's pictures as PNG, by the names of their files. Raises MissingExtra without matplotlib."""
    pictures: dict[str, Figure] = {}
    if report.sts is not None:
        pictures["sts"] = sts_picture.draw(report.sts)
    if report.weights is not None:
        pictures["weights"] = sif_pictures.draw_weights(report.weights)
    if report.sweep is not None:
        pictures["sweep"] = sif_pictures.draw_sweep(sweep_experiment.without_uniform(report.sweep))
    if report.removal is not None:
        pictures["removal"] = removal_picture.draw(report.removal)
    if report.classify is not None:
        pictures |= {name: draw() for name, draw in classify_experiment.figures(report.classify).items()}
    if report.cbos is not None and report.cbos.effects:
        pictures["cbos"] = effects_picture.draw(report.cbos.effects)
    return {f"{name}.png": png(figure, dpi=_DPI) for name, figure in pictures.items()}


def images_folder(out: Path, images: Path | None) -> Path:
    """The folder of the pictures: one with the report's name, or images/ in the report's folder; or as given."""
    if images is not None:
        return images
    return out.with_suffix("") if is_one_page(out) else out / "images"


def _pages_at(out: Path) -> list[Path]:
    """The files of the text: one, or those in a folder, the index last."""
    return [out] if is_one_page(out) else [out / name for name in PAGES]


def write_report(report: PapersReport, out: str | Path, *, images: str | Path | None = None) -> list[Path]:
    """Write a report and its pictures; notes of an earlier one are kept. Returns the files, the report last.

    `out` is a Markdown file, or a folder that gets an index and a page for each paper. There the page of a paper of
    which nothing was run this time stays as it is.
    Raises UsageError for a path or notes that make no sense, StorageError, MissingExtra without matplotlib.
    """
    out = Path(out)
    folder = images_folder(out, None if images is None else Path(images))
    check_target_folder(out, folder)
    files = {folder / name: picture for name, picture in drawn(report).items()}
    places = _pages_at(out)
    written, link = read_notes_of(places), lambda name: _link(folder / name, places[-1])
    if is_one_page(out):
        files[out] = document(report, written, link=link).encode()
    else:
        earlier = [path.name for path in places if path.exists() and NOTHING not in path.read_text(encoding="utf-8")]
        texts = pages(report, written, earlier=earlier, link=link)
        files |= {out / name: text.encode() for name, text in texts.items()}
    try:
        for each in (folder, places[-1].parent):
            each.mkdir(parents=True, exist_ok=True)
        _write_all(files)
    except OSError as error:
        raise StorageError(f"{error.filename or out} cannot be written: {error.strerror or error}") from error
    return list(files)


def _link(picture: Path, out: Path) -> str:
    """The link from a page at `out`, or one beside it, to a picture, in Markdown."""
    path = os.path.relpath(picture.resolve(), out.parent.resolve())
    return quote(str(PurePosixPath(*Path(path).parts)))


def _write_all(files: Mapping[Path, bytes]) -> None:
    """Write all files under temporary names, flushed to the disk; only then rename them, the report last."""
    waiting = {path: path.with_name(path.name + ".tmp") for path in files}
    try:
        for path, data in files.items():
            with waiting[path].open("wb") as file:
                file.write(data)
                file.flush()
                os.fsync(file.fileno())
        for path, temporary in waiting.items():
            temporary.replace(path)
    finally:
        for temporary in waiting.values():
            with suppress(OSError):
                temporary.unlink(missing_ok=True)
