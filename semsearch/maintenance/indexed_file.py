"""The bytes of an indexed file, if they still are those that were indexed: compared by size and digest.

So nothing is shown that was not searched, whatever has come to lie at its path.
"""

from __future__ import annotations

import hashlib
import stat
from pathlib import Path

from semsearch.errors import SourceChanged
from semsearch.storage.catalogue import DocumentRow
from semsearch.system.uris import uri_scheme


def read_indexed(document: DocumentRow, path: str) -> bytes:
    """Read the file of a document, called `path` in errors.

    Raises SourceChanged if it has changed or gone, or is an object in a store, which is read only to be indexed.
    """
    if uri_scheme(document.root):
        raise SourceChanged(f"{path} lies in a store, and is not here to be shown; what was indexed of it is its text")
    file = Path(document.absolute)
    try:
        found = file.stat()
        is_same = stat.S_ISREG(found.st_mode) and found.st_size == document.size
        data = file.read_bytes() if is_same else b""
    except OSError as error:
        raise SourceChanged(f"{path} cannot be read ({error.strerror}); what was indexed of it is its text") from None
    if not is_same or hashlib.blake2b(data, digest_size=16).hexdigest() != document.digest:
        raise SourceChanged(f"{path} has changed since it was indexed; index it again to see it as it is now")
    return data
