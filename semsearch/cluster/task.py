"""What a worker does: it opens a piece of work once, and does it with each item that it is sent.

Work and items come pickled, by Dask's own serialisation: whoever may talk to a worker may run programs there. Nothing
of an index folder or of a document is ever opened in this way.
"""

from __future__ import annotations

import socket
from collections import OrderedDict
from collections.abc import Callable, Mapping
from threading import Lock
from typing import Any

from semsearch.cluster.versions import differences, versions_here
from semsearch.errors import ClusterError

_MOST = 3  # pieces of work that stay open in a worker: each may have tables of some hundred megabytes
_opened: OrderedDict[str, Callable[[Any], Any]] = OrderedDict()
_opening = Lock()


def carry_out(work: bytes, name: str, item: bytes, expected: Mapping[str, str]) -> Any:
    """Do the work of that name with an item. Raises ClusterError if this worker has other versions than expected."""
    if found := differences(expected, versions_here()):
        raise ClusterError(f"the worker on {socket.gethostname()} has {found}; install the same versions there")
    return _open(work, name)(_loads(item))


def forget(name: str) -> None:
    """Close a piece of work, if it is open here."""
    with _opening:
        _opened.pop(name, None)


def _open(work: bytes, name: str) -> Callable[[Any], Any]:
    with _opening:  # once, however many threads the worker has
        if name not in _opened:
            _opened[name] = _loads(work)
            while len(_opened) > _MOST:
                _opened.popitem(last=False)
        _opened.move_to_end(name)
        return _opened[name]


def _loads(data: bytes) -> Any:
    from distributed.protocol.pickle import loads  # an optional dependency

    return loads(data)
