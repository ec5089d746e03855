"""What other distributions bring is found by entry points; what is not installed says how to install it."""

from __future__ import annotations

import json
from collections.abc import Callable
from importlib.metadata import EntryPoint, EntryPoints
from pathlib import Path

import pytest

from semsearch.errors import SemsearchError, UsageError
from semsearch.index import Index
from semsearch.sources import root_files
from semsearch.system import plugins
from semsearch.word_vectors.table import VectorTable

ASKED: list[Callable[[Index], object]] = [
    lambda index: index.sync("s3://bucket/docs"),
    lambda index: index.sync(index.path.parent, cluster="tcp://scheduler:8786"),
    lambda index: index.rebuild(store="lance:vectors"),
    lambda _: Index.open("s3://bucket/published"),
]


@pytest.mark.parametrize("ask", ASKED)
def test_what_another_distribution_would_bring_says_how_to_install_it(
    ask: Callable[[Index], object], tmp_path: Path, small_vectors: VectorTable, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(plugins, "load", lambda *_: None)
    root_files._source.cache_clear()
    try:
        with Index.create(tmp_path / "index", vectors=small_vectors) as index:
            with pytest.raises(SemsearchError, match=r"pip install \./scale"):
                ask(index)
            assert len(index) == 0
    finally:
        root_files._source.cache_clear()


def test_the_first_of_some_names_is_loaded_and_a_broken_one_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    points = EntryPoints(
        EntryPoint(name, value, "group")
        for name, value in (("any", "json:dumps"), ("mine", "json:loads"), ("broken", "json:nothing"))
    )
    monkeypatch.setattr(plugins, "_entry_points", lambda group: points.select(group=group))
    assert plugins.names("group") == ["any", "broken", "mine"]
    assert plugins.load("group", "mine", "any") is json.loads
    assert plugins.load("group", "other", "any") is json.dumps
    assert plugins.load("group", "other") is None
    with pytest.raises(UsageError, match="'broken' of group cannot be loaded from json:nothing"):
        plugins.load("group", "broken")
