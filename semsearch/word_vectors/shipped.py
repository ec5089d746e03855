"""The word vectors that come with semsearch: folders beside this file."""

from __future__ import annotations

from pathlib import Path

from semsearch.word_vectors.table import VectorTable

DEFAULT_VECTORS = "english"
_HERE = Path(__file__).parent


def shipped(name: str) -> VectorTable | None:
    """Open the shipped word vectors of that name. None if there are none."""
    is_plain = len(Path(name).parts) == 1
    return VectorTable(_HERE / name) if is_plain and (_HERE / name / "card.json").is_file() else None


def shipped_name(folder: Path) -> str | None:
    """The name of the shipped word vectors in a folder; None if they are not shipped ones."""
    return folder.name if folder.resolve().parent == _HERE.resolve() else None


def shipped_names() -> list[str]:
    """The names of the word vectors that come with semsearch."""
    return sorted(card.parent.name for card in _HERE.glob("*/card.json"))
