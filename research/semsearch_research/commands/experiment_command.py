"""Make a command of an experiment, from its declaration (semsearch_research.evaluate.experiment)."""

from __future__ import annotations

import sys
from collections.abc import Callable
from dataclasses import dataclass
from inspect import Parameter, Signature
from pathlib import Path
from typing import Any

import typer

from semsearch.commands import no_progress, progress, tell_warnings, to_json, use_one_thread
from semsearch_research.commands.print_blocks import print_blocks
from semsearch_research.evaluate.experiment import Experiment
from semsearch_research.evaluate.options import Option, Switch


def command_of(experiment: Experiment) -> Callable[..., None]:
    """Make the function of which typer makes a command: the options are the arguments of its signature."""
    own = [Option("plot", Path, "FILE", experiment.plot)] if experiment.figures else []
    own.append(Switch("json", help="Print JSON, with all figures."))

    def command(**given: Any) -> None:
        run_experiment(experiment, given)

    command.__doc__ = experiment.help
    parameters = [_parameter(option) for option in (*experiment.options, *own)]
    command.__signature__ = Signature(parameters)  # type: ignore[attr-defined]  # functions have none of their own
    command.short_help = experiment.summary  # type: ignore[attr-defined]  # for a list of commands
    return command


def run_experiment(experiment: Experiment, given: dict[str, Any]) -> None:
    """Run an experiment: check its arguments first; then draw, and print tables and claims, or JSON."""
    if experiment.one_thread:
        use_one_thread()
    tell_warnings()
    tell_warnings("semsearch_research")
    from semsearch_research.evaluate.plots import check_target  # start-up time: it imports numpy

    check_target(given.get("plot"))
    experiment.check(given)
    plot, json = given.pop("plot", None), given.pop("json")
    shown = {option.name: given.pop(option.name) for option in experiment.options if option.shown}
    with progress() as report_to:
        asked = {name: value for name, value in given.items() if value not in (None, [])}
        if (parts := None if json or experiment.last is None else ShownParts(experiment, shown)) is not None:
            asked["each"] = parts.show
        found = experiment.run(**asked, progress=report_to)
    if plot is not None:
        _draw(experiment, found, plot)
    if json:
        print(to_json([one.to_dict() for one in found] if isinstance(found, list) else found.to_dict()))
    elif parts is not None and experiment.last is not None:
        parts.show(experiment.last(found))
    else:
        print_blocks([*experiment.tables(found, **shown), *experiment.claims(found)])


@dataclass(slots=True)
class ShownParts:
    """Print the tables of each part of the results as soon as it is complete."""

    experiment: Experiment
    options: dict[str, Any]  # of the tables
    are_any: bool = False

    def show(self, part: Any) -> None:
        """Print the tables of a part, after an empty line if it is not the first; nothing if the part is empty."""
        if not part:
            return
        with no_progress():
            if self.are_any:
                print()
            print_blocks(self.experiment.tables(part, **self.options))
            sys.stdout.flush()
        self.are_any = True


def _draw(experiment: Experiment, found: Any, plot: Path) -> None:
    """Save the picture of an experiment; if there are several, x.svg becomes x-NAME.svg for each."""
    from semsearch_research.evaluate.plots import save  # start-up time

    assert experiment.figures is not None  # or there is no --plot
    for name, figure in experiment.figures(found):
        save(figure, plot.with_name(f"{plot.stem}-{name}{plot.suffix}") if name else plot)


def _parameter(option: Option) -> Parameter:
    kind: Any = list[option.kind] if option.many else option.kind  # type: ignore[name-defined]  # a type made at run time
    if option.argument:
        info = typer.Argument(metavar=option.metavar or None, help=option.help)
        return Parameter(option.name, Parameter.KEYWORD_ONLY, default=info, annotation=kind)
    default = ... if option.required else False if option.kind is bool and option.default is None else option.default
    info = typer.Option(
        default,
        *(option.flag.split() or [f"--{option.name.replace('_', '-')}"]),
        metavar=option.metavar or None,
        help=option.help + " Repeatable." * option.many,
        min=option.least,
        show_choices=True,
    )
    return Parameter(
        option.name, Parameter.KEYWORD_ONLY, default=info, annotation=kind if default is not None else kind | None
    )
