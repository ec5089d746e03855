"""Targets of fuzzing take their seeds: so that fuzz.py still runs when it is wanted."""

from __future__ import annotations

import sys
from contextlib import suppress
from pathlib import Path

import pytest

sys.path[:0] = [str(Path(__file__).parent)]

for package in ("uvicorn", "docx", "pptx", "openpyxl", "nbformat", "reportlab", "pypdfium2"):
    pytest.importorskip(package)

from fuzzing.archive_targets import changed_archive
from fuzzing.catalogue import TARGETS
from fuzzing.findings import shown_by

from semsearch.errors import SemsearchError, SourceError
from semsearch.readers.read import read_bytes

_FEW = 3  # seeds
_OTHERS = 3  # texts that the seeds of an archive are read as, at least
_HERE = (
    "configuration",
    "ignore-rules",
    "word-vectors",
    "vector-table",
    "words",
    "sentences",
    "md",
    "docx",
    "pdf",
    "vector-segment",
    "mcp",
    "remote-answers",
    "imports",
    "notes",
    "encodings",
    "reading-log",
    "golden",
    "spelling",
    "reader-document",
    "reader-message",
    "reader-places",
    "members",
    "unnamed",
    "tar.gz",
    "ods",
    "odp",
    "language-table",
    "embedder",
    "addresses",
    "datasets",
)


@pytest.mark.filterwarnings("ignore")
@pytest.mark.usefixtures("maps_in_few_steps")
@pytest.mark.parametrize("name", _HERE)
def test_a_target_takes_its_seeds(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path))
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    run = TARGETS[name].prepare(tmp_path)
    seeds = list(TARGETS[name].seeds())[:_FEW]
    assert seeds
    for seed in seeds:
        with suppress(SemsearchError):  # some of a table's files are cut
            run(seed)


def test_what_a_target_shows_is_told_with_its_place() -> None:
    def run(data: bytes) -> None:
        raise KeyError(data)

    assert (shown_by(run, b"a") or "").startswith("KeyError test_fuzz_targets.py run")


@pytest.mark.parametrize("kind", ["docx", "pptx", "xlsx", "odt", "ods", "odp", "epub"])
def test_a_sound_archive_is_read_and_changes_to_its_elements_leave_xml(kind: str) -> None:
    whole = read_bytes(changed_archive(kind, b""), f"a.{kind}")
    assert "Köln" in whole.source
    seen = set()
    for seed in TARGETS[kind].seeds():
        with suppress(SourceError):  # a part that is needed has gone, or is another
            seen.add(read_bytes(changed_archive(kind, seed), f"a.{kind}").source)
    assert len(seen) > _OTHERS
