"""A group of commands to which other distributions add theirs (semsearch.cli.plugged_in)."""

from __future__ import annotations

from typing import Any

from typer.core import TyperGroup


class ExtensibleGroup(TyperGroup):
    """Semsearch's own commands, which cannot be replaced, followed by those of other distributions."""

    def own_commands(self, ctx: Any) -> list[str]:
        """The names of semsearch's own commands in the group."""
        return super().list_commands(ctx)

    def own_command(self, ctx: Any, cmd_name: str) -> Any:
        """One of semsearch's own commands."""
        return super().get_command(ctx, cmd_name)

    def list_commands(self, ctx: Any) -> list[str]:
        """The names of all commands. Foreign ones that cannot be loaded are left out, with a warning."""
        from semsearch.cli.plugged_in import listed  # start-up time: only a help text asks

        own = self.own_commands(ctx)
        return [*own, *listed(_dotted(ctx), own)]

    def get_command(self, ctx: Any, cmd_name: str) -> Any:
        """The command of a name. Raises UsageError for one of another distribution that cannot be loaded."""
        if cmd_name in self.own_commands(ctx):
            return self.own_command(ctx, cmd_name)
        from semsearch.cli.plugged_in import find, listed  # start-up time, as above

        if not ctx.resilient_parsing and (found := find(_dotted(ctx), cmd_name)) is not None:
            return found
        own = self.own_commands(ctx)  # for "did you mean", and for completion
        self.commands = {name: self.own_command(ctx, name) for name in own} | listed(_dotted(ctx), own)
        return self.commands.get(cmd_name)


def _dotted(ctx: Any) -> str:
    """The name of a context's group as entry points have it: "" for semsearch, "evaluate" for one of its groups."""
    names = []
    while ctx.parent is not None:
        names.append(ctx.info_name)
        ctx = ctx.parent
    return ".".join(reversed(names))
