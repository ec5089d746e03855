"""Subtitles: sentences that go over cues, at the time at which they begin."""

from __future__ import annotations

from cited import check_whole, cited_sentences

from semsearch.readers.document import Document
from semsearch.readers.read import read_bytes

SRT = """1
00:00:01,000 --> 00:00:04,000
The harbour is open,
and the <i>ships</i> may

2
00:00:04,500 --> 00:00:06,000
leave it. The tide

3
01:01:07,000 --> 01:01:09,000
is high &amp; calm.

4
01:01:10,000 --> 01:01:12,000
{\\an8}Who said so?
"""
ROLLING = """WEBVTT
Kind: captions

NOTE
not this

STYLE
::cue {}

intro
00:01.000 --> 00:03.000 align:start
\x20
so<00:00:01.500><c> today</c>

00:03.000 --> 00:03.100
so today
\x20

00:03.100 --> 00:04.000
so today
we talk about ships
"""


def read(source: str, name: str) -> Document:
    return read_bytes(source.encode(), name)


def test_sentences_go_over_cues_and_are_placed_where_they_begin() -> None:
    document = read(SRT, "film.srt")
    assert cited_sentences(document) == [
        ("The harbour is open, and the ships may leave it.", None, "00:00:01"),
        ("The tide is high & calm.", None, "00:00:04"),
        ("Who said so?", None, "01:01:10"),
    ]
    assert (document.title, document.format) == ("film", "subtitles")
    check_whole(document, ["Who said so?"])
    assert read(SRT.replace("\n", "\r\n"), "film.srt").blocks[0].text == document.blocks[0].text


def test_a_line_that_rolls_on_is_read_once_and_notes_and_names_of_cues_are_not() -> None:
    assert cited_sentences(read(ROLLING, "talk.vtt")) == [("so today we talk about ships", None, "00:00:01")]
