"""What can be asked of an index, as `Index` has it: checked here, answered by a `Searcher`."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Unpack

from semsearch.errors import UsageError
from semsearch.results.floor import FLOOR
from semsearch.results.hit_list import Hits
from semsearch.results.hits import Hit, Mode
from semsearch.results.options import SearchKeywords, SearchOptions, Syntax, strings

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

    from semsearch.results.context import Context
    from semsearch.results.explanation import Explanation
    from semsearch.search.searcher import Searcher


class AskedIndex:
    """The methods of an index that answer. Another class has its files, and makes its searcher."""

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
        semsearch.search.filtering.filters) decide beforehand which documents may answer; `context` adds so many
        sentences before and after the quoted one. Of passages that say the same (see semsearch.text.near_duplicates)
        only the best is a hit, and the others are its `duplicates`, unless they are asked for. `passages` are ids, of
        hits or of a map: only these may answer. A query of which no word is known is answered by its words alone, with
        a logged warning; in mode "dense" it finds nothing. Raises UsageError for a query without words, for options
        that make no sense, such as k = 0, and for unknown ones; VectorsMismatch if the word vectors are not those that
        the index was built with.
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
        """Find the hits of each of several queries, as `search` does. All of them see the same generation."""
        chosen = SearchOptions.chosen(options, k, keywords)
        return [Hits(found) for found in self._asking().search(strings(queries, "queries"), chosen)]

    def similar(
        self,
        like: Hit | str | Path,
        line: int | None = None,
        k: int | None = None,
        *,
        options: SearchOptions | None = None,
        **keywords: Unpack[SearchKeywords],
    ) -> Hits:
        """Find the k passages most similar to a passage or document of the index. Options are those of `search`.

        The passage is that of a hit, or the one at a line of a document, which is given by its path or id, or at a
        place as hits cite it, "talk.pptx slide 3"; without either, it is the whole document, represented by the
        direction of the sum of its passages' vectors. Meaning is compared by the stored vectors; words, by the twenty
        that say most about the passage or document. It is no answer itself, nor are a passage's neighbours in its
        section. No reranker reads these hits, since there is no query. Raises SourceError for a path that is not in the
        index, or is ambiguous; UsageError for a line that the document does not have, and for a hit whose passage has
        changed.
        """
        if not isinstance(like, Hit | str | Path):
            raise UsageError(f"similar takes a hit, or a path and perhaps a line, not {like!r}")
        chosen = SearchOptions.chosen(options, k, keywords)
        return Hits(self._asking().similar(str(like) if isinstance(like, Path) else like, line, chosen))

    def explain(self, query: str, hit: Hit, *, mode: Mode | None = None) -> Explanation:
        """Explain the score of a hit's passage for a query.

        For the query that found the hit, this explains the hit's own score, with its filters and its reranker. For
        another query or mode, or if the index has changed since, it explains the score that the passage has now,
        without filters. `mode` is by default that of the hit if this query found it, otherwise "hybrid". Raises
        UsageError if the passage has gone or changed.
        """
        if not isinstance(hit, Hit):
            raise UsageError(f"explain takes a query and a hit, not {hit!r}")
        return self._asking().explain(query, hit, mode)

    def explain_hit(self, hit: Hit) -> Explanation:
        """Explain a hit's own score, as `hit.explain()` does, also for a hit that was stored or sent with its origin.

        Raises UsageError if the index has changed since the hit was found, or if the hit has no origin.
        """
        if not isinstance(hit, Hit) or hit.origin is None:
            raise UsageError(f"explain_hit takes a hit with its origin, not {hit!r}; use explain(query, hit)")
        return self._asking().explain_hit(hit)

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
        """Assemble the best passages for a query as text for a language model, numbered, with a list of their sources.

        The text has at most `max_words` words in all. semsearch.search.context explains what goes into it. Passages
        that probably do not answer, at the end of the ranking, are left out: those whose relevance is below `floor`. So
        the text is empty if nothing answers. 0 leaves out none.
        """
        from semsearch.search.context import candidates_for  # start-up time: only this needs it

        options = candidates_for(max_words, mode, filters, syntax, floor=floor)
        return self._asking().context(query, options, max_words=max_words)

    def embed(self, texts: Iterable[str]) -> npt.NDArray[np.float32]:
        """Embed texts as the index embeds its sentences: unit vectors, float32. (n) -> (n, d)

        A text without a known word has a zero vector. Raises UsageError while the index has no text.
        """
        return self._asking().embed(strings(texts, "texts"))

    @property
    def searcher(self) -> Searcher:
        """The searcher that answers for this index, for modules of semsearch that ask for more than hits."""
        return self._asking()

    def _asking(self) -> Searcher:
        """The searcher of the index, made when it is first needed."""
        raise NotImplementedError
