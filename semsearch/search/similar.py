"""Search by example: a passage, a document or given texts in place of a query.

An example is the passage of a hit, the one at a line, the one that a citation names (`talk.pptx slide 3`, `report.pdf
p. 3, top`), or a whole document. Its vector is the direction of the sum of its passages' vectors, its words are their
most telling ones; of a document with very many passages, evenly spread ones are taken. A document is not similar to
itself. Nor is a passage, nor are its neighbours in the same section, which resemble it because they continue it.
"""

from __future__ import annotations

import os
import re
import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import PurePath
from typing import TYPE_CHECKING

import numpy as np

from semsearch import tuning
from semsearch.arrays.types import Float32, Int64
from semsearch.errors import SourceError, UsageError
from semsearch.results.hits import LINELESS, Hit, Position, own_terms
from semsearch.results.options import SearchOptions
from semsearch.search.candidates import IndexView, Query
from semsearch.search.filter_sql import allowed_by_filters, unmatched
from semsearch.search.make_hits import path_of
from semsearch.search.query import embed, filters_of
from semsearch.sources.roots import ADDED, Root
from semsearch.storage.catalogue import (
    DocumentRow,
    PassageRow,
    each_passage,
    get_documents,
    get_passages,
    get_roots,
    need_documents,
    need_passages,
)
from semsearch.system.locations import uri_scheme, working_folder
from semsearch.text.terms import named_terms, of_question
from semsearch.text.text_lengths import heading_text

if TYPE_CHECKING:
    import sqlite3

# -- The example -------------------------------------------------------------------------------------------------------


MOST_PASSAGES = 500  # that stand for a document
_HINTS = 3
_LONGEST = 10_000  # characters of a path or id that is looked for


@dataclass(frozen=True, slots=True)
class ExampleTexts:
    """The texts of passages, and title and headings above each, to be compared with those of any index."""

    headings: Sequence[str]
    texts: Sequence[str]


@dataclass(frozen=True, slots=True)
class ExamplePassages:
    """Passages that similar ones are searched for."""

    name: str
    ids: Int64  # (n,), rising
    headings: Sequence[str]  # title and headings above each
    texts: Sequence[str]
    hidden: Int64  # ids of passages that must not answer, rising

    @property
    def as_texts(self) -> ExampleTexts:
        """The texts alone, without what only their own index knows."""
        return ExampleTexts(self.headings, self.texts)


def find_subject(db: sqlite3.Connection, like: Hit | str, line: int | None = None) -> ExamplePassages:
    """Find the passages that a hit names, or a path and perhaps a line (from 1) or a place (`a.pptx slide 3`).

    A path may be written as hits show it, absolute, or relative to its root; a text that a program added goes by its
    id. Raises SourceError for a path that is not in the index, or is ambiguous; UsageError for a line that the document
    does not have.
    """
    if isinstance(like, Hit):
        if line is not None:
            raise UsageError("a hit has a line already; give a line only with a path")
        return _like_passage(db, _passage_of(db, like))
    if line is not None and (not isinstance(line, int) or isinstance(line, bool) or line < 1):
        raise UsageError(f"a line is a whole number from 1 on, not {line!r}")
    document, passage = find_passage(db, like, line)
    if not document.passages:
        raise SourceError(f"{like} has no text to compare with")
    return _like_document(db, document) if passage is None else _like_passage(db, passage)


def find_passage(db: sqlite3.Connection, cited: str, line: int | None = None) -> tuple[DocumentRow, PassageRow | None]:
    """Find the document that a path names, and its passage at a line or at a place that follows the path, if any does.

    Raises as `find_subject`.
    """
    _refuse_impossible(cited)
    if line is None and (passage := _cited(db, cited)) is not None:
        return need_documents(db, [passage.document_id])[passage.document_id], passage
    document = find_document(db, cited)
    return document, None if line is None or not document.passages else _passage_at(db, document, line)


def _cited(db: sqlite3.Connection, cited: str) -> PassageRow | None:
    """The passage at a place that follows a path and a space: `talk.pptx slide 3`.

    None where all of it may be a path or an id, or no beginning of it is one; raises SourceError where a beginning is
    one, and the document has nothing at what follows.
    """
    roots = get_roots(db)
    ends = [len(cited), *(space.start() for space in re.finditer(" ", cited))]
    for end in ends:
        ids = _at_path(db, roots, cited[:end]) or _called(db, roots, cited[:end])
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


def find_document(db: sqlite3.Connection, path: str) -> DocumentRow:
    """Find the document that a path or an id names. A path from the current folder wins over one below a root."""
    _refuse_impossible(path)
    roots = get_roots(db)
    ids = _at_path(db, roots, path) or _called(db, roots, path)
    found = [need_documents(db, [id_])[id_] for id_ in ids]
    if len(found) == 1:
        return found[0]
    if found:
        paths = " and ".join(document.absolute for document in found)
        raise SourceError(f"{path} may be {paths}; write the full path")
    hints = _called_like(db, path)
    here = working_folder().as_posix()
    instead = f"did you mean {' or '.join(path_of(hint, here) for hint in hints)}?" if hints else "index it first"
    raise SourceError(f"{path or 'a path without a name'} is not in the index; {instead}")


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
    for whole in _spelt_in_full(path):
        wanted = unicodedata.normalize("NFC", whole)
        for root in roots:
            base = unicodedata.normalize("NFC", root.path).rstrip("/")
            if root.single and wanted == base:
                return [id_ for (id_,) in db.execute("SELECT id FROM documents WHERE root_id = ?", (root.id,))]
            if wanted.startswith(base + "/") and (found := _documents(db, root.id, wanted[len(base) + 1 :])):
                return found
    return []


def _spelt_in_full(path: str) -> Sequence[str]:
    """A path in full, with forward slashes, as a root may spell it: links as they are, or resolved."""
    if uri_scheme(path):
        return (path,)
    return [PurePath(whole).as_posix() for whole in (os.path.abspath(path), os.path.realpath(path))]  # noqa: PTH100


def _called(db: sqlite3.Connection, roots: Sequence[Root], path: str) -> list[int]:
    """The ids of the documents with this path below their roots, and of the added text with this id."""
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
    """The passage that has the first sentence beginning in a line; else the passage that the line lies in.

    A line between two sections, such as a heading, belongs to the later one; a line before the first sentence, such as
    front matter, to the first passage.
    """
    before: PassageRow | None = None
    after: PassageRow | None = None
    begins, ends, follows, last = 0, 0, 1 << 62, 0
    end_of_text = other_bytes = 0
    for passage in each_passage(db, document.first_passage, document.first_passage + document.passages):
        other_bytes += len(passage.text.encode()) - len(passage.text)
        end_of_text = max(end_of_text, int(passage.sentences[-1, 3]))
        for number, start in enumerate(passage.sentences[:, 4].tolist()):
            if start == line:
                return passage
            end = start + passage.sentence(number).count("\n")
            if begins <= start < line:
                before, begins, ends = passage, start, end
            elif line < start < follows:
                after, follows = passage, start
            last = max(last, end)
    if line > last and line > (last := last + _lines_after(document, end_of_text, other_bytes)):
        raise UsageError(f"{document.path} ends at line {last}; give a line from 1 to {last}")
    if before is None or (after is not None and line > ends and after.headings != before.headings):
        before = after
    assert before is not None  # the document has passages, and each of them has sentences
    return before


def _lines_after(document: DocumentRow, end: int, other_bytes: int) -> int:
    """How many lines a document may have after the one in which its text ends, as the index knows without its file.

    All bytes of the file that are not in the text may be line ends; the last line end begins no line. `end`: the number
    of characters up to the end of the text; `other_bytes`: how many more bytes these have.
    """
    has_lines = document.root and document.format not in LINELESS
    return max(0, document.size - end - other_bytes - 1) if has_lines else 0


def _like_passage(db: sqlite3.Connection, passage: PassageRow) -> ExamplePassages:
    neighbours = get_passages(db, [passage.id - 1, passage.id + 1]).values()
    document = need_documents(db, [passage.document_id])[passage.document_id]
    hidden = [
        other.id
        for other in neighbours
        if other.document_id == passage.document_id and other.headings == passage.headings
    ]
    return _subject(document, [passage], np.array(sorted([passage.id, *hidden]), dtype=np.int64))


def _like_document(db: sqlite3.Connection, document: DocumentRow) -> ExamplePassages:
    ids = np.arange(document.first_passage, document.first_passage + document.passages)
    chosen = ids[:: -(-len(ids) // MOST_PASSAGES)]
    return _subject(document, list(need_passages(db, chosen.tolist()).values()), ids)


def _subject(document: DocumentRow, passages: Sequence[PassageRow], hidden: Int64) -> ExamplePassages:
    return ExamplePassages(
        document.path,
        np.array([passage.id for passage in passages], dtype=np.int64),
        [heading_text(document.title, passage.headings) for passage in passages],
        [passage.text for passage in passages],
        hidden,
    )


# -- The query of examples ---------------------------------------------------------------------------------------------


def query_of_passages(subject: ExamplePassages, options: SearchOptions, index: IndexView) -> Query:
    """Passages as a query: the direction of the sum of their unit vectors, and the words that say most about them."""
    vector, notices = None, list[str]()
    if options.mode != "lexical":
        vector = index.reader.halves.direction(index.reader.passage_vectors.fetch(subject.ids).rows)
        if not vector.any():
            notices = [f"the word vectors have no word of {subject.name}: only the lexical retriever answers"]
    return _query_of(subject.as_texts, vector, subject.hidden, options, index, notices)


def query_of_texts(example: ExampleTexts, options: SearchOptions, index: IndexView) -> Query:
    """Texts that are not of the index as a query, as `query_of_passages` takes passages that are."""
    embedder = None if options.mode == "lexical" else index.reader.embedder(index.db)
    vector = None
    if embedder is not None:
        terms = [of_question(text, index.reader.languages) for text in example.texts]
        rows = [embed(text, own, None, embedder, index)[0] for text, own in zip(example.texts, terms, strict=True)]
        vector = index.reader.halves.direction(np.stack(rows))
    return _query_of(example, vector, np.zeros(0, dtype=np.int64), options, index, [])


def _query_of(
    example: ExampleTexts,
    vector: Float32 | None,
    hidden: Int64,
    options: SearchOptions,
    index: IndexView,
    notices: Sequence[str],
) -> Query:
    lexical, words, text = index.reader.lexical, None, "\n".join(example.texts)
    if options.mode != "dense":
        words = lexical.scores(lexical.telling_terms(example.headings, example.texts, tuning.TUNING.telling_terms))
    vector = vector if vector is not None and vector.any() else None
    return Query(
        text=text,
        options=options,
        vector=vector,
        words=words,
        terms=named_terms(text, index.reader.languages) if vector is None else None,  # to choose what is shown
        embedder=index.reader.embedder(index.db),
        allowed=allowed_by_filters(index, options),
        hidden=hidden,
        notices=(*notices, *unmatched(filters_of(options), index)),
    )
