"""`MultiIndex`: federated search. Each index answers, and the answers become one.

In hybrid mode an index divides BM25 by the best one that it has for the query, and adds feedback from its own best
passage. So an index that has nothing to the point gives to the best of its poor passages what a good one gets. Both are
put right from what hits know of their scores (`Origin`), without asking again:

    cosine         as it is: each index has its own fit, but cosines remain comparable
    BM25 / best    the best of all indexes
    feedback       times the square of the share that the best passage of the index has of the best of all's score

The idf of words is that over all indexes (`WordSearch.with_idf_of`): by its own, a small index would give a rare word
little, and a large one without it would give its points for the others.

In the other modes scores are compared as they are. docs/research/measurements.md has what was measured: better than
ranks, scores as they are, or scoring the union anew, and about as good as feedback from the very best passage.
"""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import fields, replace
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

from semsearch import tuning
from semsearch.context import candidates_for, context_of
from semsearch.errors import SourceError, UsageError
from semsearch.index import Index
from semsearch.lexical.bm25 import WordSearch
from semsearch.rerankers import Reranker, opened_reranker, options_for, rerank
from semsearch.results.explanation import Explanation
from semsearch.results.hits import DuplicatePassage, Hit, Hits, Occurrences
from semsearch.results.options import Mode, SearchOptions
from semsearch.results.origin import Fused, Weights
from semsearch.search.candidates import weigh
from semsearch.searchable import Searchable
from semsearch.storage.passage_rows import PassageRow
from semsearch.storage.published import published_at
from semsearch.system.parallel import while_wanted
from semsearch.text.tokens import letters_of

if TYPE_CHECKING:
    from semsearch.results.hits import Context
    from semsearch.word_vectors.table import WordVectorsLike

Named = TypeVar("Named", bound=Path | str)


class MultiIndex(Searchable):
    """Indexes that are searched as one: one ranking, in which each hit says its `index`. A context manager.

    Scores are made comparable as `fuse_answers` explains. Threads may share it. The indexes keep their own fits, so
    that none has to be made anew when they are searched together; each answers from its own generation.
    """

    def __init__(self, indexes: Mapping[str, Index], *, reranker: Reranker | str | None = None) -> None:
        """Take opened indexes by names. A `reranker` reads the first hits of all, and those of each do not count."""
        if not isinstance(indexes, Mapping) or not all(
            isinstance(name, str) and isinstance(index, Index) for name, index in indexes.items()
        ):
            raise UsageError(f"expected indexes by name, as {{'notes': Index.open('indexes/notes')}}, got {indexes!r}")
        if not indexes:
            raise UsageError("no index is given; give at least one")
        self.indexes: dict[str, Index] = dict(indexes)
        self._reranker = opened_reranker(reranker)

    @classmethod
    def open(
        cls, *paths: str | Path, vectors: WordVectorsLike | None = None, reranker: Reranker | str | None = None
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

    # -- how it answers ------------------------------------------------------------------------------------------------

    def _search(self, queries: Sequence[str], options: SearchOptions) -> list[Hits]:
        wide, federated = _wider(options_for(self._reranker, options)), self._other_lexical()
        answers = {
            name: index.searcher.search(queries, wide, federated=federated[name])
            for name, index in self.indexes.items()
        }
        by_query = ({name: answers[name][number] for name in answers} for number in range(len(queries)))
        return [self._fused(hits, options, query) for query, hits in while_wanted(zip(queries, by_query, strict=True))]

    def _similar(self, example: Hit | str, line: int | None, options: SearchOptions, *, same_document: bool) -> Hits:
        """Of the hit's own index, or of the first that has the document: vectors of other indexes are of other fits."""
        own = {str(example.index): self._index_of(example)} if isinstance(example, Hit) else self.indexes
        errors, options = list[SourceError](), _for_each(options, options.k)
        for name, index in own.items():
            try:
                hits = index.searcher.similar(example, line, options, same_document=same_document)
            except SourceError as error:
                errors.append(error)
            else:
                return hits.instead([replace(hit, index=name) for hit in hits])
        if len(errors) == 1:
            raise errors[0]
        raise SourceError(f"{errors[0]} (asked: {', '.join(self.indexes)})")

    def _explain(self, query: str, hit: Hit, mode: Mode | None) -> Explanation:
        return self._index_of(hit).searcher.explain(query, hit, mode, federated=self._other_lexical()[str(hit.index)])

    def _context(self, query: str, options: SearchOptions, max_words: int) -> Context:
        wanted = candidates_for(options, max_words)
        wide = options_for(self._reranker, wanted)
        wide, federated = _for_each(wide, wide.k), self._other_lexical()
        answers = {
            name: index.searcher.with_passages(query, wide, federated=federated[name])
            for name, index in self.indexes.items()
        }
        hits = self._fused({name: hits for name, (hits, _) in answers.items()}, wanted, query)
        moved, rows = namespaced(hits, {name: passages for name, (_, passages) in answers.items()})
        return context_of(hits.instead(moved), rows, wanted, max_words=max_words)

    # -- how they answer as one ----------------------------------------------------------------------------------------

    def _other_lexical(self) -> dict[str, list[WordSearch]]:
        """For each index the lexical retrievers of the others."""
        lexical = {name: index.searcher.lexical() for name, index in self.indexes.items()}
        return {name: [search for other, search in lexical.items() if other != name] for name in lexical}

    def _fused(self, answers: Mapping[str, Hits], options: SearchOptions, query: str) -> Hits:
        """The hits of all indexes for a query, as one, read by the reranker if there is one."""
        hits = together(answers, _ordered(fuse_answers(answers, options.mode), options))
        if self._reranker is None or options.mode == "exact":
            return hits
        return rerank(self._reranker, query, hits[: _wider(options_for(self._reranker, options)).k])

    def _index_of(self, hit: Hit) -> Index:
        if hit.index not in self.indexes:
            origin = "has no index name" if hit.index is None else f"is of the index {hit.index!r}"
            raise UsageError(f"this hit in {hit.path} {origin}; expected one of {', '.join(self.indexes)}")
        return self.indexes[hit.index]


def _ordered(hits: Sequence[Hit], options: SearchOptions) -> Sequence[Hit]:
    """Hits in order, without near-duplicates of better ones; those of mode "exact" as they are."""
    if options.mode == "exact":
        return hits
    ordered = sorted(hits, key=lambda hit: -hit.score)
    return ordered if options.duplicates else deduplicate(ordered)


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


# -- One answer of several ---------------------------------------------------------------------------------------------

Answers = Mapping[str, Sequence[Hit]]  # by the name of the index, in one order
_STEP = 1 << 48  # more than an index has passages, sentences or documents; and neighbours of two indexes never meet


def together(answers: Mapping[str, Hits], ordered: Sequence[Hit]) -> Hits:
    """Hits of several indexes, in order, with what all of these say of the query, and what any of them corrected.

    The verdict is that of the index of the first hit. A filter or phrase that one of them knows needs no notice.
    """
    first, *others = answers.values()
    subjects = [{_subject(notice) for notice in hits.notices} for hits in others]
    notices = tuple(notice for notice in first.notices if all(_subject(notice) in of_other for of_other in subjects))
    corrected = dict.fromkeys(correction for hits in (first, *others) for correction in hits.corrected)
    return Hits(
        ordered,
        verdict=answers[str(ordered[0].index)].verdict if ordered else first.verdict,
        missing=tuple(word for word in first.missing if all(word in hits.missing for hits in others)),
        corrected=tuple(corrected),
        notices=notices,
        total=_sum_of([hits.total for hits in (first, *others) if hits.total is not None]),
    )


def _sum_of(totals: Sequence[Occurrences]) -> Occurrences | None:
    if not totals:
        return None
    return Occurrences(*(sum(getattr(total, field.name) for total in totals) for field in fields(Occurrences)))


def _subject(notice: str) -> str:
    """The subject of a notice, without an index's own suggestion."""
    return notice.partition(";")[0]


def fuse_answers(answers: Answers, mode: Mode) -> list[Hit]:
    """All hits of a query, best first, each with the name of its index, and an origin that explains the new score.

    Of equal scores, the index that was named first comes first. Ranks are still those of each index. In mode "exact"
    the hits of each index follow those of the one before.
    """
    if mode == "exact":
        return [replace(hit, index=name) for name, hits in answers.items() for hit in hits]
    own_weights = [hits[0].origin.weights for hits in answers.values() if hits and hits[0].origin is not None]
    weights = _common(own_weights) if mode == "hybrid" and own_weights else None
    bests = {
        name: max((sum(_points(hit, weights)) for hit in hits), default=0.0) if weights else 0.0
        for name, hits in answers.items()
    }
    top, all_hits = max(bests.values(), default=0.0), list[Hit]()
    for name, hits in answers.items():
        share = min(max(bests[name] / top, 0.0), 1.0) ** 2 if top > 0 else 1.0
        all_hits += [_comparable(replace(hit, index=name), tuple(answers), weights, share) for hit in hits]
    return sorted(all_hits, key=lambda hit: -hit.score)


def _common(weights_of_indexes: Sequence[Weights]) -> Weights:
    """The weights for the hits of all indexes: those of an index where both retrievers find something, if any."""
    best = max(weights.best if weights.lexical else 0.0 for weights in weights_of_indexes)
    both = next((weights for weights in weights_of_indexes if weights.lexical and weights.dense), None)
    if both is not None:
        return replace(both, best=best)
    return weigh(is_dense=any(weights.dense for weights in weights_of_indexes), best=best)


def _points(hit: Hit, weights: Weights) -> tuple[float, float]:
    """The points of a hit from both retrievers, by these weights."""
    return weights.dense * (hit.dense or 0.0), weights.lexical * (hit.lexical or 0.0) / weights.best


def _comparable(hit: Hit, indexes: tuple[str, ...], common: Weights | None, share: float) -> Hit:
    """The hit with the score that the common weights give it; as it is, if they are its own, or in another mode."""
    origin = hit.origin
    if origin is None:
        return hit
    own_weights = origin.weights
    weights = own_weights if common is None else replace(common, near=own_weights.near * share)
    fused = Fused(indexes, hit.score, own_weights.best, share if own_weights.near else 1.0)
    origin = replace(origin, weights=weights, fused=fused)
    if weights == own_weights:
        return replace(hit, origin=origin)
    dense, lexical = _points(hit, weights)
    feedback = origin.points.get("feedback", 0.0) * share
    origin = origin.with_points(dense=dense, lexical=lexical, feedback=feedback)
    return replace(hit, score=sum(origin.points.values()), origin=origin)


def deduplicate(hits: Sequence[Hit]) -> list[Hit]:
    """The hits without near-duplicates of a better one, which become its duplicates, with their own."""
    groups: dict[bytes, list[Hit]] = {}
    for hit in hits:
        groups.setdefault(letters_of(hit.passage), []).append(hit)
    return [_with_others(best, others) for best, *others in groups.values()]


def _with_others(best: Hit, others: Sequence[Hit]) -> Hit:
    duplicates = [replace(other, index=best.index) for other in best.duplicates]
    for hit in others:
        duplicates += [_as_duplicate(hit), *(replace(other, index=hit.index) for other in hit.duplicates)]
    return replace(best, duplicates=tuple(duplicates)) if duplicates else best


def _as_duplicate(hit: Hit) -> DuplicatePassage:
    """A hit as a duplicate, which stands at the line of the hit's sentence."""
    return DuplicatePassage(**{field.name: getattr(hit, field.name) for field in fields(DuplicatePassage)})


def namespaced(
    hits: Sequence[Hit], passages: Mapping[str, Mapping[int, PassageRow]]
) -> tuple[list[Hit], dict[int, PassageRow]]:
    """Hits of several indexes, and passages by id, with ids of each index from a number of its own on.

    `passages`: by index.
    """
    firsts = {name: _STEP * number for number, name in enumerate(passages)}
    rows = {
        first + id_: row._replace(
            id=first + row.id, document_id=first + row.document_id, first_sentence=first + row.first_sentence
        )
        for first, of_index in zip(firsts.values(), passages.values(), strict=True)
        for id_, row in of_index.items()
    }
    first_of = [firsts[str(hit.index)] for hit in hits]
    moved = [
        replace(hit, passage_id=first + hit.passage_id, sentence_id=first + hit.sentence_id)
        for hit, first in zip(hits, first_of, strict=True)
    ]
    return moved, rows
