"""`semsearch evaluate`: what is found on test collections, similarity of sentences, one's own questions."""

from __future__ import annotations

import typer

from semsearch.cli.evaluate.experiment_command import command_of
from semsearch.cli.evaluate.golden_command import golden
from semsearch.cli.extensible_group import ExtensibleGroup
from semsearch.evaluate.experiments.retrieval_experiment import RETRIEVAL
from semsearch.evaluate.experiments.sts_experiment import STS

app = typer.Typer(
    cls=ExtensibleGroup,
    rich_markup_mode=None,
    no_args_is_help=True,
    help="Measure: retrieval, similarity of sentences, your own questions.",
)
for experiment in (RETRIEVAL, STS):
    app.command(experiment.name, short_help=experiment.summary)(command_of(experiment))
app.command("golden", short_help="Your own questions: is what answers them found, and was it before?")(golden)
