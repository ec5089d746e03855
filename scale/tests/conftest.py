"""The fixtures of semsearch's tests."""

from fixtures import _configs, _no_recognition, _user_folders, _users, deaths, small_vectors

__all__ = ["_configs", "_no_recognition", "_user_folders", "_users", "deaths", "small_vectors"]
