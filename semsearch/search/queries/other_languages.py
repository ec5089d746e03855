"""Say that a question is in a language that no document of the index has."""

from __future__ import annotations

from collections.abc import Sequence

from semsearch.search.telling import tell
from semsearch.text.languages.detection import clear_language_of
from semsearch.text.languages.names import name_of


def tell_other_language(question: str, languages: Sequence[str]) -> None:
    """Warn if a question, most of whose words no passage has, is clearly in none of the languages of the index."""
    language = clear_language_of(question, languages)
    if language is None or language in languages:
        return
    held = ", ".join(map(name_of, languages))
    tell(
        f"the question {question!r} seems to be in {name_of(language)}, in which the index has no document; "
        f"ask in a language that it has: {held}",
        query=question,
    )
