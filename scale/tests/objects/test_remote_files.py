"""File systems that cannot be opened are told as what is wrong with their URI."""

from __future__ import annotations

from pathlib import Path

import pytest
from packages import needed

from semsearch.errors import StorageError, UsageError
from semsearch_scale.objects.remote_files import open_files

needed("fsspec")


@pytest.mark.parametrize("uri", ["nosuch://bucket/docs", "reference://x", "dir://x"])
def test_a_uri_that_makes_no_file_system_is_said(uri: str) -> None:
    with pytest.raises(UsageError, match=f"{uri} cannot be opened"):
        open_files(uri)


def test_an_archive_that_is_none_is_said(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    with pytest.raises((UsageError, StorageError), match=r"zip://x cannot be (opened|reached)"):
        open_files("zip://x")
