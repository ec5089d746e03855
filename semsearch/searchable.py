"""`Searchable`: the contract of everything that can be searched, with its signatures, checks and docstrings, once.

Public methods check what they are given and ask a primitive, a method of the same name with an underscore. An index on
this machine (`Index`, also the reader of a published snapshot), several as one (`MultiIndex`) and those on a server
(`RemoteIndex`) have the primitives. What only a `SingleIndex` has raises a UsageError where several are searched as
one.
"""

from __future__ import annotations

import logging
from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Self, Unpack
from weakref import ref

from semsearch.arrays.types import Float32
from semsearch.errors import UsageError
from semsearch.results.hits import FLOOR, Hit, Hits, best_of
from semsearch.results.options import RANKING, Mode, SearchKeywords, SearchOptions, strings

if TYPE_CHECKING:
    from semsearch.results.documents import (
        DocumentInfo,
        DocumentPassages,
        DocumentText,
        Facets,
        MapPassage,
        MapStatus,
        PdfPage,
    )
    from semsearch.results.explanation import Explanation
    from semsearch.results.hits import Context
    from semsearch.results.reports import Checkup, Problem, Status

logger = logging.getLogger(__name__)
LEAST_WORDS = 3  # of a context: a number, a word, and a sign that there are more
_CONTEXT = SearchOptions(floor=FLOOR)


@dataclass(frozen=True, slots=True)
class SoughtPassage:
    """The passage that is requested, by its own id, a sentence of it, a line or a page: the first that is given."""

    sentence: int | None = None
    passage: int | None = None
    line: int | None = None
    page: int | None = None


class Searchable(ABC):
    """Everything that can be searched: an index here, one on a server, several as one. A context manager.

    Threads may share it. Options are given as `SearchOptions`, by keyword, or both: then the keywords win.
    """

    # -- asking --------------------------------------------------------------------------------------------------------

    def search(
        self,
        query: str,
        k: int | None = None,
        *,
        options: SearchOptions | None = None,
        **keywords: Unpack[SearchKeywords],
    ) -> Hits:
        """Find the k passages that answer a query best, best first; fewer if there are fewer. By default ten.

        Options are given as `SearchOptions`, as its fields by keyword, or both: then the keywords win. `filters` (see
        semsearch.search.filters) decide beforehand which documents may answer, regular expressions
        (`regex`) which passages; `context` adds so many sentences before and after the quoted one. Of near-duplicates
        (see semsearch.text.near_duplicates) only the best is a hit, and the others are its `duplicates`, unless they
        are requested. `passages` are ids, of hits or of a map: only these may answer; an id is of one index.
        `per_document` bounds the hits of a document, `boosts` (semsearch.search.boosts) prefer some documents,
        `min_score` and `floor` leave out hits, and with `syntax` "plain" quotes and hyphens are text.
        Mode "exact" lists the passages in which the query stands literally, or which match `regex` if it is empty, in
        the order of the documents, each with its `occurrences`; `hits.total` counts all. A query of
        which no word is known is answered by its words alone; in mode "dense" it finds nothing. What the index cannot
        know of a query is logged as a warning, and in the `warnings` of the hits. Raises UsageError for a query without
        words, for options that make no sense, such as k = 0, and for unknown ones; VectorsMismatch if the word vectors
        are not those that the index was built with; ServerError if a server does not answer.
        """
        if not isinstance(query, str):
            raise UsageError(f"search takes one query, not {type(query).__name__}; for several use search_many")
        (hits,) = self.search_many([query], k, options=options, **keywords)
        return hits

    def search_many(
        self,
        queries: Iterable[str],
        k: int | None = None,
        *,
        options: SearchOptions | None = None,
        **keywords: Unpack[SearchKeywords],
    ) -> list[Hits]:
        """Find the hits of each of several queries, as `search` does.

        All of them see the same generation of an index; on a server, each thousand of them.
        """
        chosen = SearchOptions.chosen(options, k, keywords)
        return [self._finished(hits, chosen) for hits in self._search(strings(queries, "queries"), chosen)]

    def similar(
        self,
        like: Hit | str | Path,
        line: int | None = None,
        k: int | None = None,
        *,
        same_document: bool = False,
        options: SearchOptions | None = None,
        **keywords: Unpack[SearchKeywords],
    ) -> Hits:
        """Find the k passages most similar to a passage or document of the index. Options are those of `search`.

        The passage is that of a hit, or the one at a line of a document, which is given by its path or id, or at a
        position as hits cite it, "talk.pptx slide 3"; without either, it is the whole document, represented by the
        direction of the sum of its passages' vectors. Meaning is compared by the stored vectors; words, by the twenty
        that say most about the passage or document. Its document is no answer, unless it is the only one, or
        `same_document` is true: then other sections of a passage's document are. No reranker reads these hits, since
        there is no query. Of several indexes, those that have the document compare it so, the others by its text,
        embedded by their own fits. Raises SourceError for a path that is not in the index, or is ambiguous; UsageError
        for a line that the document does not have, and for a hit whose passage has changed.
        """
        if not isinstance(like, Hit | str | Path):
            raise UsageError(f"similar takes a hit, or a path and perhaps a line, not {like!r}")
        chosen = SearchOptions.chosen(options, k, keywords)
        _check_ranking(chosen.mode, "similar")
        example = str(like) if isinstance(like, Path) else like
        return self._finished(self._similar(example, line, chosen, same_document=same_document), chosen)

    def _finished(self, hits: Hits, options: SearchOptions) -> Hits:
        """The best of some hits, which remember who found them. What there is to tell of the query is logged."""
        _log(hits.warnings)
        best = best_of(hits, options)
        for hit in best:
            hit.found_by(ref(self))
        return best

    def explain(self, query: str, hit: Hit, *, mode: Mode | None = None) -> Explanation:
        """Explain the score of a hit's passage for a query.

        For the query that found the hit, this explains the hit's own score, with its filters and its reranker. For
        another query or mode, or if the index has changed since, it explains the score that the passage has now in its
        index, without filters. `mode` is by default that of the hit if this query found it, otherwise "hybrid". Raises
        UsageError if the passage has gone or changed.
        """
        if not isinstance(hit, Hit):
            raise UsageError(f"explain takes a query and a hit, not {hit!r}")
        _check_ranking(mode, "explain")
        return self._explain(query, hit, mode)

    def context(
        self,
        query: str,
        *,
        max_words: int = 800,
        options: SearchOptions | None = None,
        **keywords: Unpack[SearchKeywords],
    ) -> Context:
        """Assemble the best passages for a query as text for a language model, numbered, with a list of their sources.

        The text has at most `max_words` words in all. semsearch.search.assemble_context explains what goes into it.
        Options are those of `search`, but for the number of hits and sentences, which follow from the words. Passages
        that probably do not answer, at the end of the ranking, are left out: those whose relevance is below `floor`,
        which is semsearch.results.hits.FLOOR unless `options` or a keyword say otherwise. So the text is empty if
        nothing answers. 0 leaves out none. Of several indexes, citations name the index. Raises UsageError as `search`.
        """
        if not isinstance(max_words, int) or isinstance(max_words, bool):
            raise UsageError(f"max_words must be a whole number, not {max_words!r}")
        if max_words < LEAST_WORDS:
            raise UsageError(f"max_words must be at least {LEAST_WORDS}, not {max_words}; some hundreds are usual")
        chosen = SearchOptions.chosen(_CONTEXT if options is None else options, None, keywords)
        context = self._context(query, replace(chosen, context=0), max_words)
        _log(context.warnings or ())
        return context

    def embed(self, texts: Iterable[str]) -> Float32:
        """Embed texts as the index embeds its sentences: unit vectors, float32. (n) -> (n, d)

        A text without a known word has a zero vector. Raises UsageError while the index has no text.
        """
        return self._one()._embed(strings(texts, "texts"))

    # -- contents ------------------------------------------------------------------------------------------------------

    def documents(self, filters: Sequence[str] = ()) -> Iterator[DocumentInfo]:
        """List the documents of the index that pass all filters, by root and path, without their text.

        `filters` are those of a search (semsearch.search.filters): "guide/" is all below a folder. Documents
        are read some at a time, so that a long list takes little memory; a document that is added or removed meanwhile
        may be in the list or not. Raises UsageError for a filter that makes no sense.
        """
        return self._one()._documents(strings(filters, "filters"))

    def __iter__(self) -> Iterator[DocumentInfo]:
        """List all documents, as `documents` does."""
        return self.documents()

    def document(self, name: str | Path) -> DocumentText:
        """Return a document, by its path or by the id that a program gave it: its title, metadata, format and text.

        A path may be written as hits show it, absolute, or relative to its root. `DocumentText` explains how its text
        is made. Raises SourceError for a path or an id that is not in the index, or is ambiguous.
        """
        return self._one()._document(_named("document", name))

    def passages(
        self,
        name: str | Path,
        *,
        offset: int = 0,
        limit: int = 100,
        sentence: int | None = None,
        passage: int | None = None,
        line: int | None = None,
        page: int | None = None,
    ) -> DocumentPassages:
        """Return some passages of a document, with the places of their sentences: `limit` at most, from `offset` on.

        Where the id of a `sentence` or of a `passage`, a `line` or a `page` is given, those of its group of `limit`:
        of the first of these that the document has. `name` is as for `document`. Raises SourceError, UsageError.
        """
        if offset < 0 or limit < 1:
            raise UsageError(f"give an offset from 0 on and a limit from 1 on, not {offset} and {limit}")
        sought = SoughtPassage(sentence, passage, line, page)
        return self._one()._passages(_named("passages", name), offset, limit, sought)

    def page(self, name: str | Path, page: int) -> PdfPage:
        """Return a page of a PDF, counted from 1: its size, and where its sentences stand on it.

        Raises SourceError for a path that is not in the index, SourceChanged for a file that is no longer what was
        indexed, UsageError for another document or a missing page, MissingExtra.
        """
        return self._one()._page(_named("page", name), page)

    def page_picture(self, name: str | Path, page: int, *, width: int = 1000) -> bytes:
        """Draw a page of a PDF, counted from 1, as PNG, `width` pixels wide; less wide if that is too large.

        Raises as `page`, and SourceError for a page that takes too long.
        """
        if width < 1:
            raise UsageError(f"a picture is at least 1 pixel wide, not {width}")
        return self._one()._page_picture(_named("page_picture", name), page, width)

    def file(self, name: str | Path) -> bytes:
        """Read the file of a document, such as a PDF, if it is still the one that was indexed.

        Raises SourceError for a path that is not in the index, or is ambiguous; UsageError for a text that a program
        added, which is in no file; SourceChanged for a file that has changed, or is in an object store.
        """
        return self._one()._file(_named("file", name))

    def facets(self, filters: Sequence[str] = (), *, values: int = 10) -> Facets:
        """Count the documents that pass all filters by folder, format, date and each key of their metadata.

        A facet is counted as if the filters on its own key were not there, and each of its values has the filter that
        selects it. So many `values` of each, the most frequent. Reads the rows of all documents, 100,000 in two or
        three seconds; asked again before the next write, it is there at once. Raises UsageError for a filter that makes
        no sense.
        """
        if not isinstance(values, int) or isinstance(values, bool) or values < 0:
            raise UsageError(f"values must be a whole number, not {values!r}")
        return self._one()._facets(strings(filters, "filters"), values)

    # -- state ---------------------------------------------------------------------------------------------------------

    def status(self, *, drift: bool = True, stale: bool = True) -> Status:
        """Return counts, settings and size. `stale` lists the files of all roots, `drift` needs the word vectors.

        Of a published snapshot, the files lie elsewhere, and are not listed.
        """
        return self._one()._status(drift=drift, stale=stale)

    def problems(self) -> tuple[Problem, ...]:
        """The files below the roots that are not in the index, or not wholly: each with the reason and what to do.

        Unread are files of unknown formats, damaged, encrypted and overlarge ones, and folders that cannot be listed.
        Partly read are files with scanned pages, attachments, broken bytes, and those whose encoding was detected with
        doubt. Hidden and ignored files are not listed. Lists all roots' files; a published snapshot knows those of the
        last sync.
        """
        return self._one()._problems()

    def checkup(self, *, stale: bool = True) -> Checkup:
        """Return the health of the index: its status, what takes how much space, and recommended commands.

        `stale` lists the files of all roots. Needs the word vectors. The commands are for the machine of the index.
        """
        return self._one()._checkup(stale=stale)

    def map_status(self) -> MapStatus:
        """Return whether there is a map, whether it is up to date, and the progress of one in the making."""
        return self._one()._map_status()

    def map_passages(self, ids: Sequence[int]) -> list[MapPassage]:
        """Return the passages behind points of the map, by their ids; those that have gone are left out."""
        return self._one()._map_passages(ids)

    @abstractmethod
    def close(self) -> None:
        """Close what is open: files or connections. An index here cannot be used any more then: UsageError."""

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    # -- the primitives: what all implementations have -------------------------------------------------------------

    @abstractmethod
    def _search(self, queries: Sequence[str], options: SearchOptions) -> Sequence[Hits]: ...

    @abstractmethod
    def _similar(
        self, example: Hit | str, line: int | None, options: SearchOptions, *, same_document: bool
    ) -> Hits: ...

    @abstractmethod
    def _explain(self, query: str, hit: Hit, mode: Mode | None) -> Explanation: ...

    @abstractmethod
    def _context(self, query: str, options: SearchOptions, max_words: int) -> Context: ...

    def _names(self) -> Sequence[str]:
        """The names of the indexes that are searched as one."""
        return ()

    def _one(self) -> SingleIndex:
        """This, if it is a single index. Raises UsageError for several."""
        raise UsageError(f"this needs a single index, not {', '.join(self._names())} together; choose one of them")


class SingleIndex(Searchable):
    """One index, here or on a server, which can be asked for its contents and its state too."""

    def _one(self) -> SingleIndex:
        return self

    @abstractmethod
    def _embed(self, texts: Sequence[str]) -> Float32: ...

    @abstractmethod
    def _documents(self, filters: Sequence[str]) -> Iterator[DocumentInfo]: ...

    @abstractmethod
    def _document(self, name: str) -> DocumentText: ...

    @abstractmethod
    def _passages(self, name: str, offset: int, limit: int, sought: SoughtPassage) -> DocumentPassages: ...

    @abstractmethod
    def _page(self, name: str, page: int) -> PdfPage: ...

    @abstractmethod
    def _page_picture(self, name: str, page: int, width: int) -> bytes: ...

    @abstractmethod
    def _file(self, name: str) -> bytes: ...

    @abstractmethod
    def _facets(self, filters: Sequence[str], values: int) -> Facets: ...

    @abstractmethod
    def _status(self, *, drift: bool, stale: bool) -> Status: ...

    @abstractmethod
    def _problems(self) -> tuple[Problem, ...]: ...

    @abstractmethod
    def _checkup(self, *, stale: bool) -> Checkup: ...

    @abstractmethod
    def _map_status(self) -> MapStatus: ...

    @abstractmethod
    def _map_passages(self, ids: Sequence[int]) -> list[MapPassage]: ...


def _check_ranking(mode: Mode | None, method: str) -> None:
    if mode == "exact":
        raise UsageError(f"{method} needs a mode that ranks ({', '.join(RANKING)}), not exact, which lists")


def _named(method: str, name: object) -> str:
    """The path or id of a document, as text."""
    if not isinstance(name, str | Path):
        raise UsageError(f"{method} takes a path or an id, not {name!r}")
    return str(name)


def _log(warnings: Iterable[str]) -> None:
    for warning in warnings:
        logger.warning("%s", warning)
