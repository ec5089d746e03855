"""`MultiIndex`: federated search. Each index answers, and the answers become one (semsearch.search.fuse_indexes)."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar, cast

from semsearch import tuning
from semsearch.errors import SourceError, UsageError
from semsearch.index import Index
from semsearch.results.hits import Hit, Hits, best_of
from semsearch.results.options import Mode, SearchOptions
from semsearch.search.assemble_context import assemble, candidates_for
from semsearch.search.exact_words import exact_first
from semsearch.search.fuse_indexes import common, deduplicate, fuse_alike, fuse_answers, namespaced
from semsearch.searchable import Searchable
from semsearch.storage.published import published_at
from semsearch.system.parallel import while_wanted

if TYPE_CHECKING:
    from semsearch.rerankers.reranker import Reranker
    from semsearch.results.explanation import Explanation
    from semsearch.results.hits import Context
    from semsearch.word_vectors.loading import WordVectorsLike

Named = TypeVar("Named", bound=Path | str)


class MultiIndex(Searchable):
    """Indexes that are searched as one: one ranking, in which each hit says its `index`. A context manager.

    Scores are made comparable as `fuse_answers` explains. Threads may share it. The indexes keep their own fits, so
    that none has to be made anew when they are searched together; each answers from its own generation.
    """

    def __init__(self, indexes: Mapping[str, Index], *, reranker: Reranker | None = None) -> None:
        """Take opened indexes by names. A `reranker` reads the first hits of all, and those of each do not count."""
        if not isinstance(indexes, Mapping) or not all(isinstance(index, Index) for index in indexes.values()):
            raise UsageError(f"expected indexes by name, as {{'notes': Index.open('indexes/notes')}}, got {indexes!r}")
        if not indexes:
            raise UsageError("no index is given; give at least one")
        self.indexes: dict[str, Index] = dict(indexes)
        self._reranker = _of_all(reranker, indexes)

    @classmethod
    def open(
        cls, *paths: str | Path, vectors: WordVectorsLike | None = None, reranker: Reranker | None = None
    ) -> MultiIndex:
        """Open the indexes in these folders, or at these places. Each is called like its folder, or by more of it.

        A `reranker`, such as `load_reranker` gives, reads the first hits of all. Raises UsageError, and what
        `Index.open` raises.
        """
        names = names_of([published_at(path) or Path(path) for path in paths])
        opened: dict[str, Index] = {}
        try:
            for name, path in names.items():
                opened[name] = Index.open(path, vectors=vectors)
        except BaseException:
            for index in opened.values():
                index.close()
            raise
        return cls(opened, reranker=reranker)

    def close(self) -> None:
        """Close all of the indexes."""
        for index in self.indexes.values():
            index.close()

    def __repr__(self) -> str:
        return f"MultiIndex({self.indexes!r})"

    # -- the primitives of `Searchable` --------------------------------------------------------------------------------

    def _search(self, queries: Sequence[str], options: SearchOptions) -> list[Hits]:
        wide, is_reranked = self._wide(options), self._reranker is None
        answers = {
            name: index.searcher.search(queries, wide, reranked=is_reranked) for name, index in self.indexes.items()
        }
        by_query = ({name: answers[name][number] for name in answers} for number in range(len(queries)))
        return [self._fused(hits, options, query) for query, hits in while_wanted(zip(queries, by_query, strict=True))]

    def _similar(self, example: Hit | str, line: int | None, options: SearchOptions, *, same_document: bool) -> Hits:
        wide, having = _wider(options), self._having(example, line)
        texts = self.indexes[having[0]].searcher.example(example, line)
        answers = {
            name: index.searcher.similar(example, line, wide, same_document=same_document)
            if name in having
            else index.searcher.similar_to_texts(texts, wide)
            for name, index in self.indexes.items()
        }
        hits = fuse_alike(answers, options.mode, boosted=bool(options.boosts))
        return _ordered(common(answers.values()).instead(hits), options)

    def _explain(self, query: str, hit: Hit, mode: Mode | None) -> Explanation:
        return self._index_of(hit).explain(query, hit, mode=mode)

    def _explain_hit(self, hit: Hit) -> Explanation:
        return self._index_of(hit).explain_hit(hit)

    def _context(self, query: str, options: SearchOptions, max_words: int) -> Context:
        wanted = candidates_for(options, max_words)
        wide = self._wide(wanted) if self._reranker is not None else _for_each(wanted, wanted.k)
        is_reranked = self._reranker is None
        answers = {
            name: index.searcher.with_passages(query, wide, reranked=is_reranked)
            for name, index in self.indexes.items()
        }
        hits = self._fused({name: hits for name, (hits, _) in answers.items()}, wanted, query)
        every = best_of(hits, replace(wanted, floor=0.0))
        moved, rows = namespaced(every, {name: passages for name, (_, passages) in answers.items()})
        return assemble(every.instead(moved), rows, max_words=max_words, floor=options.floor)

    def _names(self) -> Sequence[str]:
        return tuple(self.indexes)

    # -- how they answer as one ----------------------------------------------------------------------------------------

    def _wide(self, options: SearchOptions) -> SearchOptions:
        """The options that each index is asked with, so that there are enough hits for a reranker."""
        if self._reranker is None:
            return _wider(options)
        return _wider(replace(options, k=max(options.k, tuning.TUNING.reranked)))

    def _fused(self, answers: Mapping[str, Hits], options: SearchOptions, query: str) -> Hits:
        """The hits of all indexes for a query, as one, read by the reranker if there is one."""
        hits = common(answers.values()).instead(fuse_answers(answers, options.mode))
        if options.mode == "exact":
            return hits
        hits = _ordered(hits, options)
        if self._reranker is None:
            return hits
        from semsearch.search.reranking import rerank  # heavy, and few searches rerank

        return rerank(self._reranker, query, hits[: self._wide(options).k])

    def _index_of(self, hit: Hit) -> Index:
        if hit.index not in self.indexes:
            origin = "has no index name" if hit.index is None else f"is of the index {hit.index!r}"
            raise UsageError(f"this hit in {hit.path} {origin}; expected one of {', '.join(self.indexes)}")
        return self.indexes[hit.index]

    def _having(self, example: Hit | str, line: int | None) -> list[str]:
        """The names of the indexes that have a passage or document. Raises SourceError if none has."""
        if isinstance(example, Hit):
            self._index_of(example)
            return [str(example.index)]
        having: list[str] = []
        errors: list[SourceError] = []
        for name, index in self.indexes.items():
            try:
                index.searcher.example(example, line)
                having.append(name)
            except SourceError as error:
                errors.append(error)
        if having:
            return having
        if len(errors) == 1:
            raise errors[0]
        raise SourceError(f"{example} is in none of the indexes {', '.join(self.indexes)}: {errors[0]}")


def _ordered(hits: Hits, options: SearchOptions) -> Hits:
    """Hits in order, without near-duplicates of better ones."""
    ordered = exact_first(hits)
    return hits.instead(ordered if options.duplicates else deduplicate(ordered))


def _of_all(reranker: Reranker | None, indexes: Mapping[str, Index]) -> Reranker | None:
    """The reranker, with what it keeps of passages beside the index of each."""
    cached_in = getattr(reranker, "cached_in", None)
    return (
        reranker if cached_in is None else cast("Reranker", cached_in({n: index.path for n, index in indexes.items()}))
    )


def _wider(options: SearchOptions) -> SearchOptions:
    """The options that each index is asked with: more hits, of any score. Raises UsageError for ids of passages."""
    return _for_each(options, k=options.k + max(tuning.TUNING.of_several, options.k // 4))


def _for_each(options: SearchOptions, k: int) -> SearchOptions:
    if options.passages is not None:
        raise UsageError("`passages` are ids of one index; search that index alone")
    return replace(options, k=k, min_score=None, floor=0.0)


def names_of(folders: Sequence[Named]) -> dict[str, Named]:
    """Name folders, in their order; one that is given twice is named once. `a/docs` and `b/docs` need two parts.

    A text is a URI, and is named by its parts too.
    """
    places: dict[str, Named] = {}
    for folder in folders:
        places.setdefault(folder if isinstance(folder, str) else os.path.realpath(folder), folder)
    parts = 1
    while True:
        names = {place: "/".join(Path(place).parts[-parts:]) for place in places}
        if max(Counter(names.values()).values(), default=1) == 1:
            return {names[place]: folder for place, folder in places.items()}
        parts += 1
