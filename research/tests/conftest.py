"""The fixtures of semsearch's tests."""

from fixtures import _session_config, _user_folders, _users, small_vectors

__all__ = ["_session_config", "_user_folders", "_users", "small_vectors"]
