"""Paths of hits are as one would write them in the current folder."""

from __future__ import annotations

import os

import pytest

from semsearch.storage.find_document import shown


def test_a_path_is_relative_in_its_folder_and_whole_elsewhere() -> None:
    assert shown("/home/ada/notes/keys.md", "/home/ada") == "notes/keys.md"
    assert shown("/home/ada/notes/keys.md", "/home/eve") == "/home/ada/notes/keys.md"


def test_at_the_root_a_path_stays_whole() -> None:
    assert shown("/home/ada/notes/keys.md", "/") == "/home/ada/notes/keys.md"


@pytest.mark.skipif(os.name != "nt", reason="paths of Windows")
def test_so_it_does_at_the_root_of_a_drive() -> None:
    assert shown("C:/notes/keys.md", "C:/") == "C:/notes/keys.md"
