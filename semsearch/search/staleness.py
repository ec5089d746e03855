"""Which documents are stale: their files are no longer what was indexed."""

from __future__ import annotations

import os
from collections.abc import Iterable
from pathlib import Path

from semsearch.storage.catalogue import DocumentRow
from semsearch.system.uris import uri_scheme


def stale_documents(documents: Iterable[DocumentRow]) -> set[int]:
    """Find the documents, by their ids, whose files have changed or gone since they were indexed.

    Size and time are compared first, as a sync does; only a file of the same size with another time, such as one that
    was copied or checked out again, is read and compared by its digest. A text that a program added has no file, and of
    a file that we may not look at nothing is known, nor of an object in a store, which is not asked: none is stale.
    """
    return {
        document.id for document in documents if document.root and not uri_scheme(document.root) and _is_stale(document)
    }


def _is_stale(document: DocumentRow) -> bool:
    try:
        found = os.stat(document.absolute)  # noqa: PTH116  # a quarter of Path's time, and every query pays it
    except (FileNotFoundError, NotADirectoryError):
        return True
    except OSError:
        return False
    if found.st_size != document.size:
        return True
    return found.st_mtime_ns != document.mtime_ns and _is_other(Path(document.absolute), document.digest)


def _is_other(file: Path, digest: str) -> bool:
    from semsearch.system.durable import file_digest  # start-up time: few files have another time

    try:
        return file_digest(file) != digest
    except OSError:  # gone since, or closed to us
        return not file.exists()
