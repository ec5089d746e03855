"""The registry of readers: built-in formats, formats that a program registers, and formats of plug-ins.

A reader of a text format has `read(source: str, name: str) -> Document`. A reader of a binary format, which decodes for
itself, has `read(data: bytes, name: str) -> Document` and is registered with `binary=True`. Its module is imported when
the first file of its kind is read. A format without lines also stands in LINELESS of semsearch.results.hits.

A plug-in is a package that announces a `Format` for a suffix, without the dot, as an entry point:

    [project.entry-points."semsearch.readers"]
    rtf = "rich_text_for_semsearch:FORMAT"

Plug-ins are searched when there is a file with a suffix that is not built in, and one is imported when a file of its
suffix is read. So they cannot take formats away from the built-in readers, and cost nothing if there is no such file.
"""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from functools import cache
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING

from semsearch.errors import SourceError, UsageError
from semsearch.frozen import dataclass
from semsearch.readers.document import Document

if TYPE_CHECKING:
    from importlib.metadata import EntryPoint

GROUP = "semsearch.readers"  # of entry points
_OF_MAILDIR = re.compile(r"(?:^|[\\/])(?:cur|new)[\\/]\d{6,}\.[^\\/]*$")  # "cur/1700000000.M1P2.host.org:2,S"


@dataclass(frozen=True, slots=True)
class Format:
    """A file format, and the module that reads it.

    `version` is that of the reader: when it changes, the next sync reads all files of this format again.

    From `apart` bytes on, files are read in another process, with limits of time and memory
    (semsearch.readers.reader_process); None means never. One that `has_pictures` may have text recognized in them.

    `needs` names the module that its reader imports and the extra of semsearch that installs it.
    """

    name: str
    suffixes: tuple[str, ...]  # lower case, each with its dot
    module: str
    binary: bool = False
    declares_encoding: bool = False
    has_columns: bool = False  # its `read` takes the columns that were chosen, as a third argument
    version: str = "1"
    apart: int | None = None
    has_pictures: bool = False
    needs: tuple[str, str] | None = None

    @property
    def lacks_package(self) -> bool:
        """Whether what its reader needs is not installed."""
        return self.needs is not None and not _is_installed(self.needs[0])

    def load(self) -> Callable[..., Document]:
        """Import the module and return its function `read`."""
        read: Callable[..., Document] = import_module(self.module).read
        return read


_LANGUAGES = (
    ".c .h .cc .cpp .cxx .hh .hpp .hxx .java .kt .kts .scala .groovy .js .mjs .cjs .jsx .ts .tsx .go .rs .swift "
    ".cs .php .rb .pl .pm .lua .sh .bash .zsh .fish .ps1 .r .jl .hs .ml .mli .fs .ex .exs .erl .clj .lisp .el .scm "
    ".sql .dart .nim .f90 .f95 .zig .v .vhdl"
)
_LARGE = 100_000  # bytes of a text: a smaller one is read in less than the time that a process takes to start
COMPRESSED = (".gz", ".bz2", ".xz", ".tgz", ".tbz2", ".tbz", ".txz")
TEXT = Format("text", (".txt", ".text", ".log"), "semsearch.readers.text")
_OF_PICTURES = (".png", ".jpg", ".jpeg", ".tif", ".tiff", ".webp", ".bmp", ".gif")
PICTURE = Format(
    "picture",
    _OF_PICTURES,
    "semsearch.readers.pages.picture",
    True,
    apart=0,
    has_pictures=True,
    needs=("rapidocr", "ocr"),
)
BUILT_IN = (
    TEXT,
    Format(
        "markdown",
        (".md", ".markdown", ".mdown", ".mkd"),
        "semsearch.readers.markup.markdown",
        version="5",
        apart=_LARGE,
    ),
    Format("rst", (".rst", ".rest"), "semsearch.readers.markup.rst", version="3", apart=_LARGE),
    Format("html", (".html", ".htm", ".xhtml"), "semsearch.readers.markup.html", declares_encoding=True, apart=_LARGE),
    Format("org", (".org",), "semsearch.readers.markup.org", apart=_LARGE),
    Format("asciidoc", (".adoc", ".asciidoc", ".asc"), "semsearch.readers.markup.asciidoc", apart=_LARGE),
    Format("latex", (".tex", ".latex"), "semsearch.readers.markup.latex", apart=_LARGE),
    Format("python", (".py", ".pyi"), "semsearch.readers.code.python", version="3", apart=_LARGE),
    Format("code", tuple(_LANGUAGES.split()), "semsearch.readers.code.source_code", version="3", apart=_LARGE),
    Format("notebook", (".ipynb",), "semsearch.readers.markup.notebook", version="3", apart=_LARGE),
    Format("jsonl", (".jsonl", ".ndjson"), "semsearch.readers.json_lines", has_columns=True, version="2"),
    Format("table", (".csv", ".tsv"), "semsearch.readers.delimited", has_columns=True, version="2"),
    Format("subtitles", (".srt", ".vtt"), "semsearch.readers.markup.subtitles", apart=_LARGE),
    Format(
        "archive",
        (".zip", ".tar", *COMPRESSED),
        "semsearch.readers.containers.archive",
        binary=True,
        apart=0,
        has_pictures=True,
    ),
    Format(
        "mail",
        (".eml", ".mbox"),
        "semsearch.readers.containers.mail",
        True,
        version="4",
        apart=_LARGE,
        has_pictures=True,
    ),
    Format(
        "msg",
        (".msg",),
        "semsearch.readers.containers.outlook",
        True,
        apart=0,
        has_pictures=True,
        needs=("oxmsg", "msg"),
    ),
    *(
        Format(
            name,
            suffixes,
            "semsearch.readers.office.rare",
            binary=True,
            version="2",
            apart=0,
            needs=("kreuzberg", "rare"),
        )
        for name, suffixes in {
            "doc": (".doc", ".dot"),
            "ppt": (".ppt", ".pps", ".pot"),
            "rtf": (".rtf",),
            "fb2": (".fb2",),
        }.items()
    ),
    Format("docx", (".docx", ".docm"), "semsearch.readers.office.docx", binary=True, version="4", apart=0),
    Format("pptx", (".pptx", ".pptm"), "semsearch.readers.office.pptx", binary=True, version="3", apart=0),
    Format("xlsx", (".xlsx", ".xlsm"), "semsearch.readers.office.xlsx", binary=True, version="3", apart=0),
    Format("xls", (".xls", ".xlsb"), "semsearch.readers.office.xls", True, apart=0, needs=("python_calamine", "xls")),
    Format("ods", (".ods", ".ots"), "semsearch.readers.office.open_document", binary=True, apart=0),
    Format("odp", (".odp", ".otp"), "semsearch.readers.office.open_document", binary=True, apart=0),
    Format("odt", (".odt", ".ott"), "semsearch.readers.office.odt", binary=True, version="3", apart=0),
    Format("epub", (".epub",), "semsearch.readers.office.epub", binary=True, version="3", apart=0),
    Format("pdf", (".pdf",), "semsearch.readers.pages.pdf", binary=True, version="4", apart=0, has_pictures=True),
    PICTURE,
)
FORMATS: dict[str, Format] = {kind.name: kind for kind in BUILT_IN}
SUFFIXES: dict[str, Format] = {suffix: kind for kind in BUILT_IN for suffix in kind.suffixes}


def register(kind: Format) -> None:
    """Register a format: from now on, files with its suffixes are read by its reader, in this process.

    A format registered later wins over an earlier one of the same name, or with the same suffix.
    Raises UsageError for anything but a Format, and for suffixes that are not lower case with their dot.
    """
    if not isinstance(kind, Format):
        raise UsageError(f"register() expects a Format, got {kind!r}")
    for suffix in kind.suffixes:
        if not suffix.startswith(".") or suffix != suffix.lower():
            raise UsageError(f"the suffix {suffix!r} of format {kind.name} must be a dot and lower case, like '.txt'")
    FORMATS[kind.name] = kind
    SUFFIXES.update(dict.fromkeys(kind.suffixes, kind))


def registered() -> tuple[Format, ...]:
    """The formats that are not built in, for another process to register."""
    return tuple(kind for kind in FORMATS.values() if kind not in BUILT_IN)


def is_readable(name: str) -> bool:
    """Return whether there is a reader, built in or in a plug-in, for a file of this name. Imports no plug-in."""
    kind = SUFFIXES.get(last := name[name.rfind(".") :])
    if kind is not None and kind is not PICTURE and last not in COMPRESSED:
        return True  # most files of a large folder
    suffix = _suffix(name)
    if suffix in COMPRESSED and ".t" not in suffix:
        return is_readable(name[: -len(suffix)])  # else a look at what is compressed tells
    if SUFFIXES.get(suffix) is PICTURE and PICTURE.lacks_package:
        return False  # a folder may have thousands
    return suffix in SUFFIXES or suffix[1:] in plugins()


def format_of(name: str) -> Format | None:
    """The format of a file by its name's suffix, if there is a reader for it.

    Raises SourceError for a plug-in's format if the plug-in cannot be used.
    """
    suffix = _suffix(name)
    if suffix not in SUFFIXES and suffix[1:] in plugins():
        register(_plugged_in(suffix, plugins()[suffix[1:]]))
    return SUFFIXES.get(suffix)


def format_named(name: str) -> Format | None:
    """The format with a name; if none is known, plug-ins are loaded, and those that fail are ignored."""
    if name not in FORMATS:
        for suffix, plugin in plugins().items():
            if f".{suffix}" not in SUFFIXES:
                try:
                    register(_plugged_in(f".{suffix}", plugin))
                except SourceError:
                    continue
    return FORMATS.get(name)


def reader_label(name: str) -> str:
    """The name and version of the reader for a file of this name; "" if its plug-in cannot be used."""
    try:
        kind = format_of(name) or TEXT
    except SourceError:
        return ""
    return f"{kind.name} {kind.version}"


installed: dict[str, bool] = {}  # whether a module can be imported, as far as it was looked for


def _is_installed(module: str) -> bool:
    if module not in installed:
        installed[module] = find_spec(module) is not None
    return installed[module]


def _suffix(name: str) -> str:
    if _OF_MAILDIR.search(name):
        return ".eml"  # what looks like one may be of the machine's name
    return name[name.rfind(".") :].lower()  # without a dot, or with one in a folder's name: a suffix that no format has


def _plugged_in(suffix: str, plugin: EntryPoint) -> Format:
    """Load a plug-in's format, for this suffix and its others. Raises SourceError that names the plug-in."""
    announced = f"the reader of {suffix} files, {plugin.value}"
    try:
        kind = plugin.load()
    except Exception as error:  # a plug-in may raise anything when it is imported
        raise SourceError(f"{announced}, cannot be imported: {type(error).__name__}: {error}") from error
    if not isinstance(kind, Format):
        raise SourceError(f"{announced}, must be a semsearch.readers.registry.Format, not {type(kind).__name__}")
    if kind.name in FORMATS and FORMATS[kind.name].module != kind.module:
        raise SourceError(f"{announced}, declares the format {kind.name!r}, which exists already; rename it")
    return replace(kind, suffixes=(suffix, *(other for other in kind.suffixes if other not in SUFFIXES)))


@cache
def plugins() -> Mapping[str, EntryPoint]:
    """The entry points of plug-ins by suffix, without the dot."""
    if not _is_announced(sys.path):
        return {}
    from importlib.metadata import entry_points  # start-up time: it takes longer than looking whether there are any

    return {entry.name.lower(): entry for entry in entry_points(group=GROUP)}


def _is_announced(folders: Iterable[str]) -> bool:
    """Return whether a distribution in these folders may have such entry points; True if one is an archive."""
    for folder in folders:
        try:
            with os.scandir(folder or ".") as listing:
                names = [entry.name for entry in listing if entry.name.endswith((".dist-info", ".egg-info"))]
        except OSError:
            if Path(folder).is_file():  # a zip archive, say
                return True
            continue
        for name in names:
            try:
                if GROUP.encode() in Path(folder, name, "entry_points.txt").read_bytes():
                    return True
            except OSError:
                continue
    return False
