"""The fixtures of semsearch's tests."""

from fixtures import _configs, _user_folders, _users, small_vectors

__all__ = ["_configs", "_user_folders", "_users", "small_vectors"]
