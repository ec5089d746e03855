"""The token: made once, the same ever after, for nobody else to read."""

from __future__ import annotations

import os
import stat
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from semsearch.errors import StorageError
from semsearch.server.access import make_token, read_token

posix = pytest.mark.skipif(os.name == "nt", reason="modes of files mean something else there")


def test_a_token_is_made_once(tmp_path: Path) -> None:
    path = tmp_path / "config" / "token"
    assert read_token(path) is None
    token = make_token(path)
    assert len(token) >= 40
    assert make_token(path) == read_token(path) == token
    assert make_token(tmp_path / "other") != token


@posix
def test_only_its_owner_may_read_it(tmp_path: Path) -> None:
    path = tmp_path / "config" / "token"
    before = os.umask(0)
    try:
        make_token(path)
    finally:
        os.umask(before)
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert stat.S_IMODE(path.parent.stat().st_mode) == 0o700


@posix
def test_one_that_others_could_read_is_not_used(tmp_path: Path) -> None:
    path = tmp_path / "token"
    make_token(path)
    path.chmod(0o644)
    with pytest.raises(StorageError, match="other users can read"):
        make_token(path)


def test_a_file_without_a_token_is_an_error(tmp_path: Path) -> None:
    path = tmp_path / "token"
    make_token(path)
    path.write_text("\n")
    with pytest.raises(StorageError, match="holds no valid token"):
        make_token(path)


def test_all_who_make_it_at_the_same_time_get_the_same(tmp_path: Path) -> None:
    with ThreadPoolExecutor(8) as pool:
        assert len(set(pool.map(make_token, [tmp_path / "token"] * 16))) == 1
