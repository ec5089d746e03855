"""`RemoteIndex`: an index on a server, or several, made by `Index.connect`. It gives the hits that are given there."""

from __future__ import annotations

import logging
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any, Unpack
from urllib.parse import quote
from weakref import ref

from semsearch.errors import UsageError
from semsearch.remote.connection import ServerConnection
from semsearch.results.contents.documents import DocumentInfo, DocumentText
from semsearch.results.contents.facets import Facets
from semsearch.results.context import Context
from semsearch.results.explanation import Explanation
from semsearch.results.floor import FLOOR
from semsearch.results.hit_list import Hits
from semsearch.results.hits import Hit, Mode
from semsearch.results.options import SearchKeywords, SearchOptions, Syntax, strings
from semsearch.results.state.checkup import Checkup
from semsearch.results.state.reports import Status

logger = logging.getLogger(__name__)
_AT_ONCE = 1000  # queries of a batch, and documents of a page
_SECONDS = 60.0


class RemoteIndex:
    """An index on a server: what can be asked of an `Index`, asked over HTTP. A context manager, closed at its end.

    Threads may share it. Paths are those of the server's machine, and are understood in its current folder. With the
    names of several indexes, these are searched there as one (`SeveralIndexes`); their documents and their status are
    asked of each by itself.
    """

    def __init__(
        self,
        url: str,
        *,
        index: str | Sequence[str] | None = None,
        token: str | None = None,
        timeout: float = _SECONDS,
    ) -> None:
        self.url = url
        self.name: str | tuple[str, ...] | None = (
            index if index is None or isinstance(index, str) else _one_or_several(index)
        )
        self._server = ServerConnection(url, token=token, timeout=timeout)

    def search(
        self,
        query: str,
        k: int | None = None,
        *,
        options: SearchOptions | None = None,
        **keywords: Unpack[SearchKeywords],
    ) -> Hits:
        """Find the passages that answer a query, best first, as `Index.search` does. Raises ServerError besides."""
        if not isinstance(query, str):
            raise UsageError(f"search takes one query, not {type(query).__name__}; for several use search_many")
        chosen = SearchOptions.chosen(options, k, keywords)
        answer = self._server.post("/v1/search", self._given(chosen, query=query, origin=True))
        for warning in answer.get("warnings", ()):
            logger.warning("%s", warning)
        return self._hits(answer["hits"])

    def search_many(
        self,
        queries: Iterable[str],
        k: int | None = None,
        *,
        options: SearchOptions | None = None,
        **keywords: Unpack[SearchKeywords],
    ) -> list[Hits]:
        """Find the hits of each of several queries, as `Index.search_many` does. Each thousand sees one generation."""
        chosen = SearchOptions.chosen(options, k, keywords)
        wanted, found = strings(queries, "queries"), list[Hits]()
        for first in range(0, len(wanted), _AT_ONCE):
            given = self._given(chosen, queries=wanted[first : first + _AT_ONCE], origin=True)
            found += [self._hits(each["hits"]) for each in self._server.post("/v1/search/batch", given)["answers"]]
        return found

    def similar(
        self,
        like: Hit | str | Path,
        line: int | None = None,
        k: int | None = None,
        *,
        options: SearchOptions | None = None,
        **keywords: Unpack[SearchKeywords],
    ) -> Hits:
        """Find the passages most similar to a passage or document of the index, as `Index.similar` does."""
        if not isinstance(like, Hit | str | Path):
            raise UsageError(f"similar takes a hit, or a path and perhaps a line, not {like!r}")
        subject = {"hit": like.to_dict()} if isinstance(like, Hit) else {"path": str(like)}
        chosen = SearchOptions.chosen(options, k, keywords)
        answer = self._server.post("/v1/similar", self._given(chosen, line=line, **subject))
        return Hits(Hit.from_dict(hit) for hit in answer["hits"])

    def explain(self, query: str, hit: Hit, *, mode: Mode | None = None) -> Explanation:
        """Explain the score of a hit's passage for a query, as `Index.explain` does."""
        if not isinstance(hit, Hit):
            raise UsageError(f"explain takes a query and a hit, not {hit!r}")
        sent = hit.to_dict(origin=hit.origin is not None)
        given = {"index": self._index_of(hit), "query": query, "hit": sent, "mode": mode}
        return Explanation.from_dict(self._server.post("/v1/explain", given))

    def explain_hit(self, hit: Hit) -> Explanation:
        """Explain a hit's own score. Raises UsageError if the index has changed since the hit was found."""
        given = {"index": self._index_of(hit), "hit": hit.to_dict(origin=hit.origin is not None), "own": True}
        return Explanation.from_dict(self._server.post("/v1/explain", given))

    def context(
        self,
        query: str,
        *,
        max_words: int = 800,
        mode: Mode = "hybrid",
        filters: Sequence[str] = (),
        syntax: Syntax = "full",
        floor: float = FLOOR,
    ) -> Context:
        """Assemble the best passages for a query as text for a language model, as `Index.context` does."""
        given: dict[str, Any] = {"index": self.name, "query": query, "max_words": max_words, "mode": mode}
        given |= {"filters": list(filters), "syntax": syntax, "floor": floor}
        answer = self._server.post("/v1/context", given)
        return Context.from_dict({key: answer[key] for key in ("text", "words", "citations", "weak") if key in answer})

    def documents(self, filters: Sequence[str] = ()) -> Iterator[DocumentInfo]:
        """List the documents of the index that pass all filters, a page at a time."""
        return self._documents(strings(filters, "filters"))

    def _documents(self, filters: tuple[str, ...]) -> Iterator[DocumentInfo]:
        offset: int | None = 0
        while offset is not None:
            given = {"index": self._only(), "filters": filters, "offset": offset, "limit": _AT_ONCE}
            page = self._server.get("/v1/documents", given)
            yield from (DocumentInfo.from_dict(one) for one in page["documents"])
            offset = page["next"]

    def facets(self, filters: Sequence[str] = (), *, values: int = 10) -> Facets:
        """Count the documents that pass all filters by folder, format, date and metadata, as `Index.facets` does."""
        given = {"index": self._only(), "filters": strings(filters, "filters"), "values": values}
        return Facets.from_dict(self._server.get("/v1/facets", given))

    def document(self, name: str | Path) -> DocumentText:
        """Return a document, by its path or id, with its text. Raises SourceError if there is none, or several."""
        path = f"/v1/documents/{quote(str(name), safe='')}"
        return DocumentText.from_dict(self._server.get(path, {"index": self._only()}))

    def status(self, *, drift: bool = True, stale: bool = True) -> Status:
        """Return counts, settings and size of the index."""
        given = {"index": self._only(), "drift": drift, "stale": stale}
        return Status.from_dict(self._server.get("/v1/status", given))

    def checkup(self, *, stale: bool = True) -> Checkup:
        """Return the health of the index, as `Index.checkup` does; its commands are for the server's machine."""
        return Checkup.from_dict(self._server.get("/v1/checkup", {"index": self._only(), "stale": stale}))

    def close(self) -> None:
        """Close the connections. They are opened again when they are needed."""
        self._server.close()

    def __enter__(self) -> RemoteIndex:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def __repr__(self) -> str:
        return f"RemoteIndex({self.url!r}, index={self.name!r})"

    def _only(self) -> str | None:
        """The name of the index. Raises UsageError if there are several."""
        if self.name is None or isinstance(self.name, str):
            return self.name
        raise UsageError(f"this can be asked of one index, not of {', '.join(self.name)} together; connect to one")

    def _index_of(self, hit: Hit) -> str | None:
        """The name of the index that a hit is of."""
        return self._only() if hit.index is None else hit.index

    def _given(self, options: SearchOptions, **fields: Any) -> dict[str, Any]:
        return {"index": self.name, **options.to_dict(), **fields}

    def _hits(self, found: list[dict[str, Any]]) -> Hits:
        """Hits as the server sent them, which remember who found them."""
        hits = Hits(Hit.from_dict(hit) for hit in found)
        for hit in hits:
            hit.found_by(ref(self))
        return hits


def _one_or_several(names: Sequence[str]) -> str | tuple[str, ...]:
    """The names of several indexes, each once; the name itself, if it is one."""
    different = tuple(dict.fromkeys(strings(names, "index")))
    if not different:
        raise UsageError("no name of an index is given; give one, several, or None for the only one there is")
    return different if len(different) > 1 else different[0]
