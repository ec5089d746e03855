"""An engine that recognizes texts by the colour of what is drawn, where RapidOCR would be imported.

A test writes nothing into a picture that a person could read: which lines a colour stands for is said in
tests/support/fake_recognition.py.
"""

from __future__ import annotations

import math
import os
from types import SimpleNamespace
from typing import Any

from fake_recognition import CRASH, FAILURE, TEXTS, TURNED, WHITE

_Corners = list[tuple[float, float]]


class RapidOCR:
    """The engine, for pixels in the order blue, green, red."""

    def __init__(self, params: dict[str, Any]) -> None:
        pass

    def __call__(self, pixels: Any) -> SimpleNamespace:
        found = _pieces(pixels[:, :, ::-1])
        texts, boxes = zip(*found, strict=True) if found else (None, None)
        return SimpleNamespace(txts=texts, boxes=boxes)


def _pieces(pixels: Any) -> list[tuple[str, _Corners]]:
    """The lines of the colour in the middle of a picture (h, w, 3), one below the other from its upper left corner."""
    height, width = pixels.shape[:2]
    middle = [int(part) for part in pixels[height // 2, width // 2]]
    colour = next((each for each in (*TEXTS, CRASH, FAILURE, TURNED) if math.dist(each, middle) < 8), WHITE)
    if colour == CRASH:
        os._exit(3)
    if colour == FAILURE:
        raise ValueError("a tensor is too short")
    if colour == TURNED:
        return [_turned(pixels, height, width)]
    tall = height / 20
    return [
        (line, [(10, at := (2 * number + 1) * tall), (width - 10, at), (width - 10, at + tall), (10, at + tall)])
        for number, line in enumerate(TEXTS.get(colour, ()))
    ]


def _turned(pixels: Any, height: int, width: int) -> tuple[str, _Corners]:
    """A line from left to right if the upper left corner is black, else what an engine makes of turned letters."""
    corners = [(0.0, 0.0), (0.9 * width, 0.0), (0.9 * width, 0.1 * height), (0.0, 0.1 * height)]
    if width < height:
        corners = [(0.0, 0.0), (0.1 * width, 0.0), (0.1 * width, 0.9 * height), (0.0, 0.9 * height)]
    return "Marmalade is stirred." if not pixels[0, 0].any() else "p u t s", corners
