"""The current folder is asked for in one place."""

from __future__ import annotations

from pathlib import Path

import pytest

from semsearch.system.locations import working_folder


def test_it_is_the_current_folder_whichever_that_is_now(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for folder in (tmp_path, tmp_path.parent):
        monkeypatch.chdir(folder)
        assert working_folder() == folder.resolve()
        assert working_folder().is_absolute()
