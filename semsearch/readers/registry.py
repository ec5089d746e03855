"""The registry of formats: built-in ones, those that a program registers, and those of plug-ins.

A plug-in is a package that announces a `Format` for a suffix, without the dot, as an entry point:

    [project.entry-points."semsearch.readers"]
    rtf = "rich_text_for_semsearch:FORMAT"

The module that a Format names has `read(source: str, name: str) -> Document`, or `read(data: bytes, ...)` with
`binary=True`; MODULE:FUNCTION names another function. Plug-ins are looked for when there is a file with a suffix that
is not built in, and one is imported when a file of its suffix is read. So they cannot take formats away from the built-
in readers, and cost nothing otherwise.

All that is known of a built-in format stands in its line of BUILT_IN, which names its reader's module as a plug-in's
does (all of them take a third of a second to import, which a search need not spend). A format without lines also
stands in LINELESS of semsearch.results.hits.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from functools import cache, partial
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any, NamedTuple

from semsearch.errors import SourceError, UsageError

if TYPE_CHECKING:
    from importlib.metadata import EntryPoint

MAX_BYTES = 100_000_000  # of a file, by default: a larger one is rarely prose
GROUP = "semsearch.readers"  # of entry points
COMPRESSED = (".gz", ".bz2", ".xz", ".tgz", ".tbz2", ".tbz", ".txz")
_OF_TEMPLATES = frozenset(".in .inc .j2 .jinja .jinja2 .tmpl .tpl".split())  # "notes.md.in" is Markdown
_MAILDIR_FILE = re.compile(r"(?:^|[\\/])(?:cur|new)[\\/]\d{6,}\.[^\\/]*$")  # "cur/1700000000.M1P2.host.org:2,S"


@dataclass(frozen=True, slots=True)
class Format:
    """A file format."""

    name: str
    suffixes: tuple[str, ...]  # lower case, each with its dot
    module: str = ""  # of its reader, with `read`; or MODULE:FUNCTION
    binary: bool = False
    declares_encoding: bool = False
    has_columns: bool = False  # its `read` takes the columns that were chosen, as a third argument
    version: str = "1"  # of the reader: when it changes, the next sync reads all files of this format again
    isolated_from: int | None = None  # length from which on files are read in another process, with limits; None: never
    has_pictures: bool = False  # text may be recognized in them
    needs: tuple[str, str] | None = None  # the module that its reader imports, and the extra that installs it
    sign: bytes = b""  # bytes that its files begin with
    zip_mark: str = ""  # a member that only its zip archives have, or their media type

    @property
    def lacks_package(self) -> bool:
        """Whether what its reader needs is not installed."""
        return self.needs is not None and not _is_installed(self.needs[0])

    def is_isolated(self, source: str | bytes) -> bool:
        """Whether what was read from a file is parsed in another process, with limits."""
        return self.isolated_from is not None and len(source) >= self.isolated_from


def _format(name: str, suffixes: str, module: str, **fields: Any) -> Format:
    return Format(name, tuple(suffixes.split()), f"semsearch.readers.{module}", **fields)


# the worst text found of fewer characters takes two seconds at most (tests/laws/test_linear_readers.py), an
# ordinary one less than a process takes to start; native readers, and what unpacks, always have one
_text = partial(_format, isolated_from=100_000)
_binary = partial(_format, binary=True, isolated_from=0)
_rare = partial(_binary, version="2", needs=("kreuzberg", "rare"))
_OPEN = "application/vnd.oasis.opendocument."
_CODE = (
    ".c .h .cc .cpp .cxx .hh .hpp .hxx .java .kt .kts .scala .groovy .js .mjs .cjs .jsx .ts .tsx .go .rs .swift "
    ".cs .php .rb .pl .pm .lua .sh .bash .zsh .fish .ps1 .r .jl .hs .ml .mli .fs .ex .exs .erl .clj .lisp .el .scm "
    ".sql .dart .nim .f90 .f95 .zig .v .vhdl"
)
TEXT = _format("text", ".txt .text .log", "text", version="3")
PICTURE = _binary(
    "picture",
    ".png .jpg .jpeg .tif .tiff .webp .bmp .gif",
    "pages.pdf:read_picture",
    needs=("rapidocr", "ocr"),
    has_pictures=True,
)
BUILT_IN: tuple[Format, ...] = (
    TEXT,
    _text("markdown", ".md .markdown .mdown .mkd .mdx .qmd .rmd", "markup.markdown", version="11"),
    _text("rst", ".rst .rest", "markup.rst", version="7"),
    _text("html", ".html .htm .xhtml", "markup.html", version="3", declares_encoding=True),
    _text("org", ".org", "markup.org"),
    _text("asciidoc", ".adoc .asciidoc", "markup.asciidoc", version="2"),
    _text("latex", ".tex .latex", "markup.latex", version="2"),
    _text("man", ".man .mdoc .roff", "markup.man", version="4"),
    _text("python", ".py .pyi", "source_code", version="5"),
    _text("code", _CODE, "source_code", version="4"),
    _text("notebook", ".ipynb", "markup.notebook", version="6", isolated_from=20_000),
    _format("jsonl", ".jsonl .ndjson", "records:read_json_lines", has_columns=True, version="2"),
    _format("table", ".csv .tsv", "records:read_table", has_columns=True, version="2"),
    _text("subtitles", ".srt .vtt", "markup.subtitles"),
    _binary("archive", " ".join((".zip", ".tar", *COMPRESSED)), "archive", version="2", has_pictures=True),
    _binary("mail", ".eml .mbox", "mail", version="8", isolated_from=4_000, has_pictures=True),
    _rare("msg", ".msg", "office.rare"),
    _rare("doc", ".doc .dot", "office.rare"),
    _rare("ppt", ".ppt .pps .pot", "office.rare"),
    _rare("rtf", ".rtf", "office.rare", sign=b"{\\rtf"),
    _rare("fb2", ".fb2", "office.rare"),
    _binary("docx", ".docx .docm", "office.open_xml:read_docx", version="5", zip_mark="word/document.xml"),
    _binary("pptx", ".pptx .pptm", "office.open_xml:read_pptx", version="3", zip_mark="ppt/presentation.xml"),
    _binary("xlsx", ".xlsx .xlsm .xlsb .xls", "office.workbook", version="4", zip_mark="xl/workbook.xml"),
    _binary("ods", ".ods .ots", "office.workbook", version="2", zip_mark=f"{_OPEN}spreadsheet"),
    _binary("odp", ".odp .otp", "office.open_document", zip_mark=f"{_OPEN}presentation"),
    _binary("odt", ".odt .ott", "office.open_document", version="4", zip_mark=f"{_OPEN}text"),
    _binary("epub", ".epub", "office.epub", version="4", zip_mark="META-INF/container.xml"),
    _binary("pdf", ".pdf", "pages.pdf", version="5", has_pictures=True, sign=b"%PDF-"),
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
        return True  # nearly all files of a large folder
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
    if _MAILDIR_FILE.search(name):
        return ".eml"  # what looks like one may be of the machine's name
    suffix = name[name.rfind(".") :].lower()  # without a dot, or with one in a folder's name: one that no format has
    inner = _suffix(name[: -len(suffix)]) if suffix in _OF_TEMPLATES else ""
    return inner if inner in SUFFIXES else suffix


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
    from importlib.metadata import entry_points  # heavy, and what searches does not need it

    return {entry.name.lower(): entry for entry in entry_points(group=GROUP)}


# -- The columns of tables and records ---------------------------------------------------------------------------------

ALL = "*"


class Columns(NamedTuple):
    """The columns that are searched, and those that are kept as metadata of each record. False where none is chosen."""

    text: tuple[str, ...] = ()
    metadata: tuple[str, ...] = ()

    def __bool__(self) -> bool:
        return bool(self.text or self.metadata)

    @property
    def has_all_text(self) -> bool:
        """Return whether all columns are text, but for the metadata."""
        return not self.text or ALL in self.text

    def is_text(self, name: str) -> bool:
        """Return whether a column of this name is searched."""
        return not self.is_metadata(name) if self.has_all_text else self.text_rank(name) < len(self.text)

    def text_rank(self, name: str) -> int:
        """Return the position of a column among the text columns; after all of them if it is not one."""
        return next((rank for rank, column in enumerate(self.text) if _means(column, name)), len(self.text))

    def is_metadata(self, name: str) -> bool:
        """Return whether a column of this name is metadata."""
        return any(_means(column, name) for column in self.metadata)

    def are_of(self, names: Iterable[str]) -> bool:
        """Return whether a file with columns of these names is one that the columns were chosen for."""
        wanted = self.metadata if self.has_all_text else self.text
        return any(_means(column, name) for name in names for column in wanted)

    def missing(self, names: Iterable[str]) -> list[str]:
        """Return the chosen columns that are not among these names."""
        there = [*names]
        chosen = [column for column in (*self.text, *self.metadata) if column != ALL]
        return [column for column in chosen if not any(_means(column, name) for name in there)]


NO_COLUMNS = Columns()


def _means(column: str, name: str) -> bool:
    column, name = column.casefold(), name.casefold()
    return name == column or name.startswith(column + ".")
