"""Targets of fuzzing take their seeds: so that fuzz.py still runs when it is wanted."""

from __future__ import annotations

import sys
from itertools import islice
from pathlib import Path

import pytest

sys.path[:0] = [str(Path(__file__).parent)]

from fuzz import shown_by
from fuzz_targets import TARGETS
from sample_files.valid_files import NAMES

_READERS = {"md", "docx", "zip", "pdf"}  # the others' seeds are read in tests/readers/test_damaged.py


@pytest.mark.filterwarnings("ignore")
@pytest.mark.usefixtures("maps_in_few_steps")
def test_targets_take_their_seeds(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path))
    for name in TARGETS.keys() - {name.partition(".")[2] for name in NAMES} | _READERS:
        folder = tmp_path / name
        folder.mkdir()
        run = TARGETS[name].prepare(folder)
        seeds = list(islice(TARGETS[name].seeds(), 3))
        assert seeds
        for seed in seeds:
            shown = shown_by(run, seed)
            assert shown in (None, "slow", "memory"), f"{name}: {shown}"  # a busy machine is slow
