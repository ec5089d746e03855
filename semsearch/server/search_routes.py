"""Operations that ask an index: search, search/batch, similar, explain, context, embeddings."""

from __future__ import annotations

from base64 import b64encode
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Annotated, Any, Literal

from pydantic import Field, StringConstraints

from semsearch.errors import UsageError
from semsearch.results.explanation import Explanation
from semsearch.results.hits import FLOOR, Citation, Hit, Hits, Occurrences, Verdict
from semsearch.results.options import Mode, SearchOptions, Syntax
from semsearch.results.origin import Correction
from semsearch.server.open_indexes import ChosenIndexes, OpenIndexes
from semsearch.server.operations import FilterParameters, IndexParameters, Line, Operations, Parameters
from semsearch.text.tokens import words

router = Operations()

# -- Parameters --------------------------------------------------------------------------------------------------------

_MOST_PASSAGES = 250_000  # passages that a search may be restricted to: about as many as fit into a body
_Text = Annotated[str, StringConstraints(max_length=10_000)]
_Query = Annotated[_Text, Field(description="The query, in any words.", examples=["how do I rotate the keys?"])]
_Origin = Annotated[bool, Field(description="Include each hit's origin, which explain needs to reproduce its score.")]
_Floor = Annotated[float, Field(ge=0, le=1, description="Relevance threshold: drop hits at the end below it; 0: none.")]


class RankingParameters(FilterParameters):
    """How an index, or several as one, are searched."""

    index: Line | tuple[Line, ...] | None = Field(  # type: ignore[assignment]  # one name, or several
        None,
        description="The name of an index, or the names of several to search as one; default: all of the server.",
    )
    mode: Mode = Field(
        "hybrid", description="dense (by meaning), lexical (by words), hybrid (both), or exact (every occurrence)."
    )
    min_score: float | None = Field(None, description="Drop hits with a lower score.")
    duplicates: bool = Field(False, description="Return near-duplicates as hits of their own.")
    syntax: Syntax = Field("full", description='full: "phrases" are required and -words excluded; plain: all is text.')
    per_document: int | None = Field(None, ge=1, le=1000, description="Maximum number of hits per document.")
    boosts: tuple[Line, ...] = Field(
        (),
        max_length=20,
        description="Add to the scores of documents that match (guide/^0.1) or are recent (recent:30d^0.1).",
    )
    regex: tuple[Line, ...] = Field(
        (), max_length=20, description="Regular expressions: a passage's text must match all."
    )
    passages: tuple[Annotated[int, Field(ge=0, le=1 << 53)], ...] | None = Field(
        None, max_length=_MOST_PASSAGES, description="Search only these passages, by their ids in hits and in the map."
    )
    floor: _Floor = 0.0

    @property
    def names(self) -> Sequence[str]:
        """The names of the indexes; none for all."""
        index: Any = self.index
        return [index] if isinstance(index, str) else index or ()

    def options(self) -> SearchOptions:
        """The options of the search."""
        names = type(self).model_fields.keys() & SearchOptions.__dataclass_fields__.keys()
        return SearchOptions(**{name: getattr(self, name) for name in names})


class HitsParameters(RankingParameters):
    """How hits are searched."""

    k: int = Field(10, ge=1, le=1000, description="Maximum number of hits.")
    offset: int = Field(0, ge=0, le=1000, description="Number of hits to skip: next of the answer before.")
    context: int = Field(0, ge=0, le=100, description="Number of sentences before and after.")

    def options(self) -> SearchOptions:
        """The options of the search, with the hits that are skipped."""
        return replace(RankingParameters.options(self), k=self.offset + self.k)

    def page(self, hits: Hits, *, origin: bool) -> dict[str, Any]:
        """The part of an answer that has the hits."""
        plain, following = hits.to_dict(origin=origin), self.offset + self.k
        return {**plain, "hits": plain["hits"][self.offset :], "next": following if len(hits) == following else None}


class SearchParameters(HitsParameters):
    """A search."""

    query: _Query
    origin: _Origin = False


class BatchBody(HitsParameters):
    """Several searches with equal options."""

    queries: tuple[_Text, ...] = Field(max_length=1000, description="The queries.")
    origin: _Origin = False


class SimilarParameters(HitsParameters):
    """A search by example."""

    path: str | None = Field(None, max_length=4000, description="The path or id of a document.")
    line: int | None = Field(None, ge=1, description="The line of the passage; default: the whole document.")
    same_document: bool = Field(False, description="Also find other sections of the passage's own document.")


class SimilarBody(SimilarParameters):
    """A search by example, which may be a hit."""

    hit: dict[str, Any] | None = Field(None, description="A hit as returned, with its origin if possible.")


class ContextParameters(RankingParameters):
    """A context for a language model."""

    query: _Query
    max_words: int = Field(800, ge=1, le=100_000, description="Maximum number of words.")
    floor: _Floor = FLOOR


class ExplainBody(IndexParameters):
    """A hit whose score is to be explained."""

    hit: dict[str, Any] = Field(description="A hit as returned, with its origin.")
    query: _Text = Field(description="The query; the one that found the hit, to explain the hit's own score.")
    mode: Mode | None = Field(None, description="Default: the hit's mode.")


# -- Answers -----------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, kw_only=True)
class QueryHits:
    """The hits of one query."""

    query: str
    # null in mode exact; whether the index answers the query; "not here": the hits are only the nearest passages
    verdict: Verdict | None
    answered: bool  # whether there are hits, and the verdict is another
    missing: tuple[str, ...]  # words of the query that no document has
    hits: tuple[Hit, ...]  # with their `origin` only if requested
    next: int | None  # the offset of the next hits; null at the end
    total: Occurrences | None = None  # in mode exact
    corrected: tuple[Correction, ...] | None = None
    warnings: tuple[str, ...] | None = None  # e.g. about filters, phrases, and indexes that cannot be opened


@dataclass(frozen=True, kw_only=True)
class _OfIndexes:
    index: str | None  # null for several indexes
    indexes: tuple[str, ...] | None = None  # these, then
    mode: Mode


@dataclass(frozen=True, kw_only=True)
class SearchAnswer(QueryHits, _OfIndexes):
    """The hits of a query."""


@dataclass(frozen=True, kw_only=True)
class BatchAnswer(_OfIndexes):
    """The hits of each query of a batch, in order. All come from one generation of each index."""

    answers: tuple[QueryHits, ...]


@dataclass(frozen=True, kw_only=True)
class SimilarAnswer(_OfIndexes):
    """The hits that are similar to a passage or a document."""

    hits: tuple[Hit, ...]
    next: int | None  # as in a search
    warnings: tuple[str, ...] | None = None  # as in a search


@dataclass(frozen=True, kw_only=True)
class ContextAnswer(_OfIndexes):
    """A context with its query."""

    query: str
    text: str
    words: int
    citations: tuple[Citation, ...]
    weak: int | None = None  # number of passages, if nothing answers
    verdict: Verdict | None = None
    missing: tuple[str, ...] | None = None
    warnings: tuple[str, ...] | None = None


# -- Operations --------------------------------------------------------------------------------------------------------


@router.operation("GET", "/v1/search", SearchAnswer)
@router.operation("POST", "/v1/search", SearchAnswer, name="search_by_body")
def search(indexes: OpenIndexes, parameters: SearchParameters) -> dict[str, Any]:
    """Find the best passages for a query"""
    chosen = indexes.choose(parameters.names)
    hits = _noted(chosen, chosen.searchable.search(parameters.query, options=parameters.options()))
    return {**_head(chosen, parameters), "query": parameters.query, **parameters.page(hits, origin=parameters.origin)}


def _head(chosen: ChosenIndexes, parameters: RankingParameters) -> dict[str, Any]:
    """The part of an answer that names the searched index or indexes."""
    several = {"indexes": [*chosen.by_name]} if chosen.name is None else {}
    return {"index": chosen.name, **several, "mode": parameters.mode}


def _noted(chosen: ChosenIndexes, hits: Hits) -> Hits:
    """Hits that also tell of indexes that cannot be opened."""
    return hits.instead(hits, notices=(*hits.notices, chosen.note)) if chosen.note else hits


@router.operation("POST", "/v1/search/batch", BatchAnswer)
def search_batch(indexes: OpenIndexes, body: BatchBody) -> dict[str, Any]:
    """Find the best passages for each of several queries"""
    chosen = indexes.choose(body.names)
    results = chosen.searchable.search_many(body.queries, options=body.options())
    answers = [
        {"query": query, **body.page(_noted(chosen, hits), origin=body.origin)}
        for query, hits in zip(body.queries, results, strict=True)
    ]
    return {**_head(chosen, body), "answers": answers}


@router.operation("GET", "/v1/similar", SimilarAnswer)
def similar(indexes: OpenIndexes, parameters: SimilarParameters) -> dict[str, Any]:
    """Find the passages most similar to a passage or document"""
    return similar_to_hit(indexes, SimilarBody(**dict(parameters)))


@router.operation("POST", "/v1/similar", SimilarAnswer)
def similar_to_hit(indexes: OpenIndexes, parameters: SimilarBody) -> dict[str, Any]:
    """Find the passages most similar to a passage or document"""
    if (parameters.path is None) == (parameters.hit is None):
        raise UsageError("give either the path of a document or a hit")
    example: Any = parameters.path if parameters.hit is None else Hit.from_dict(parameters.hit)
    chosen = indexes.choose(parameters.names)
    hits = chosen.searchable.similar(
        example, parameters.line, same_document=parameters.same_document, options=parameters.options()
    )
    return {**_head(chosen, parameters), **parameters.page(_noted(chosen, hits), origin=False)}


@router.operation("POST", "/v1/explain")
def explain(indexes: OpenIndexes, body: ExplainBody) -> Explanation:
    """Explain the score of a hit for a query. The default index is the one that the hit names"""
    hit = Hit.from_dict(body.hit)
    if hit.origin is not None:
        check_origin(hit)
    name, fused = hit.index if body.index is None else body.index, hit.origin and hit.origin.fused
    if fused and hit.index == name:  # the indexes have weighed its words together
        return indexes.choose(fused.indexes).searchable.explain(body.query, hit, mode=body.mode)
    return indexes.get(name).explain(body.query, hit, mode=body.mode)


def check_origin(hit: Hit) -> None:
    """Raise UsageError for an origin that no search returns."""
    origin = hit.origin
    assert origin is not None  # only such hits are checked
    weights = origin.weights
    if not 0 < weights.best < 1e9 or not all(
        0 <= weight < 1e9 for weight in (weights.dense, weights.lexical, weights.near)
    ):
        raise UsageError("the origin of this hit has invalid weights; send the hit as returned")


@router.operation("GET", "/v1/context", ContextAnswer)
@router.operation("POST", "/v1/context", ContextAnswer, name="context_by_body")
def context(indexes: OpenIndexes, parameters: ContextParameters) -> dict[str, Any]:
    """Gather the best passages for a query as text for a language model, with numbered citations"""
    chosen = indexes.choose(parameters.names)
    gathered = chosen.searchable.context(parameters.query, max_words=parameters.max_words, options=parameters.options())
    return {**_head(chosen, parameters), "query": parameters.query, **gathered.to_dict()}


# -- Embeddings, in the form of OpenAI's API, so that its clients can ask an index for vectors -------------------------

_Long = Annotated[str, StringConstraints(max_length=100_000)]


class EmbeddingBody(Parameters):
    """A request as clients of OpenAI's API send it."""

    input: _Long | Annotated[tuple[_Long, ...], Field(max_length=2048)] = Field(description="One or more texts.")
    model: Line | None = Field(None, description="The name of an index; optional if there is only one.")
    encoding_format: Literal["float", "base64"] = Field("float", description="Numbers, or their bytes in base64.")
    dimensions: int | None = Field(None, ge=1, description="Must equal the dimensions of the index.")
    user: Line | None = Field(None, description="Ignored.")


@dataclass(frozen=True, slots=True)
class EmbeddedText:
    """The vector of a text: numbers, or their bytes in base64 (little-endian float32)."""

    object: str
    index: int  # of the text in the request
    embedding: Sequence[float] | str


@dataclass(frozen=True, slots=True)
class EmbeddingUsage:
    """The number of words of the texts, under the names that clients of OpenAI's API expect."""

    prompt_tokens: int
    total_tokens: int


@dataclass(frozen=True, slots=True)
class EmbeddingsAnswer:
    """The vectors of texts. The model is the name of the index."""

    object: str
    data: tuple[EmbeddedText, ...]
    model: str
    usage: EmbeddingUsage


@router.operation("POST", "/v1/embeddings", EmbeddingsAnswer)
def embed(indexes: OpenIndexes, body: EmbeddingBody) -> EmbeddingsAnswer:
    """Return the vectors of texts, as an index embeds sentences. The model is the name of the index"""
    texts = [body.input] if isinstance(body.input, str) else body.input
    vectors = indexes.get(body.model).embed(texts)
    if body.dimensions not in (None, vectors.shape[1]):
        raise UsageError(f"this index has {vectors.shape[1]} dimensions, not {body.dimensions}")
    embeddings: list[Any] = vectors.tolist()
    if body.encoding_format == "base64":
        embeddings = [b64encode(row.astype("<f4").tobytes()).decode() for row in vectors]
    tokens = sum(len(words(text)) for text in texts)
    return EmbeddingsAnswer(
        "list",
        tuple(EmbeddedText("embedding", number, embedding) for number, embedding in enumerate(embeddings)),
        indexes.name_of(body.model),
        EmbeddingUsage(tokens, tokens),
    )
