"""The subject of a search for similar passages: the passage of a hit, the one at a line, or a whole document.

A document stands for all of its passages: its vector is the direction of the sum of theirs, its words are all of
theirs. Of one with very many, evenly spread ones are taken. It does not answer to itself. Nor does a passage, nor the
ones before and after it in the same section, which are like it because they go on with it.
"""

from __future__ import annotations

import os
import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path, PurePath
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from semsearch.errors import SourceError, UsageError
from semsearch.readers.document import line_starts
from semsearch.results.hits import Hit
from semsearch.search.hits import path_of
from semsearch.sources.roots import ADDED, Root
from semsearch.storage.catalogue import DocumentRow, PassageRow, each_passage, get_documents, get_passages
from semsearch.storage.roots import get_roots
from semsearch.system.working_folder import working_folder
from semsearch.text.headings import heading_text

if TYPE_CHECKING:
    import sqlite3

Int64 = npt.NDArray[np.int64]

MOST_PASSAGES = 500  # of a document that stand for it
_HINTS = 3


@dataclass(frozen=True, slots=True)
class Subject:
    """Passages that others shall be like."""

    name: str
    ids: Int64  # (n,), rising
    headings: Sequence[str]  # what is said above each
    texts: Sequence[str]
    hidden: Int64  # passages that are no answer, rising


def find_subject(db: sqlite3.Connection, like: Hit | str, line: int | None = None) -> Subject:
    """Find the subject that a hit, or a path and perhaps a line (from 1), means.

    A path may be written as hits show it, in full, or as below its root; a text that a program added goes by its id.
    Raises SourceError for a path that is not in the index, or is several; UsageError for a line that is not there.
    """
    if isinstance(like, Hit):
        if line is not None:
            raise UsageError("a hit has its line already; give a line with a path")
        return _like_passage(db, _passage_of(db, like))
    if line is not None and (not isinstance(line, int) or isinstance(line, bool) or line < 1):
        raise UsageError(f"a line is a whole number from 1 on, not {line!r}")
    document = find_document(db, like)
    if not document.passages:
        raise SourceError(f"{like} has no text that others could be like")
    return _like_document(db, document) if line is None else _like_passage(db, _passage_at(db, document, line))


def find_document(db: sqlite3.Connection, path: str) -> DocumentRow:
    """The document that a path or an id means. What lies there, seen from here, goes before what is called so."""
    roots = get_roots(db)
    ids = _at_place(db, roots, path) or _called(db, roots, path)
    found = [get_documents(db, [id_])[id_] for id_ in ids]
    if len(found) == 1:
        return found[0]
    if found:
        places = " and ".join(document.place for document in found)
        raise SourceError(f"{path} may be {places}; write the one that you mean in full")
    hints = _called_like(db, path)
    here = working_folder().as_posix()
    instead = f"did you mean {' or '.join(path_of(hint, here) for hint in hints)}?" if hints else "index it first"
    raise SourceError(f"{path or 'a path without a name'} is not in the index; {instead}")


def _at_place(db: sqlite3.Connection, roots: Sequence[Root], path: str) -> list[int]:
    """The document of the file that lies at a path, seen from here."""
    if "\0" in path:
        return []
    for whole in (os.path.abspath(path), os.path.realpath(path)):  # noqa: PTH100  # a root may be spelt either way
        place = unicodedata.normalize("NFC", PurePath(whole).as_posix())
        for root in roots:
            base = unicodedata.normalize("NFC", root.path).rstrip("/")
            if root.single and place == base:
                return [id_ for (id_,) in db.execute("SELECT id FROM documents WHERE root_id = ?", (root.id,))]
            if place.startswith(base + "/") and (found := _documents(db, root.id, place[len(base) + 1 :])):
                return found
    return []


def _called(db: sqlite3.Connection, roots: Sequence[Root], path: str) -> list[int]:
    """The documents with that path below their roots, and the text with that id."""
    below = unicodedata.normalize("NFC", path.replace("\\", "/") if os.name == "nt" else path).removeprefix("./")
    found = [id_ for root in roots for id_ in _documents(db, root.id, below)]
    return found + (_documents(db, ADDED, path) or _documents(db, ADDED, below))


def _documents(db: sqlite3.Connection, root: int, path: str) -> list[int]:
    return [id_ for (id_,) in db.execute("SELECT id FROM documents WHERE root_id = ? AND path = ?", (root, path))]


def _called_like(db: sqlite3.Connection, path: str) -> list[DocumentRow]:
    """A few documents whose file has the same name."""
    name = PurePath(path).name.replace("\\", "\\\\").replace("%", "\\%").replace("_", "\\_")
    rows = db.execute(
        "SELECT id FROM documents WHERE path LIKE ? ESCAPE '\\' OR path LIKE ? ESCAPE '\\' ORDER BY path LIMIT ?",
        (f"%/{name}", name, _HINTS),
    )
    return list(get_documents(db, [id_ for (id_,) in rows]).values()) if name else []


def _passage_of(db: sqlite3.Connection, hit: Hit) -> PassageRow:
    passage = get_passages(db, [hit.passage_id]).get(hit.passage_id)
    if passage is None or passage.text != hit.passage:
        raise UsageError(f"the passage of that hit in {hit.path} is no longer in the index; search again")
    return passage


def _passage_at(db: sqlite3.Connection, document: DocumentRow, line: int) -> PassageRow:
    """The passage of which a sentence begins in a line; or else the one that is being read there.

    What stands between two sections, which is a heading, counts as the later one; what stands before the first
    sentence, such as front matter, as the first passage.
    """
    before: PassageRow | None = None
    after: PassageRow | None = None
    begins, ends, follows, last = 0, 0, 1 << 62, 0
    for passage in each_passage(db, document.first_passage, document.first_passage + document.passages):
        for number, start in enumerate(passage.sentences[:, 4].tolist()):
            if start == line:
                return passage
            end = start + passage.sentence(number).count("\n")
            if begins <= start < line:
                before, begins, ends = passage, start, end
            elif line < start < follows:
                after, follows = passage, start
            last = max(last, end)
    if line > last and line > (last := max(last, _lines(document))):
        raise UsageError(f"{document.path} ends at line {last}; give a line from 1 to {last}")
    if before is None or (after is not None and line > ends and after.headings != before.headings):
        before = after
    assert before is not None  # the document has passages, and each of them has sentences
    return before


def _lines(document: DocumentRow) -> int:
    """How many lines the document's file has now; 0 where there is none to be read as text."""
    try:
        text = Path(document.place).read_bytes().decode("utf-8-sig") if document.root else ""
    except (OSError, ValueError):
        return 0
    return len(line_starts(text)) - text.endswith(("\n", "\r"))


def _like_passage(db: sqlite3.Connection, passage: PassageRow) -> Subject:
    beside = get_passages(db, [passage.id - 1, passage.id + 1]).values()
    document = get_documents(db, [passage.document_id])[passage.document_id]
    hidden = [
        other.id for other in beside if other.document_id == passage.document_id and other.headings == passage.headings
    ]
    return _subject(document, [passage], np.array(sorted([passage.id, *hidden]), dtype=np.int64))


def _like_document(db: sqlite3.Connection, document: DocumentRow) -> Subject:
    ids = np.arange(document.first_passage, document.first_passage + document.passages)
    chosen = ids[:: -(-len(ids) // MOST_PASSAGES)]
    return _subject(document, list(get_passages(db, chosen.tolist()).values()), ids)


def _subject(document: DocumentRow, passages: Sequence[PassageRow], hidden: Int64) -> Subject:
    return Subject(
        document.path,
        np.array([passage.id for passage in passages], dtype=np.int64),
        [heading_text(document.title, passage.headings) for passage in passages],
        [passage.text for passage in passages],
        hidden,
    )
