"""The passages behind points of a map, as they are shown when one points at them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from semsearch.results.contents.map_passage import MapPassage
from semsearch.search.hits import path_of
from semsearch.storage.catalogue import DocumentRow, PassageRow, get_documents, get_passages
from semsearch.system.working_folder import working_folder

if TYPE_CHECKING:
    import sqlite3


def shown_passages(db: sqlite3.Connection, ids: Sequence[int]) -> list[MapPassage]:
    """Read passages by their ids, in that order; those that are not in the index are left out."""
    passages = get_passages(db, ids)
    documents = get_documents(db, {passage.document_id for passage in passages.values()})
    here = working_folder().as_posix()
    found = [passages[id_] for id_ in ids if id_ in passages]
    return [_shown(passage, documents[passage.document_id], here) for passage in found]


def _shown(passage: PassageRow, document: DocumentRow, here: str) -> MapPassage:
    _, _, start, end, line = passage.sentences[0].tolist()
    return MapPassage(
        passage_id=passage.id,
        path=path_of(document, here),
        root=document.root,
        document=document.path,
        title=document.title,
        format=document.format,
        headings=passage.headings,
        line=line,
        page=passage.page,
        place=passage.place(0),
        start=start,
        end=end,
        text=passage.text,
    )
