"""The help text of a command with many options: usual options first, the others by their `rich_help_panel`.

Typer shows these panels only through rich, which takes 50 ms to import; here they are plain headings.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import typer
from typer.core import TyperCommand
from typer.main import get_command, get_group

from semsearch.cli.declared import RERANK, for_typer

_FEW = 10  # options that need no panels
_NAMES = 26  # columns for the names of options; longer ones get a line of their own


class PanelledCommand(TyperCommand):
    """A command whose help shows the panels of its options, if it has more than a few, and whose --rerank may stand
    without a model: typer has no options whose value may be left out.
    """

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """Parse the arguments, in which a --rerank that an option or nothing follows names the default model."""
        if any(RERANK in each.opts for each in self.params):
            own = args.index("--") if "--" in args else len(args)
            following = [*args[1:own], "-"][:own]
            named = [
                f"{RERANK}=default" if each == RERANK and after.startswith("-") else each
                for each, after in zip(args[:own], following, strict=True)
            ]
            args = named + args[own:]
        return list(super().parse_args(ctx, args))

    def format_options(self, ctx: Any, formatter: Any) -> None:
        """Write arguments, options without a panel, and each panel in the order of its first option."""
        shown = [(each, record) for each in self.get_params(ctx) if (record := each.get_help_record(ctx)) is not None]
        is_long = sum(each.param_type_name == "option" for each, _ in shown) > _FEW
        width = min(max((len(names) for _, (names, _) in shown), default=0), _NAMES)
        sections: dict[str, list[tuple[str, str]]] = {"Arguments": [], "Options": []}
        for each, (names, meaning) in shown:
            usual = "Arguments" if each.param_type_name == "argument" else "Options"
            panel = getattr(each, "rich_help_panel", None) if is_long else None
            sections.setdefault(panel or usual, []).append((names.ljust(width), meaning))  # one column for all sections
        for heading, rows in sections.items():
            if rows:
                with formatter.section(heading):
                    formatter.write_dl(rows, col_max=_NAMES)


def command_from(made: Callable[..., Any] | typer.Typer, name: str, **settings: Any) -> Any:
    """The command of a function, or the group of commands of a `typer.Typer`."""
    if isinstance(made, typer.Typer):
        for each in (made.registered_callback, *made.registered_commands):
            if each is not None and each.callback is not None:
                for_typer(each.callback)
        return get_group(made)
    alone = typer.Typer(rich_markup_mode=None, add_completion=False)
    alone.command(name, cls=PanelledCommand, **settings)(for_typer(made))
    return get_command(alone)
