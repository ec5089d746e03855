"""Colours that stand for texts: the fake engine (tests/support/fake_engine) recognizes them in what is drawn."""

from __future__ import annotations

from pathlib import Path

ENGINE = Path(__file__).parent / "fake_engine"  # a folder with packages called as those of the engine
RED, GREEN, BLUE, WHITE, BLACK = (255, 0, 0), (0, 255, 0), (0, 0, 255), (255, 255, 255), (0, 0, 0)
CRASH, FAILURE, TURNED = (10, 20, 30), (40, 50, 60), (200, 200, 100)
TEXTS = {
    RED: ["The harbour is closed on Tues-", "days after the storm."],
    GREEN: ["Marmalade is stirred clockwise."],
    BLUE: ["е а д", "о и", "я . ,", "в с"],  # as of letters that an engine does not know
}
