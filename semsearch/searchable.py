"""`Searchable`: what an index, several as one (`MultiIndex`) and those on a server (`RemoteIndex`) are asked.

The signatures, checks and docstrings of searches are here, once. Each class answers with its `_search`, `_similar`,
`_explain` and `_context`.
"""

from __future__ import annotations

import logging
from abc import ABC, abstractmethod
from collections.abc import Iterable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Self, Unpack
from weakref import ref

from semsearch.errors import UsageError
from semsearch.results.hits import FLOOR, Context, Hit, Hits, best_of
from semsearch.results.options import RANKING, Mode, SearchKeywords, SearchOptions, strings, whole_number

if TYPE_CHECKING:
    from semsearch.results.explanation import Explanation

logger = logging.getLogger(__name__)
LEAST_WORDS = 3  # of a context: a number, a word, and a sign that there are more
_CONTEXT = SearchOptions(floor=FLOOR)


class Searchable(ABC):
    """Everything that can be searched: an index here, one on a server, several as one. A context manager.

    Threads may share it. Options are given as `SearchOptions`, by keyword, or both: then the keywords win.
    """

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
        semsearch.filters) decide beforehand which documents may answer, regular expressions
        (`regex`) which passages; `context` adds so many sentences before and after the quoted one. Of near-duplicates,
        which have the same letters and digits, only the best is a hit, and the others are its `duplicates`, unless they
        are requested. `passages` are ids, of hits or of a map: only these may answer; an id is of one index.
        `per_document` bounds the hits of a document, `boosts` (semsearch.filters) prefer some documents,
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
        for warning in hits.warnings:
            logger.warning("%s", warning)
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

        The text has at most `max_words` words in all. semsearch.context explains what goes into it.
        Options are those of `search`, but for the number of hits and sentences, which follow from the words. Passages
        that probably do not answer, at the end of the ranking, are left out: those whose relevance is below `floor`,
        which is semsearch.results.hits.FLOOR unless `options` or a keyword say otherwise. So the text is empty if
        nothing answers. 0 leaves out none. Of several indexes, citations name the index. Raises UsageError as `search`.
        """
        max_words = whole_number("max_words", max_words, least=LEAST_WORDS)
        chosen = SearchOptions.chosen(_CONTEXT if options is None else options, None, keywords)
        context = self._context(query, replace(chosen, context=0), max_words)
        for warning in context.warnings or ():
            logger.warning("%s", warning)
        return context

    @abstractmethod
    def close(self) -> None:
        """Close what is open: files or connections. An index here cannot be used any more then: UsageError."""

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    # -- how each class answers ----------------------------------------------------------------------------------------

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


def _check_ranking(mode: Mode | None, method: str) -> None:
    if mode == "exact":
        raise UsageError(f"{method} needs a mode that ranks ({', '.join(RANKING)}), not exact, which lists")


def path_or_id(method: str, name: object) -> str:
    """The path or id of a document, as text."""
    if not isinstance(name, str | Path):
        raise UsageError(f"{method} takes a path or an id, not {name!r}")
    return str(name)
