"""How an index embeds: chosen when it is made, kept in it, changed only by a rebuild."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass, replace
from pathlib import Path

from semsearch.dense.scan_plan import LISTED, TARGET, Scanning
from semsearch.embedding.embedder import SentenceEmbedder
from semsearch.embedding.methods import Unknown
from semsearch.errors import IndexDamaged, UsageError, VectorsError, VectorsMismatch, rebuild_command
from semsearch.word_vectors.loading import load_vectors, shipped_names
from semsearch.word_vectors.table import WordVectors

WordVectorsLike = str | Path | WordVectors


PRIOR = 10_000.0  # sentences of general language that a fit leans on; see docs/research/measurements.md
SEARCH_A = 3e-4  # of SIF, within the paper's range; for similarity it is 1e-3; see docs/research/measurements.md
_NO_FILES = ("vectors", "corpus", "mixed")  # where frequencies come from, if not from a file


@dataclass(frozen=True, slots=True)
class Settings:
    """The arguments of `SentenceEmbedder`, and which word vectors: what `load_vectors` takes, name and digest.

    Then how passages are scanned: see semsearch.dense.scan_plan. What an index of an earlier version does not say has
    its default: such an index was exact, and stays so until many of its passages are written anew.
    """

    vectors: str
    vectors_name: str
    vectors_digest: str
    method: str
    a: float | None
    components: int | None
    frequencies: str
    prior: float
    adapt: bool = True  # an index of an earlier version says nothing of it: its next fit decides
    unknown: Unknown = "contexts"  # likewise
    exact: bool = False
    target_recall: float = TARGET
    factory: str | None = None

    def scanning(self, *, listed: int = LISTED) -> Scanning:
        """How segments are laid out, of which those with so many vectors get lists. Raises UsageError."""
        return Scanning(self.exact, self.target_recall, self.factory, listed)

    def embedder(self, vectors: WordVectors) -> SentenceEmbedder:
        """A new embedder, not yet fitted. Raises UsageError where the settings cannot be meant."""
        if self.components is not None and not isinstance(self.components, int):
            raise UsageError(f"components must be a whole number, not {self.components!r}")
        return SentenceEmbedder(
            vectors,
            method=self.method,
            a=SEARCH_A if self.a is None and self.method == "sif" else self.a,
            components=self.components,
            frequencies=self.frequencies,
            prior=self.prior,
            unknown=self.unknown,
        )

    def check(self, vectors: WordVectors, index: Path) -> None:
        """Raises VectorsMismatch where these are not the word vectors that the index was built with."""
        if vectors.digest != self.vectors_digest:
            raise VectorsMismatch(
                f"the index {index} was built with the word vectors {self.vectors_name} ({self.vectors_digest[:8]}), "
                f"not with {vectors.name} ({vectors.digest[:8]}); open it with those, or run: "
                + rebuild_command(index, "--vectors", _findable(vectors))
            )

    def check_frequencies(self, index: Path) -> None:
        """Raises VectorsError where the file of word counts that a fit needs has gone."""
        if self.frequencies not in _NO_FILES and not Path(self.frequencies).is_file():
            raise VectorsError(
                f"the word counts {self.frequencies}, which the index {index} was made with, are gone; put them back, "
                f"or run: {rebuild_command(index, '--frequencies', 'vectors')}"
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
        adapt: bool | None = None,
        unknown: Unknown | None = None,
        exact: bool | None = None,
        target_recall: float | None = None,
        factory: str | None = None,
    ) -> Settings:
        """The same but for what is given. With another method, `a` and `components` not given are that method's.

        An index type that is given ends exactness, and the other way about.
        """
        exactly = self.exact if exact is None else exact
        if exact is None and factory is not None:
            exactly = False
        return replace(
            self,
            vectors=vectors or self.vectors,
            vectors_name=opened.name,
            vectors_digest=opened.digest,
            method=method or self.method,
            a=a if a is not None or method else self.a,
            components=components if components is not None or method else self.components,
            frequencies=frequencies or self.frequencies,
            adapt=self.adapt if adapt is None else adapt,
            unknown=unknown or self.unknown,
            exact=exactly,
            target_recall=self.target_recall if target_recall is None else target_recall,
            factory=None if exact and factory is None else factory or self.factory,
        )

    def to_json(self) -> str:
        return json.dumps(asdict(self), allow_nan=False)

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
    """Where p(w) comes from; a file by its full path, so that it is found again from anywhere. Raises VectorsError."""
    if source in _NO_FILES:
        return str(source)
    if not Path(source).is_file():
        raise VectorsError(f"there is no file {source} of word counts; give one, or one of {', '.join(_NO_FILES)}")
    return str(Path(source).resolve())


def _findable(vectors: WordVectors) -> str:
    """How a command would name them: as they are called where they are shipped, else by their folder."""
    return vectors.name if vectors.name in shipped_names() else choose(vectors, vectors)
