"""The settings of an index: chosen when it is created, stored in it, changed only by a rebuild.

`SettingsKeywords` are the options that `Index.create` and `Index.rebuild` take; `Settings` are the complete settings.
"""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass, fields
from pathlib import Path
from typing import Any, TypedDict

from semsearch.embedding.embedder import SentenceEmbedder
from semsearch.embedding.weights import Unknown
from semsearch.errors import IndexDamaged, UsageError, VectorsMismatch, rebuild_command
from semsearch.results.codec import from_dict
from semsearch.word_vectors.multilingual import MultilingualVectors
from semsearch.word_vectors.table import (
    DEFAULT_VECTORS,
    WordVectors,
    WordVectorsLike,
    is_shipped,
    load_vectors,
    open_vectors,
    shipped,
    shipped_name,
)

PRIOR = 10_000.0  # sentences of general language that a fit leans on; see docs/research/measurements.md
SEARCH_A_OF_SEVERAL = 1e-3  # where an index has several languages; see docs/research/measurements.md, "Languages"
SEARCH_A = 3e-4  # of SIF, within the paper's range; for similarity it is 1e-3; see docs/research/measurements.md


class SettingsKeywords(TypedDict, total=False):
    """The fields of `Settings` as keywords of `Index.create` and `Index.rebuild`. None is the same as not given.

    An option that is not given has its default in a new index, and stays as it is in a rebuild.
    """

    vectors: WordVectorsLike | None  # word vectors by name or path, or opened
    method: str | None  # of `SentenceEmbedder`, as are a, components, frequencies, prior and unknown
    a: float | None
    components: int | None
    frequencies: str | None
    prior: float | None
    adapt: bool | None  # learn from the text which of its words go together: semsearch.topics.topic_model
    unknown: Unknown | None
    exact: bool | None  # compare every passage with a query, however many there are: semsearch.dense.faiss_store
    store: str | None  # where an engine keeps the passages' vectors, as a URI: semsearch.dense.engines
    sentence_vectors: bool | None  # store them; else those of the passages that are scored are made from their text


@dataclass(frozen=True, slots=True)
class Settings:
    """The settings of an index: how it embeds text, and how it scans the vectors.

    Word vectors are stored as the name or path that `load_vectors` takes, their own name and their digest.
    """

    vectors: str
    vectors_name: str
    vectors_digest: str
    method: str = "sif"
    a: float | None = None
    components: int | None = None
    frequencies: str = "mixed"
    prior: float = PRIOR
    adapt: bool = True
    unknown: Unknown = "pieces"
    exact: bool = False
    store: str | None = None  # of the vectors; None: files in the index's folder
    sentence_vectors: bool = True  # in the index's folder; an engine keeps none

    @classmethod
    def of_new(cls, opened: WordVectors, options: SettingsKeywords) -> Settings:
        """Make the settings of a new index with opened word vectors and options. Raises UsageError, VectorsError."""
        return cls(DEFAULT_VECTORS, opened.name, opened.digest).changed(opened, options)

    def embedder(self, vectors: WordVectors) -> SentenceEmbedder:
        """Make a new embedder, not yet fitted. Raises UsageError if the settings make no sense."""
        a = self.a
        if a is None and self.method == "sif":
            is_mixed = isinstance(vectors, MultilingualVectors) and not vectors.are_strays
            a = SEARCH_A_OF_SEVERAL if is_mixed else SEARCH_A
        return SentenceEmbedder(
            vectors,
            method=self.method,
            a=a,
            components=self.components,
            frequencies=self.frequencies,
            prior=self.prior,
            unknown=self.unknown,
        )

    def check(self, vectors: WordVectors, index: Path) -> None:
        """Check word vectors: raises VectorsMismatch if they are not those that the index was built with."""
        if vectors.digest != self.vectors_digest:
            older = "of another version " if vectors.name == self.vectors_name else ""
            raise VectorsMismatch(
                f"the index {index} was built with the word vectors {self.vectors_name} {older}"
                f"({self.vectors_digest[:8]}), not with {vectors.name} ({vectors.digest[:8]}); "
                f"{'' if older else 'open it with those, or '}run: "
                + rebuild_command(index, "--vectors", choose(vectors, vectors))
            )

    def changed(self, opened: WordVectors, options: SettingsKeywords) -> Settings:
        """Change these settings by the given options and the opened word vectors.

        With another method, `a` and `components` not given are that method's. Raises UsageError for an option that is
        unknown or makes no sense, VectorsError.
        """
        known = SettingsKeywords.__annotations__
        if unknown := [name for name in options if name not in known]:
            raise UsageError(f"an index has no option {unknown[0]!r}; the options are {', '.join(known)}")
        changes: dict[str, Any] = {name: value for name, value in options.items() if value is not None}
        if "method" in changes:
            changes = {"a": None, "components": None, **changes}
        changes["vectors"] = (
            choose(changes["vectors"], opened) if "vectors" in changes else _shipped(opened) or self.vectors
        )
        changes |= {"vectors_name": opened.name, "vectors_digest": opened.digest}
        changed = from_dict(Settings, {**asdict(self), **changes})
        changed.embedder(opened).check()
        return changed

    def find_vectors(self) -> WordVectors:
        """Open the word vectors that these settings name. Raises VectorsError.

        Word vectors that ship with semsearch are found by their name, wherever they were in another version.
        """
        table = None if is_shipped(self.vectors) else shipped(self.vectors_name)
        return load_vectors(self.vectors) if table is None or table.digest != self.vectors_digest else table

    def to_json(self) -> str:
        """Convert to the JSON that an index stores."""
        return json.dumps(asdict(self), allow_nan=False)

    @classmethod
    def from_json(cls, text: str | None) -> Settings:
        """Read the JSON that an index stores. Raises IndexDamaged."""
        try:
            stored = json.loads(text or "")
            known = {field.name: stored[field.name] for field in fields(cls) if field.name in stored}
            return cls(**known)
        except (ValueError, TypeError, RecursionError) as error:
            raise IndexDamaged(
                f"the settings of this index cannot be read ({error}); remove it and index again"
            ) from error


class VectorsInUse:
    """The word vectors of an index: opened when they are first needed, kept open, and checked against its settings.

    An `override`, word vectors that a caller chose, is kept. Those that the settings name are opened again if the
    settings name others, as after another process's rebuild.
    """

    def __init__(self, index: Path, vectors: WordVectorsLike | None = None) -> None:
        self.override = vectors
        self._index = index
        self._opened: WordVectors | None = None

    def of(self, settings: Settings) -> WordVectors:
        """The word vectors that belong to settings. Raises VectorsError; VectorsMismatch if the override has others."""
        opened = self._opened
        if opened is None or (self.override is None and opened.digest != settings.vectors_digest):
            opened = settings.find_vectors() if self.override is None else open_vectors(self.override)
        settings.check(opened, self._index)
        self._opened = opened
        return opened

    def use(self, opened: WordVectors, chosen: WordVectorsLike | None) -> None:
        """Use word vectors that the settings name after a rebuild; an opened table that was chosen is the override."""
        self.override = None if isinstance(chosen, str | Path) else chosen
        self._opened = opened

    def close(self) -> None:
        """Close the word vectors. They are opened again when they are needed."""
        self._opened = None


def choose(vectors: WordVectorsLike, opened: WordVectors) -> str:
    """Choose the text by which `load_vectors` finds word vectors again: the name of shipped ones, or a full path."""
    if name := _shipped(opened):
        return name
    if isinstance(vectors, str | Path):
        return str(Path(vectors).resolve()) if Path(vectors).exists() else str(vectors)
    folder = getattr(opened, "folder", None)
    return opened.name if folder is None else str(Path(folder).resolve())


def _shipped(opened: WordVectors) -> str | None:
    """The name of word vectors that are in the folder of the shipped ones, which moves with semsearch; else None."""
    folder = getattr(opened, "folder", None)
    return None if folder is None else shipped_name(Path(folder))
