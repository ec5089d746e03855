"""What the library warns of while it answers a call, as a note to the model, which does not see the log."""

from __future__ import annotations

from collections.abc import Sequence

from semsearch.serve.gathered_warnings import GatheredWarning

_MOST = 1000  # characters


def as_note(warnings: Sequence[GatheredWarning]) -> str | None:
    """Warnings as a note, each once; None without any."""
    return " ".join(map(_as_sentence, dict.fromkeys(each.message for each in warnings)))[:_MOST] or None


def _as_sentence(warning: str) -> str:
    return warning[:1].upper() + warning[1:] + ("" if warning.endswith((".", "?", "!")) else ".")
