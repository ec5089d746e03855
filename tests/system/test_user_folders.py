"""The cache folder is where it has always been: what was kept there is found again."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from semsearch.system.locations import cache_folder

linux = pytest.mark.skipif(sys.platform != "linux", reason="the folder of other systems is another")


@linux
def test_it_lies_in_the_users_cache(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    assert cache_folder("evaluate") == tmp_path / "semsearch" / "evaluate"
    assert list(tmp_path.iterdir()) == []
