"""Subtitles: SubRip (.srt) and WebVTT (.vtt). Sentences go over cues as they were spoken; the place is the time.

Left out are the numbers of cues, notes, styles and marks. Captions that a machine made roll on: a cue repeats the last
line of the one before, and that is read once.
"""

from __future__ import annotations

import re
from dataclasses import replace
from html import unescape
from itertools import pairwise
from pathlib import PurePath

from semsearch.readers.document import Block, Document, Spot, line_starts
from semsearch.readers.placed_text import PlacedText

_TIME = r"(?:(\d{1,4}):)?(\d\d):(\d\d)[.,]\d{1,3}"
_TIMING = re.compile(rf"\s*{_TIME}\s*-->\s*(?:\d{{1,4}}:)?\d\d:\d\d[.,]\d{{1,3}}")
_MARK = re.compile(r"</?[A-Za-z0-9.:][^<>\n]{0,200}>|\{\\[^{}\n]{0,200}\}|&(?:lrm|rlm|#\d{1,5});")
_ENTITY = re.compile("&(?:amp|lt|gt|nbsp);")
_ENDED = re.compile(r"[.!?…。！？][\"'”’»)\]]*\s*\Z")
_LONGEST = 400  # characters without the end of a sentence, as captions of machines have them


def read(source: str, name: str) -> Document:
    """Read subtitles. The title is the file's name."""
    blocks: list[Block] = []
    text, spots, time = PlacedText(), list[Spot](), ""
    is_text, last_line = False, ""

    def end() -> None:
        nonlocal text, spots
        if text:
            blocks.append(replace(text.block(source), place=spots[0].place, spots=tuple(spots)))
        text, spots = PlacedText(), []

    starts = [*line_starts(source), len(source)]
    for start, stop in pairwise(starts):
        line = source[start:stop]
        if line.strip().isdecimal() and _TIMING.match(source, stop):
            continue  # the number of a cue
        if timing := _TIMING.match(line):
            if _ENDED.search(text.text) or len(text.text) > _LONGEST:
                end()
            time, is_text = f"{int(timing[1] or 0):02d}:{timing[2]}:{timing[3]}", True
        elif not line.strip("\r\n"):
            is_text = False
        elif is_text:
            shown = _shown(line, start)
            if shown.text and shown.text != last_line:
                if text:
                    text.add_unplaced(" ")
                if not spots or spots[-1].place != time:
                    spots.append(Spot(len(text.text), None, time))
                text.add_all(shown)
                last_line = shown.text
    end()
    return Document(source, blocks, "subtitles", PurePath(name).stem)


def _shown(line: str, start: int) -> PlacedText:
    text = PlacedText()
    text.add(line, start)
    if "<" in line or "{" in line or "&" in line:
        text = text.replaced(_MARK).replaced(_ENTITY, lambda match: unescape(match[0]).replace("\xa0", " "))
    return text.stripped()
