"""Names of the standard library that some modules still import from here; this file goes when none does."""

from __future__ import annotations

from dataclasses import dataclass as dataclass
from hashlib import blake2b as blake2b
from re import compile as pattern

__all__ = ["blake2b", "dataclass", "pattern"]
