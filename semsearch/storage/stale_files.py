"""Which documents of an answer are stale: their files have changed since they were indexed, or are gone.

As in a sync, a file of the same size is read, and compared by its digest, if its time does not prove that it is the
same (semsearch.sources.unchanged), such as one that was copied, or written while it was indexed. A text that a program
added has no file, and of a file that we may not look at nothing is known, nor of an object in a store, which is not
fetched: none is stale.
"""

from __future__ import annotations

import os
import stat
from collections.abc import Iterable
from functools import lru_cache

from semsearch.sources.unchanged import looks_unchanged
from semsearch.storage.document_rows import DocumentRow
from semsearch.system.locations import uri_scheme
from semsearch.system.source_files import NotTheFile, source_digest

_PATIENCE = 5.0  # seconds that a query reads a file which may have changed


def stale_documents(documents: Iterable[DocumentRow]) -> dict[int, bool]:
    """Find the documents whose files have changed since they were indexed, by their ids: true if the file is gone."""
    states, present = dict[int, bool](), list[tuple[DocumentRow, os.stat_result]]()
    for document in documents:
        if document.root and not uri_scheme(document.root):
            try:
                status = os.stat(document.absolute)  # noqa: PTH116  # a quarter of Path's time, and every query pays it
            except (FileNotFoundError, NotADirectoryError, UnicodeEncodeError):  # no name of a file in its locale
                states[document.id] = True
            except OSError:
                pass
            else:
                present.append((document, status))
    are_same = [looks_unchanged(document, status.st_size, status.st_mtime_ns) for document, status in present]
    for (document, status), is_same in zip(present, are_same, strict=True):
        is_other = status.st_size != document.size or not stat.S_ISREG(status.st_mode)
        if is_other or (not is_same and _has_other_content(document, status)):
            states[document.id] = False
    return states


def _has_other_content(document: DocumentRow, status: os.stat_result) -> bool:
    state = status.st_dev, status.st_ino, status.st_size, status.st_mtime_ns, status.st_ctime_ns
    try:
        return _digest_of(document.absolute, document.root, state) != document.digest
    except (FileNotFoundError, NotTheFile):
        return True
    except OSError:  # not readable, or not in time
        return False


@lru_cache(maxsize=4096)  # a folder that was copied has another time in every file, for each query
def _digest_of(path: str, root: str, _state: tuple[int, ...]) -> str:
    return source_digest(path, root=root, seconds=_PATIENCE)
