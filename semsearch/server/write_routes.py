"""Operations that write to an index: put and delete a document, and sync files. All of them need the token."""

from __future__ import annotations

import json
import os
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any

from fastapi import Depends
from fastapi.security import HTTPBearer
from pydantic import Field, StringConstraints

from semsearch.errors import UsageError
from semsearch.readers.document import Text
from semsearch.results.reports import SyncReport
from semsearch.server.open_indexes import OpenIndexes
from semsearch.server.operations import DocumentId, IndexParameters, Operations, ReportedWork
from semsearch.system.locations import uri_scheme

router = Operations(dependencies=[Depends(HTTPBearer(auto_error=False))])  # described so; `AccessRules` checks it


class DocumentBody(IndexParameters):
    """A text that is not in a file."""

    text: str = Field(max_length=4_000_000, description="The text.", examples=["The printer jams."])
    title: str = Field("", max_length=1000, description="Default: the title found in the text.")
    metadata: dict[str, Any] = Field({}, description="Metadata for filters.", examples=[{"year": 2024}])
    format: str = Field("text", max_length=100, description="text, markdown, rst, html, ...")


class SyncBody(IndexParameters):
    """The files that a sync brings up to date."""

    paths: tuple[Annotated[str, StringConstraints(max_length=4000)], ...] = Field(
        (), max_length=1000, description="Only these paths, within the roots of the index."
    )
    prune: bool = Field(False, description="Remove roots that no longer exist.")


@dataclass(frozen=True, slots=True)
class RemovedAnswer:
    """The number of documents that were removed."""

    removed: int


@router.operation("PUT", "/v1/documents/{id:any}", pool="writing")
def put_document(indexes: OpenIndexes, id: DocumentId, body: DocumentBody) -> SyncReport:
    """Add a text that is not in a file, or replace the one of that id"""
    try:
        json.dumps(body.metadata, allow_nan=False, ensure_ascii=False).encode()
    except ValueError as error:
        raise UsageError(f"the metadata cannot be stored as JSON: {error}") from None
    return indexes.get(body.index).add([Text(id, body.text, body.title, body.metadata, body.format)])


@router.operation("DELETE", "/v1/documents/{id:any}", pool="writing")
def delete_document(indexes: OpenIndexes, id: DocumentId, parameters: IndexParameters) -> RemovedAnswer:
    """Remove a document from an index. Its file is not touched; the next sync adds it again"""
    index = indexes.get(parameters.index)
    document = index.document(id)
    if document.root:
        is_remote = bool(uri_scheme(document.root))
        return RemovedAnswer(index.remove(document.path if is_remote else Path(document.path).absolute()))
    return RemovedAnswer(index.remove_texts([document.document]))


@router.operation("POST", "/v1/sync", SyncReport, pool="writing", is_long=True)
def sync(indexes: OpenIndexes, body: SyncBody) -> ReportedWork:
    """Bring an index up to date with its files, or with some of them

    With `Accept: text/event-stream`, progress is sent as server-sent events, and at the end the report.
    """
    written = indexes.get(body.index)
    roots = [_real(root) for root in written.roots]
    for path in body.paths:
        if not any(_is_inside(_real(path), root) for root in roots):
            raise UsageError(f"{path!r} is outside the roots of the index; add a root with semsearch index")
    return lambda report: written.sync(*body.paths, prune=body.prune, progress=report)


def _real(path: str) -> str:
    if not path or "\0" in path:
        raise UsageError(f"{path!r} is not a valid path")
    return path if uri_scheme(path) else os.path.realpath(path)


def _is_inside(path: str, folder: str) -> bool:
    separator = "/" if uri_scheme(folder) else os.sep
    return path == folder or path.startswith(folder.rstrip(separator) + separator)
