"""Pictures: formats, determinism, whole or not at all."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from semsearch.errors import MissingExtra, UsageError
from semsearch_research.evaluate import plots

BEGINNINGS = {".png": b"\x89PNG", ".svg": b"<?xml", ".pdf": b"%PDF"}


def draw(path: Path) -> bytes:
    figure, axes = plots.new_figure(3, 2, title="Some title")
    axes.plot([1, 2, 3], [4, 5, 6], label="one")
    axes.plot([1, 2, 3], [6, 5, 4], label="two")
    axes.set_xlabel("ä, λ and ρ")
    axes.legend()
    plots.save(figure, path)
    return path.read_bytes()


@pytest.mark.parametrize("suffix", BEGINNINGS)
def test_the_same_figure_gives_the_same_bytes(tmp_path: Path, suffix: str) -> None:
    first = draw(tmp_path / f"one{suffix}")
    assert first.startswith(BEGINNINGS[suffix])
    assert draw(tmp_path / f"two{suffix}") == first
    assert sorted(path.name for path in tmp_path.glob("*.*")) == [f"one{suffix}", f"two{suffix}"]


@pytest.mark.parametrize("name", ["picture.jpg", "picture", "png"])
def test_another_format_is_refused_before_and_after_the_work(tmp_path: Path, name: str) -> None:
    figure, _ = plots.new_figure(3, 2)
    with pytest.raises(UsageError, match=r"\.png, \.svg, \.pdf"):
        plots.check_target(tmp_path / name)
    with pytest.raises(UsageError, match=r"\.png, \.svg, \.pdf"):
        plots.save(figure, tmp_path / name)
    assert not list(tmp_path.glob("*.*"))


def test_a_place_that_cannot_be_written_is_told_before_the_work(tmp_path: Path) -> None:
    (tmp_path / "folder.png").mkdir()
    plots.check_target(None)
    plots.check_target(tmp_path / "new.PNG")
    with pytest.raises(UsageError, match="there is no folder"):
        plots.check_target(tmp_path / "missing" / "new.png")
    with pytest.raises(UsageError, match="it is a folder"):
        plots.check_target(tmp_path / "folder.png")


def test_without_matplotlib_the_extra_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "matplotlib.figure", None)
    with pytest.raises(
        MissingExtra, match=r"matplotlib is not installed; run in a checkout of semsearch: pip install ./research"
    ):
        plots.new_figure(3, 2)
    with pytest.raises(MissingExtra, match=r"./research"):
        plots.check_target(tmp_path / "one.png")
