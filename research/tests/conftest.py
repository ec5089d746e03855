"""The fixtures of semsearch's tests."""

from fixtures import _cache, _no_indexes_of_the_user, small_vectors

__all__ = ["_cache", "_no_indexes_of_the_user", "small_vectors"]
