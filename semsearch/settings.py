"""How an index embeds: chosen when it is made, kept in it, changed only by a rebuild."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass, replace
from pathlib import Path

from semsearch.embedder import SentenceEmbedder
from semsearch.errors import IndexDamaged, VectorsMismatch
from semsearch.vectors.loading import load_vectors
from semsearch.vectors.table import WordVectors

WordVectorsLike = str | Path | WordVectors


PRIOR = 3000.0  # sentences of general language that a fit leans on; see docs/measurements.md for this and the next
_BEST: dict[str, tuple[float, int]] = {"sif": (3e-4, 5)}  # a and components for search, where the papers' are not best


@dataclass(frozen=True, slots=True)
class Settings:
    """The arguments of `SentenceEmbedder`, and which word vectors: what `load_vectors` takes, name and digest."""

    vectors: str
    vectors_name: str
    vectors_digest: str
    method: str
    a: float | None
    components: int | None
    frequencies: str
    prior: float

    def embedder(self, vectors: WordVectors) -> SentenceEmbedder:
        """A new embedder, not yet fitted. Raises UsageError where the settings cannot be meant."""
        best_a, best_components = _BEST.get(self.method, (None, None))
        return SentenceEmbedder(
            vectors,
            method=self.method,
            a=best_a if self.a is None else self.a,
            components=best_components if self.components is None else self.components,
            frequencies=self.frequencies,
            prior=self.prior,
        )

    def check(self, vectors: WordVectors, index: object) -> None:
        """Raises VectorsMismatch where these are not the word vectors that the index was built with."""
        if vectors.digest != self.vectors_digest:
            raise VectorsMismatch(
                f"the index {index} was built with the word vectors {self.vectors_name} ({self.vectors_digest[:8]}), "
                f"not with {vectors.name} ({vectors.digest[:8]}); open it with those, or run: semsearch index --rebuild"
            )

    def changed(
        self,
        opened: WordVectors,
        *,
        vectors: str | None,
        method: str | None,
        a: float | None,
        components: int | None,
        frequencies: str | None,
    ) -> Settings:
        """The same but for what is given. With another method, `a` and `components` not given are that method's."""
        return replace(
            self,
            vectors=vectors or self.vectors,
            vectors_name=opened.name,
            vectors_digest=opened.digest,
            method=method or self.method,
            a=a if a is not None or method else self.a,
            components=components if components is not None or method else self.components,
            frequencies=frequencies or self.frequencies,
        )

    def to_json(self) -> str:
        return json.dumps(asdict(self))

    @classmethod
    def from_json(cls, text: str | None) -> Settings:
        try:
            return cls(**json.loads(text or ""))
        except (ValueError, TypeError) as error:
            raise IndexDamaged(
                f"the settings of this index cannot be read ({error}); remove it and index again"
            ) from error


def open_vectors(vectors: WordVectorsLike) -> WordVectors:
    """Word vectors by name or path, or as they are. Raises VectorsError."""
    return load_vectors(vectors) if isinstance(vectors, str | Path) else vectors


def choose(vectors: WordVectorsLike, opened: WordVectors) -> str:
    """What `load_vectors` will need to find them again: the name, or the full path."""
    folder = getattr(opened, "folder", None)
    if isinstance(vectors, str | Path):
        path = Path(vectors)
        return (
            str(path.resolve())
            if path.exists() and (len(path.parts) > 1 or opened.name != str(vectors))
            else str(vectors)
        )
    return opened.name if folder is None else str(folder)


def choose_frequencies(source: str | Path) -> str:
    """Where p(w) comes from; a file by its full path, so that it is found again from anywhere."""
    return str(source) if source in ("vectors", "corpus") else str(Path(source).resolve())
