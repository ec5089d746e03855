"""The public names of `semsearch` are pinned, and each is loaded only when it is used."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

import semsearch

PUBLIC = {
    "AsyncIndex", "Citation", "Context", "DocumentInfo", "DocumentText",
    "DuplicatePassage", "Explanation", "Facets", "Hit", "Hits", "Index", "Method", "MovedRoot", "Progress", "Reranker",
    "SearchOptions", "Searchable", "SemsearchError", "SentenceEmbedder", "Settings", "MultiIndex",
    "SkippedFile", "Status", "SyncReport", "Text",
    "MissingExtra", "Mode", "Readings", "RemoteIndex", "UsageError", "location",
    "VectorTable", "WordVectors", "load_reranker", "load_vectors",
}  # fmt: skip


def test_these_names_are_public_and_no_others() -> None:
    assert sorted(PUBLIC) == semsearch.__all__
    assert set(semsearch.public_names("semsearch")) == PUBLIC


@pytest.mark.parametrize("name", sorted(PUBLIC))
def test_each_public_name_is_a_thing_of_that_name(name: str) -> None:
    found = getattr(semsearch, name)
    if name != "Mode":  # a Literal has neither name nor docstring
        assert found.__name__ == name
        assert found.__doc__


def test_another_name_is_told_as_a_module_tells_it() -> None:
    with pytest.raises(AttributeError, match="module 'semsearch' has no attribute 'Nothing'"):
        _ = semsearch.Nothing


def test_a_renamed_class_says_its_new_name() -> None:
    with pytest.raises(AttributeError, match=r"semsearch\.Place was renamed to semsearch\.DuplicatePassage"):
        _ = semsearch.Place


def test_an_earlier_name_still_works() -> None:
    assert semsearch.SeveralIndexes is semsearch.MultiIndex


def test_nothing_is_loaded_before_it_is_used() -> None:
    code = "import sys, semsearch\nprint(sorted(name for name in sys.modules if name.startswith('semsearch')))"
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    done = subprocess.run([sys.executable, "-c", code], env=environment, capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "['semsearch']"
