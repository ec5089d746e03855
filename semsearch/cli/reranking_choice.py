"""The model for a second look, as --rerank and the configuration name it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from semsearch.cli.configuration.current import configuration_of
from semsearch.errors import UsageError

if TYPE_CHECKING:
    from semsearch.rerankers.model_reranker import ModelReranker

NONE = "none"  # the value that turns a configured model off


def is_wanted(model: str | None) -> bool:
    """Whether a model is to read."""
    return bool(model) and model != NONE


def chosen_reranker(model: str | None, seconds: float | None) -> ModelReranker | None:
    """Open the model that is chosen; None if none is. Raises MissingExtra, ModelError, UsageError."""
    if model is None or not is_wanted(model):
        return None
    from semsearch.rerankers.loading import load_reranker  # start-up time, and an optional dependency

    return load_reranker(model) if seconds is None else load_reranker(model, seconds=seconds)


def refuse_for_server(model: str | None) -> None:
    """Raise UsageError for a model that is named on the command line where a server is asked, which has its own.

    One that is configured for the indexes here is not used then.
    """
    configured = configuration_of()
    is_configured = configured is not None and configured.of("").get("rerank") == model
    if is_wanted(model) and not is_configured:
        raise UsageError("--rerank is for an index here; a server has a model of its own: semsearch serve --rerank")
