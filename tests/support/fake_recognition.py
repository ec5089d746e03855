"""An engine that recognizes texts by the colour of what is drawn, in the process for files as RapidOCR would.

A test writes nothing into a picture that a person could read: which lines a colour stands for is said here.
"""

from __future__ import annotations

import math
import os
from typing import Any

from semsearch.readers.pages.text_recognition import TextPiece

RED, GREEN, BLUE, WHITE, BLACK = (255, 0, 0), (0, 255, 0), (0, 0, 255), (255, 255, 255), (0, 0, 0)
CRASH, FAILURE = (10, 20, 30), (40, 50, 60)
TEXTS = {
    RED: ["The harbour is closed on Tues-", "days after the storm."],
    GREEN: ["Marmalade is stirred clockwise."],
    BLUE: ["е а д", "о и", "я . ,", "в с"],  # as of letters that an engine does not know
}


def recognize(pixels: Any) -> list[TextPiece]:
    """The lines of the colour in the middle of a picture (h, w, 3), one below the other from its upper left corner."""
    height, width = pixels.shape[:2]
    middle = [int(part) for part in pixels[height // 2, width // 2]]
    colour = next((each for each in (*TEXTS, CRASH, FAILURE) if math.dist(each, middle) < 8), None)  # JPEG blurs them
    if colour == CRASH:
        os._exit(3)
    if colour == FAILURE:
        raise ValueError("a tensor is too short")
    tall = height / 20
    return [
        TextPiece(
            line, [(10, at := (2 * number + 1) * tall), (width - 10, at), (width - 10, at + tall), (10, at + tall)]
        )
        for number, line in enumerate(TEXTS.get(colour or WHITE, ()))
    ]


def recognize_upright(pixels: Any) -> list[TextPiece]:
    """A line from left to right if the upper left corner is black, else what an engine makes of turned letters."""
    height, width = pixels.shape[:2]
    corners = [(0.0, 0.0), (0.9 * width, 0.0), (0.9 * width, 0.1 * height), (0.0, 0.1 * height)]
    if width < height:
        corners = [(0.0, 0.0), (0.1 * width, 0.0), (0.1 * width, 0.9 * height), (0.0, 0.9 * height)]
    return [TextPiece("Marmalade is stirred." if not pixels[0, 0].any() else "p u t s", corners)]
