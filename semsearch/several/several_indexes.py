"""`SeveralIndexes`: indexes that are searched as one. Each answers, and their answers are fused to one ranking."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar, Unpack, cast
from weakref import ref

from semsearch import tuning
from semsearch.errors import SourceError, UsageError
from semsearch.index import Index
from semsearch.published.naming import place_named
from semsearch.results.context import Context
from semsearch.results.floor import FLOOR, strong_part
from semsearch.results.hit_list import Hits
from semsearch.results.hits import Hit, Mode
from semsearch.results.options import SearchKeywords, SearchOptions, Syntax, strings
from semsearch.search.ranking.reranking import rerank
from semsearch.search.telling import ToldWarning, gathered, log_common
from semsearch.several.boosting import DividedBoosts
from semsearch.several.folding import fold
from semsearch.several.fusing import fuse_alike, fuse_answers
from semsearch.several.names import names_of

if TYPE_CHECKING:
    from semsearch.results.explanation import Explanation
    from semsearch.results.reranker import Reranker
    from semsearch.search.searcher import Searcher
    from semsearch.word_vectors.loading import WordVectorsLike

Result = TypeVar("Result")
_MORE = 20  # hits that each index is asked for beyond the page: their order changes when scores are made comparable


class SeveralIndexes:
    """Indexes that are searched as one: one ranking, in which each hit says its `index`. A context manager.

    Scores are made comparable as semsearch.several.fusing explains. Threads may share it. The indexes keep their own
    fits, so that none has to be made anew when they are searched together; each answers from its own generation.
    """

    def __init__(self, indexes: Mapping[str, Index], *, reranker: Reranker | None = None) -> None:
        """Take opened indexes by names. A `reranker` reads the first hits of all, and those of each do not count."""
        if not isinstance(indexes, Mapping) or not all(isinstance(index, Index) for index in indexes.values()):
            raise UsageError(
                f"indexes are given by names, as {{'notes': Index.open('indexes/notes')}}, not {indexes!r}"
            )
        if not indexes:
            raise UsageError("no index is given; give one at least")
        self.indexes: dict[str, Index] = dict(indexes)
        self._reranker = _of_all(reranker, indexes)

    @classmethod
    def open(
        cls, *paths: str | Path, vectors: WordVectorsLike | None = None, reranker: Reranker | None = None
    ) -> SeveralIndexes:
        """Open the indexes in these folders, or at these places. Each is called like its folder, or by more of it.

        A `reranker`, such as `load_reranker` gives, reads the first hits of all. Raises UsageError, and what
        `Index.open` raises.
        """
        names = names_of([place_named(path) or Path(path) for path in paths])
        opened: dict[str, Index] = {}
        try:
            for name, path in names.items():
                opened[name] = Index.open(path, vectors=vectors)
        except BaseException:
            for index in opened.values():
                index.close()
            raise
        return cls(opened, reranker=reranker)

    def search(
        self,
        query: str,
        k: int | None = None,
        *,
        options: SearchOptions | None = None,
        **keywords: Unpack[SearchKeywords],
    ) -> Hits:
        """Find the k passages of all indexes that answer a query best, as `Index.search` does."""
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
        """Find the hits of each of several queries, as `search` does."""
        wanted, chosen = strings(queries, "queries"), SearchOptions.chosen(options, k, keywords)
        boosts = DividedBoosts.of(chosen)
        answers = self._each(
            lambda searcher: searcher.search(wanted, self._wide(boosts.options), reranked=self._reranker is None)
        )
        fused = (
            fuse_answers({name: answers[name][number] for name in answers}, chosen.mode)
            for number in range(len(wanted))
        )
        pairs = zip(wanted, fused, strict=True)
        return [self._page(boosts.given(hits), chosen, query) for query, hits in pairs]

    def similar(
        self,
        like: Hit | str | Path,
        line: int | None = None,
        k: int | None = None,
        *,
        options: SearchOptions | None = None,
        **keywords: Unpack[SearchKeywords],
    ) -> Hits:
        """Find the passages of all indexes most similar to a passage or document of one of them.

        A hit says its index; a path is looked for in all of them. That index compares it as `Index.similar` does, the
        others by its text, embedded by their own fits. Raises SourceError for a path that is in no index.
        """
        if not isinstance(like, Hit | str | Path):
            raise UsageError(f"similar takes a hit, or a path and perhaps a line, not {like!r}")
        chosen = SearchOptions.chosen(options, k, keywords)
        boosts = DividedBoosts.of(chosen)
        subject, wide = (str(like) if isinstance(like, Path) else like), _wider(boosts.options)
        having = self._having(subject, line)
        example = self.indexes[having[0]].searcher.example(subject, line)
        answers = self._each_by_name(
            lambda name, searcher: (
                searcher.similar(subject, line, wide) if name in having else searcher.similar_to_texts(example, wide)
            )
        )
        fused = fuse_alike(answers, chosen.mode, boosted=bool(boosts.options.boosts))
        return self._page(boosts.given(fused), chosen)

    def explain(self, query: str, hit: Hit, *, mode: Mode | None = None) -> Explanation:
        """Explain the score of a hit's passage for a query, by its own index.

        For the query that found the hit here, this explains the hit's own score; for another one, the score that the
        passage has in its index alone.
        """
        if not isinstance(hit, Hit):
            raise UsageError(f"explain takes a query and a hit, not {hit!r}")
        return self._index_of(hit).explain(query, hit, mode=mode)

    def explain_hit(self, hit: Hit) -> Explanation:
        """Explain a hit's own score, as `hit.explain()` does. Raises UsageError if its index has changed since."""
        return self._index_of(hit).explain_hit(hit)

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
        """Assemble the best passages of all indexes as text for a language model; citations name the index."""
        from semsearch.search.context import assemble, candidates_for  # start-up time: a search needs none of it
        from semsearch.several.apart import ids_apart  # likewise

        options = candidates_for(max_words, mode, filters, syntax, floor=floor)
        wide = options if self._reranker is None else self._wide(options)
        found = self._each(lambda searcher: searcher.with_passages(query, wide, reranked=self._reranker is None))
        fused = fuse_answers({name: hits for name, (hits, _) in found.items()}, mode)
        every = self._page(fused, replace(options, floor=0.0), query)
        apart = ids_apart(every, {name: passages for name, (_, passages) in found.items()})
        return assemble(apart.hits, apart.passages, max_words=max_words, floor=floor)

    def close(self) -> None:
        """Close all of the indexes."""
        for index in self.indexes.values():
            index.close()

    def __enter__(self) -> SeveralIndexes:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def __repr__(self) -> str:
        return f"SeveralIndexes({self.indexes!r})"

    def _each(self, ask: Callable[[Searcher], Result]) -> dict[str, Result]:
        """The answer of each index, by its name."""
        return self._each_by_name(lambda _, searcher: ask(searcher))

    def _each_by_name(self, ask: Callable[[str, Searcher], Result]) -> dict[str, Result]:
        """The answer of each index, by its name. What all of them warn of is logged once."""
        answers, told = dict[str, Result](), list[list[ToldWarning]]()
        for name, index in self.indexes.items():
            with gathered() as own:
                answers[name] = ask(name, index.searcher)
            told.append(own)
        log_common(told)
        return answers

    def _wide(self, options: SearchOptions) -> SearchOptions:
        """The options that each index is asked with, so that there are enough hits for a reranker."""
        if self._reranker is None:
            return _wider(options)
        return _wider(replace(options, k=max(options.k, tuning.TUNING.reranked)))

    def _page(self, hits: list[Hit], options: SearchOptions, query: str | None = None) -> Hits:
        """The best k of all hits, with their ranks, less what says the same and what is below the least score.

        For a query, a reranker reads the first of them before.
        """
        is_read = query is not None and self._reranker is not None
        least = -math.inf if options.min_score is None or is_read else options.min_score
        hits = [hit for hit in hits if hit.score >= least]
        page = hits if options.duplicates else fold(hits)
        if query is not None and self._reranker is not None:
            page = rerank(self._reranker, query, page[: self._wide(options).k], options)
        page = strong_part(page[: options.k], options.floor)
        ranked = Hits(replace(hit, rank=rank) for rank, hit in enumerate(page, start=1))
        for hit in ranked:
            hit.found_by(ref(self))
        return ranked

    def _index_of(self, hit: Hit) -> Index:
        if hit.index not in self.indexes:
            said = "does not say its index" if hit.index is None else f"is of the index {hit.index!r}"
            raise UsageError(f"this hit in {hit.path} {said}; expected one of {', '.join(self.indexes)}")
        return self.indexes[hit.index]

    def _having(self, like: Hit | str, line: int | None) -> list[str]:
        """The names of the indexes that have a passage or document. Raises SourceError if none has."""
        if isinstance(like, Hit):
            self._index_of(like)
            return [str(like.index)]
        having: list[str] = []
        errors: list[SourceError] = []
        for name, index in self.indexes.items():
            try:
                index.searcher.example(like, line)
                having.append(name)
            except SourceError as error:
                errors.append(error)
        if having:
            return having
        if len(errors) == 1:
            raise errors[0]
        raise SourceError(f"{like} is in none of the indexes {', '.join(self.indexes)}: {errors[0]}")


def _of_all(reranker: Reranker | None, indexes: Mapping[str, Index]) -> Reranker | None:
    """The reranker, with what it keeps of passages beside the index of each."""
    cached_in = getattr(reranker, "cached_in", None)
    return reranker if cached_in is None else cast("Reranker", cached_in({n: each.path for n, each in indexes.items()}))


def _wider(options: SearchOptions) -> SearchOptions:
    """The options that each index is asked with: more hits, of any score. Raises UsageError for ids of passages."""
    if options.passages is not None:
        raise UsageError("an id is of a passage of one index; search that one, not several, for `passages`")
    return replace(options, k=options.k + max(_MORE, options.k // 4), min_score=None, floor=0.0)
