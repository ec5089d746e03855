"""The fixtures of semsearch's tests."""

from fixtures import _user_folders, _users, small_vectors

__all__ = ["_user_folders", "_users", "small_vectors"]
