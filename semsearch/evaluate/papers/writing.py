"""Write a report and its pictures to files: all of them, or none."""

from __future__ import annotations

import os
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path, PurePosixPath
from urllib.parse import quote

from semsearch.errors import StorageError, UsageError
from semsearch.evaluate.experiments.catalogue import EXPERIMENTS
from semsearch.evaluate.optional import optional
from semsearch.evaluate.papers.chapters import document
from semsearch.evaluate.papers.notes import read_notes
from semsearch.evaluate.papers.papers_report import PapersReport
from semsearch.evaluate.plots import png

_DPI = 120


def check_target_folder(out: Path, images: Path | None = None) -> None:
    """Check before long work that a report can be written. Raises UsageError, SourceError, MissingExtra."""
    if out.suffix.lower() not in (".md", ".markdown"):
        raise UsageError(f"the report is Markdown, and {out.name} is not called so; give a name such as papers.md")
    if out.is_dir() or not out.parent.is_dir():
        what = "it is a folder" if out.is_dir() else f"there is no folder {out.parent}"
        raise UsageError(f"the report cannot be written to {out}: {what}; give the path of a file")
    folder = images_folder(out, images)
    if folder.exists() and not folder.is_dir():
        raise UsageError(f"pictures cannot go to {folder}, which is a file; name a folder with --images")
    optional("matplotlib.figure", package="matplotlib")
    read_notes(out)


def drawn(report: PapersReport) -> dict[str, bytes]:
    """Draw the report's pictures as PNG, by the names of their files. Raises MissingExtra without matplotlib."""
    pictures = {}
    for one in EXPERIMENTS:
        found = getattr(report, one.name, None)
        if found is not None and one.figures and one.reproduction:
            for name, figure in one.figures(one.reproduction.drawn(found)):
                pictures[f"{name or one.name}.png"] = png(figure, dpi=_DPI)
    return pictures


def images_folder(out: Path, images: Path | None) -> Path:
    """The folder of the pictures: one with the report's name, unless another is given."""
    return out.with_suffix("") if images is None else images


def write_report(report: PapersReport, out: str | Path, *, images: str | Path | None = None) -> list[Path]:
    """Write a report and its pictures; notes of an earlier one are kept. Returns the files, the report last.

    Raises UsageError for a path or notes that make no sense, StorageError, MissingExtra without matplotlib.
    """
    out = Path(out)
    folder = images_folder(out, None if images is None else Path(images))
    check_target_folder(out, folder)
    files = {folder / name: picture for name, picture in drawn(report).items()}
    files[out] = document(report, read_notes(out), link=lambda name: _link(folder / name, out)).encode()
    try:
        folder.mkdir(parents=True, exist_ok=True)
        _write_all(files)
    except OSError as error:
        raise StorageError(f"{error.filename or out} cannot be written: {error.strerror or error}") from error
    return list(files)


def _link(picture: Path, out: Path) -> str:
    """The link from the report to a picture, in Markdown."""
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
