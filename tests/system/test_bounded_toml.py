"""TOML is read but for keys of very many parts, wherever they stand."""

from __future__ import annotations

import pytest

from semsearch.system.bounded_toml import read_toml

LONG = "a" + " . a" * 20_000  # a key that takes Python a gigabyte


@pytest.mark.parametrize("text", [f"[{LONG}]", f"{LONG} = 1", f"x = {{{LONG} = 1}}", f"x = [{{'b' . {LONG} = 1}}]"])
def test_a_key_of_very_many_parts_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match="more than 100 parts"):
        read_toml(text)


def test_points_of_values_and_comments_are_no_parts() -> None:
    prose = "The sea moves. " * 200
    text = f"a = \"{prose}\"\nb = '{prose}'\nc = {[0.5] * 200}\n" + "d.e = 1.5\n" + "# v1.2\n" * 200
    assert read_toml(text) == {"a": prose, "b": prose, "c": [0.5] * 200, "d": {"e": 1.5}}
