"""Fixtures that several test files share."""

from fixtures import _cache, _no_indexes_of_the_user, small_vectors

__all__ = ["_cache", "_no_indexes_of_the_user", "small_vectors"]
