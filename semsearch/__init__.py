"""semsearch: instant semantic search over your own documents.

    from semsearch import Index
    index = Index.create("indexes/notes")
    index.sync("notes/")
    for hit in index.search("how do I rotate the keys?"):
        print(hit.score, hit.path, hit.line, hit.sentence)

The names in `__init__.pyi` are the public API; the modules that define them may change at any time.
"""

from __future__ import annotations

import lazy_loader

__version__ = "0.1.0"

# A process pays for what it uses: the reader of a file needs no index, a question no server's client
__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
