"""Open a hit's place: the file at its line in the editor, in the system's viewer, or what was indexed in the pager."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from semsearch.cli.asked_indexes import indexes_of, is_remote
from semsearch.cli.opening.editors import editing, editor
from semsearch.cli.opening.pagers import page
from semsearch.cli.opening.running import run
from semsearch.cli.opening.viewers import view
from semsearch.cli.output.formats import path_and_position, path_of, trail
from semsearch.errors import SemsearchError, SourceError
from semsearch.results.hits import Hit
from semsearch.results.location import LINELESS
from semsearch.system.uris import uri_scheme

if TYPE_CHECKING:
    from semsearch.cli.asked_indexes import Asked

_LINE_END = re.compile(r"\r\n|\r|\n")


@dataclass(frozen=True, slots=True)
class PagedText:
    """A text for the pager, and the line at which it begins to be read; the first is 1."""

    text: str
    line: int


def open_hit(hit: Hit, opened: Asked) -> str:
    """Open the place of a hit of what is `opened`; what there is to say of it, which is mostly nothing.

    A file with lines is opened in the editor, or in the pager where none is set; one without, such as a PDF, in the
    system's viewer. What is no file here, or has gone, is shown in the pager as it was indexed: a text that a program
    added, a hit of a server, an object in a store. Raises UsageError where the editor, viewer or pager cannot be
    started.
    """
    if is_remote(opened) or not hit.root:
        return _show_indexed(hit, opened)
    if uri_scheme(hit.root):
        _show_indexed(hit, opened)
        return f"{path_of(hit)} lies in a store, and is not opened from there; that was what is indexed of it"
    file = Path(hit.path)
    if not file.is_file():
        _show_indexed(hit, opened)
        return f"{path_of(hit)} is not there any more; that was what is indexed of it"
    if hit.format in LINELESS:
        is_shown = view(file, hit.format)
        return f"opened {path_and_position(hit)}" if is_shown else _show_indexed(hit, opened)
    if not (command := editor()):
        return _show_file(hit, file, opened)
    status = run(editing(command, file, hit.line))
    return f"{command[0]} ended with status {status}" if status else ""


def _show_file(hit: Hit, file: Path, opened: Asked) -> str:
    from semsearch.readers.content.decode import declared_encoding, decode  # start-up time: only this reads a file

    try:
        data = file.read_bytes()
        text = decode(data, hit.path, declared=declared_encoding(data) if hit.format == "html" else None).text
    except (OSError, SourceError):
        return _show_indexed(hit, opened)
    page(text, hit.line)
    return ""


def _show_indexed(hit: Hit, opened: Asked) -> str:
    """Show the text of a hit's document, as it is searched, from the hit's sentence on."""
    shown = indexed_text(hit, opened)
    page(shown.text, shown.line)
    return ""


def indexed_text(hit: Hit, opened: Asked) -> PagedText:
    """The text of a hit's document under a line that names the place; the passage alone if there is no more to have."""
    heading = " › ".join([path_and_position(hit), *trail(hit)])
    try:
        index = opened if is_remote(opened) else indexes_of(opened)[hit.index or ""]
        text = index.document(hit.path).text
    except (SemsearchError, KeyError):
        text = hit.passage
    passage = max(0, text.find(hit.passage))
    sentence = max(passage, text.find(hit.sentence, passage))
    before = len(_LINE_END.findall(text[:sentence]))
    return PagedText(f"{heading}\n\n{text}", before + 3)
