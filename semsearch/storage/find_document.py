"""Find the document that a person names, by its path, by the id that a program gave it, or as a hit is cited.

A path may be written as hits show it, absolute, or relative to its root, one from the current folder first. A citation
has a place behind the path, perhaps with a heading: `notes/keys.md:12`, `talk.pptx slide 3`, `report.pdf p. 3–4, Keys`.
"""

from __future__ import annotations

import os
import re
import unicodedata
from bisect import bisect_left
from collections.abc import Iterator, Sequence
from pathlib import PurePath
from typing import TYPE_CHECKING, TypedDict

from semsearch.errors import SourceError, UsageError
from semsearch.results.hits import LINELESS, Position, own_terms
from semsearch.sources.roots import ADDED, Root
from semsearch.storage.document_rows import DocumentRow, check_all_documents, get_documents, require_documents
from semsearch.storage.known_files import get_roots
from semsearch.storage.passage_rows import PassageRow, each_passage
from semsearch.system.locations import uri_scheme, working_folder
from semsearch.text.tokens import storable

if TYPE_CHECKING:
    import sqlite3

_HINTS = 3
_LINES = re.compile(r"(?P<path>.+?):(?P<first>\d{1,9})(?:[-–](?P<last>\d{1,9}))?(?:[ ,(:].*)?", re.DOTALL)
_LONGEST = 10_000  # characters of a path or id that is looked for


def path_of(document: DocumentRow, here: str) -> str:
    """The path of a document, relative to the folder `here` if it lies there; the id of a text that a program added."""
    return shown(document.absolute, here) if document.root else document.absolute


class DocumentKeys(TypedDict):
    """The keys that identify a document in results."""

    path: str  # as one would open it from here; the id, for a text that a program added
    root: str
    document: str  # the path below the root, or the id
    title: str
    format: str


def document_keys(document: DocumentRow, here: str) -> DocumentKeys:
    """The keys that identify a document in results, with its path as one would open it in the folder `here`."""
    return {
        "path": path_of(document, here),
        "root": document.root,
        "document": document.path,
        "title": document.title,
        "format": document.format,
    }


def shown(path: str, here: str) -> str:
    """Shorten an absolute path as one would write it in the folder `here`: relative if it lies there.

    At the root of the file system, where programs with windows start others, a path stays whole.
    """
    prefix = here.rstrip("/") + "/"
    if prefix.count("/") == 1:
        return path
    if os.name == "nt":
        return path[len(prefix) :] if path.casefold().startswith(prefix.casefold()) else path
    return path.removeprefix(prefix)


def find_document(db: sqlite3.Connection, path: str) -> DocumentRow:
    """Find the document that a path or an id names. A path from the current folder wins over one below a root.

    Raises SourceError for one that is not in the index, or is ambiguous; IndexDamaged if it might only not be found.
    """
    _refuse_impossible(path)
    document = _only_document(db, path)
    if document is None:
        raise _not_found(db, path)
    return document


def _only_document(db: sqlite3.Connection, path: str) -> DocumentRow | None:
    """The document of a path or id, None if there is none. Raises SourceError for several."""
    roots = get_roots(db)
    documents = [*require_documents(db, _at_path(db, roots, path) or _with_relative_path(db, roots, path)).values()]
    if len(documents) > 1:
        paths = " and ".join(document.absolute for document in documents)
        raise SourceError(f"{path} may be {paths}; write the full path")
    return documents[0] if documents else None


def _not_found(db: sqlite3.Connection, path: str) -> SourceError:
    """The error for a path that is not in the index. Raises IndexDamaged if it might only not be found."""
    check_all_documents(db)
    here = working_folder().as_posix()
    hints = " or ".join(path_of(hint, here) for hint in _with_same_name(db, path))
    instead = f"did you mean {hints}?" if hints else "index it first"
    return SourceError(f"{path or 'a path without a name'} is not in the index; {instead}")


def find_passage(db: sqlite3.Connection, cited: str, line: int | None = None) -> tuple[DocumentRow, PassageRow | None]:
    """Find the document that a path or citation names, and its passage at the line or place, if one is named.

    Raises as `find_document`, and UsageError for a line that the document does not have.
    """
    _refuse_impossible(cited)
    no_place: SourceError | None = None
    for path, cited_line in readings(cited) if line is None else [(cited, line)]:
        try:
            if cited_line is None and (passage := _cited(db, path)) is not None:
                return require_documents(db, [passage.document_id])[passage.document_id], passage
        except SourceError as error:  # the document has nothing at that place: perhaps it has in another reading
            no_place = no_place or error
        document = _only_document(db, path)
        if document is None:
            continue
        if cited_line is None or not document.passages:
            return document, None
        return document, _passage_at(db, document, cited_line)
    lines = _LINES.fullmatch(cited) if line is None else None
    raise no_place or _not_found(db, lines["path"] if lines else cited)


def readings(citation: str) -> Iterator[tuple[str, int | None]]:
    """Yield the possible meanings of a citation, each a path, perhaps with a place behind it, and a line.

    A colon and digits, or a comma, may be part of a name; of a range of pages or places (`p. 3–4`) the first is meant.
    """
    yield citation, None
    if lines := _LINES.fullmatch(citation):
        yield lines["path"], int(lines["first"])
    before, ranged, _ = citation.partition("–")
    if ranged:
        yield before.rstrip(), None
    before, comma, _ = citation.rpartition(",")  # a list of sources has the heading after a comma
    if comma:
        yield before.partition("–")[0].rstrip(), None


def last_line_of(citation: str) -> int | None:
    """The last line of a citation that has a range of lines: 14 of `keys.md:12-14`."""
    lines = _LINES.fullmatch(citation)
    return int(lines["last"]) if lines and lines["last"] else None


def _refuse_impossible(path: str) -> None:
    """Refuse what is no path, and would take seconds to be looked up or is no text. Raises SourceError."""
    if len(path) > _LONGEST:
        raise SourceError(f"{path[:40]}… has {len(path):,} characters; no path or id in an index has so many")
    try:
        path.encode()
    except UnicodeEncodeError:  # as Python has the bytes of names that are not UTF-8
        raise SourceError(f"{path!a} is not in the index: it has a name that is not UTF-8") from None


def _at_path(db: sqlite3.Connection, roots: Sequence[Root], path: str) -> list[int]:
    """The id of the document whose file lies at a path, absolute or relative to the current folder, or at a URI."""
    if "\0" in path:
        return []
    for whole in _absolute_forms(path):
        wanted = unicodedata.normalize("NFC", whole)
        for root in roots:
            base = unicodedata.normalize("NFC", root.path).rstrip("/")
            if root.single and wanted == base:
                return [id_ for (id_,) in db.execute("SELECT id FROM documents WHERE root_id = ?", (root.id,))]
            if wanted.startswith(base + "/") and (found := _documents(db, root.id, wanted[len(base) + 1 :])):
                return found
    return []


def _absolute_forms(path: str) -> Sequence[str]:
    """A path in full, with forward slashes, as a root may spell it: links as they are, or resolved."""
    if uri_scheme(path):
        return (path,)
    return [PurePath(whole).as_posix() for whole in (os.path.abspath(path), os.path.realpath(path))]  # noqa: PTH100


def _with_relative_path(db: sqlite3.Connection, roots: Sequence[Root], path: str) -> list[int]:
    """The ids of the documents with this path below their roots, and of the added text with this id."""
    below = unicodedata.normalize("NFC", path.replace("\\", "/") if os.name == "nt" else path).removeprefix("./")
    found = [id_ for root in roots for id_ in _documents(db, root.id, below)]
    return found + (_documents(db, ADDED, path) or _documents(db, ADDED, below))


def _documents(db: sqlite3.Connection, root: int, path: str) -> list[int]:
    return [id_ for (id_,) in db.execute("SELECT id FROM documents WHERE root_id = ? AND path = ?", (root, path))]


def _with_same_name(db: sqlite3.Connection, path: str) -> list[DocumentRow]:
    """A few documents whose file has the same name."""
    name = PurePath(path).name.replace("\\", "\\\\").replace("%", "\\%").replace("_", "\\_")
    rows = db.execute(
        "SELECT id FROM documents WHERE path LIKE ? ESCAPE '\\' OR path LIKE ? ESCAPE '\\' ORDER BY path LIMIT ?",
        (f"%/{name}", name, _HINTS),
    )
    return list(get_documents(db, [id_ for (id_,) in rows]).values()) if name else []


def first_passages_of_files(db: sqlite3.Connection, name: str, most: int) -> dict[int, str]:
    """The first passages of the files with a name, or the end of a path, in any case, and their paths; none of more
    than `most`."""
    name = storable(name)
    like = re.sub(r"([%_\\])", r"\\\1", name)
    rows = db.execute(
        "SELECT first_passage, path FROM documents WHERE passages > 0 AND (path = ? COLLATE NOCASE OR path LIKE ? "
        "ESCAPE '\\') ORDER BY path LIMIT ?",
        (name, f"%/{like}", most + 1),
    ).fetchall()
    return dict(rows) if len(rows) <= most else {}


def _cited(db: sqlite3.Connection, cited: str) -> PassageRow | None:
    """The passage at a place that follows a path and a space: `talk.pptx slide 3`.

    None where all of it may be a path or an id, or no beginning of it is one; raises SourceError where a beginning is
    one, and the document has nothing at what follows.
    """
    roots = get_roots(db)
    ends = [len(cited), *(space.start() for space in re.finditer(" ", cited))]
    for end in ends:
        ids = _at_path(db, roots, cited[:end]) or _with_relative_path(db, roots, cited[:end])
        if end == len(cited) and ids:
            return None
        if len(ids) == 1:
            (document,) = get_documents(db, ids).values()
            return _cited_at(db, document, cited[end:].strip())
    return None


def _cited_at(db: sqlite3.Connection, document: DocumentRow, place: str) -> PassageRow:
    known: list[str] = []
    for passage in each_passage(db, document.first_passage, document.first_passage + document.passages):
        for number, line in enumerate(passage.sentences[:, 4].tolist()):
            position = Position(line, passage.page, passage.place(number))
            terms = own_terms(position)
            if place in (terms, position.place, f"p. {passage.page}"):
                return passage
            known.append(terms)
    has = f"it goes from {known[0]} to {known[-1]}" if known and known[0] and known[-1] else "it has no such places"
    raise SourceError(f"{document.path} has nothing at {place!r}; {has}")


def _passage_at(db: sqlite3.Connection, document: DocumentRow, line: int) -> PassageRow:
    """The passage that has the first sentence beginning in a line; else the passage that the line lies in.

    A line between two sections, such as a heading, belongs to the later one; a line before the first sentence, such as
    front matter, to the first passage.
    """
    if line < 1:
        raise UsageError(f"a line is a whole number from 1 on, not {line}")
    passages = [*each_passage(db, document.first_passage, document.first_passage + document.passages)]
    sentences = [
        (start, start + passage.sentence(number).count("\n"), passage)  # its first line and its last
        for passage in passages
        for number, start in enumerate(passage.sentences[:, 4].tolist())
    ]
    last = max(end for _, end, _ in sentences)
    if line > last and line > (last := last + _lines_after(document, passages)):
        raise UsageError(f"{document.path} ends at line {last}; give a line from 1 to {last}")
    sentences.sort(key=lambda sentence: sentence[0])
    begun = bisect_left(sentences, line, key=lambda sentence: sentence[0])
    before, after = sentences[:begun][-1:], sentences[begun:][:1]
    if after and after[0][0] == line:
        return after[0][2]
    if not before or (after and line > before[0][1] and after[0][2].headings != before[0][2].headings):
        return after[0][2]
    return before[0][2]


def _lines_after(document: DocumentRow, passages: Sequence[PassageRow]) -> int:
    """How many lines a document may have after the one in which its text ends, as the index knows without its file.

    All bytes of the file that are not in the text may be line ends; the last line end begins no line.
    """
    if not document.root or document.format in LINELESS:
        return 0
    end = max(int(passage.sentences[-1, 3]) for passage in passages)
    other_bytes = sum(len(passage.text.encode()) - len(passage.text) for passage in passages)
    return max(0, document.size - end - other_bytes - 1)
