"""The one display of progress: only on a terminal, and what it says of an index."""

from __future__ import annotations

import io

import pytest

from semsearch.cli.progress import Bar, _figures, no_progress, progress, share_of, sync_progress
from semsearch.results.reports import Progress


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def test_nobody_hears_of_progress_where_there_is_no_terminal() -> None:
    with progress() as show, share_of("reading") as share, sync_progress(quiet=True) as of_sync:
        assert show is share is None
        of_sync(Progress("reading", 1, 2, 3, 4))  # goes nowhere


def test_a_terminal_shows_what_is_done_and_how_much_and_is_clean_in_the_end() -> None:
    screen = Terminal()
    with progress(screen) as show:
        assert show is not None
        for done in range(4):
            show("STS\n2012", done, 4)
        show("sentences", 1234, 0)
    shown = screen.getvalue()
    assert "STS 2012" in shown
    assert "sentences" in shown
    assert "1,234" in shown
    assert shown.endswith("\x1b[?25h") or shown.endswith("\x1b[2K")


def test_the_same_stage_is_not_drawn_at_every_call(monkeypatch: pytest.MonkeyPatch) -> None:
    bar = Bar(Terminal(), clock=lambda: 7.0)
    drawn: list[object] = []
    monkeypatch.setattr(bar._display, "update", lambda *_, **said: drawn.append(said))
    try:
        for done in range(100):
            bar.show("reading", done, 100)
    finally:
        bar.close()
    assert len(drawn) == 1


def test_an_index_has_files_then_sentences_with_their_rate() -> None:
    assert _figures(Progress("reading", 3, 1200, 900, 0), 2.0) == "3/1,200 files  900 sentences  450/s"
    assert _figures(Progress("embedding", 0, 0, 900, 1000), 0.0) == "900 sentences  900,000/s"
    assert _figures(Progress("writing", 0, 0, 900, 1000), 1.0) == ""


def test_what_is_printed_meanwhile_stands_where_it_is_meant_to(capsys: pytest.CaptureFixture[str]) -> None:
    """A bar on the screen takes what is printed to itself; without it, print writes to stdout."""
    screen = Terminal()
    with progress(screen) as show:
        assert show is not None
        show("reading", 1, 2)
        with no_progress():
            print("a result")
        show("writing", 1, 2)
    assert capsys.readouterr().out == "a result\n"
    assert "a result" not in screen.getvalue()
    assert "writing" in screen.getvalue()
