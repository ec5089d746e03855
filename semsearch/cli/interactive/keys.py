"""The keys of the interactive search. All others edit the line that is typed, as in a shell."""

from __future__ import annotations

from typing import Protocol

from prompt_toolkit.key_binding import KeyBindings, KeyPressEvent

from semsearch.cli.output.formats import one_line

_READ_ON = 3  # lines


class Steered(Protocol):
    """The protocol of what the keys steer."""

    def choose(self, steps: int) -> None:
        """Choose a hit so many further down, or up."""

    def choose_page(self, pages: int) -> None:
        """Choose a hit a screen further down, or up."""

    def scroll(self, lines: int) -> None:
        """Read on in the preview, or back."""

    def change_mode(self) -> None:
        """Search in the next mode."""

    def open_chosen(self) -> None:
        """Open the chosen hit's place."""

    def end(self) -> None:
        """End the search."""


def keys(steered: Steered) -> KeyBindings:
    """Bind the keys."""
    bindings = KeyBindings()
    for names, action in (
        (("up", "c-p"), lambda: steered.choose(-1)),
        (("down", "c-n"), lambda: steered.choose(1)),
        (("pageup",), lambda: steered.choose_page(-1)),
        (("pagedown",), lambda: steered.choose_page(1)),
        (("s-up", "c-up"), lambda: steered.scroll(-_READ_ON)),
        (("s-down", "c-down"), lambda: steered.scroll(_READ_ON)),
        (("tab",), steered.change_mode),
        (("enter",), steered.open_chosen),
        (("escape", "c-c"), steered.end),
    ):
        for name in names:
            bindings.add(name)(lambda _, action=action: action())
    bindings.add("<bracketed-paste>")(_paste)
    return bindings


def _paste(event: KeyPressEvent) -> None:
    """Put what is pasted on the one line there is."""
    event.current_buffer.insert_text(one_line(event.data))
