"""The machine: durable files, locks, threads, folders of the user."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from semsearch import load_public, public_names

if TYPE_CHECKING:  # the same names for whoever checks types
    from semsearch.system.durable import Write as Write, sync_folder as sync_folder, write_durably as write_durably

__all__ = sorted(public_names(__name__))


def __getattr__(name: str) -> Any:
    return load_public(__name__, name)
