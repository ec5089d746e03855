"""`semsearch evaluate`: all experiments, and the report that has those of the papers together."""

from __future__ import annotations

import typer

from semsearch.cli.evaluate.data_command import data
from semsearch.cli.evaluate.experiment_command import command_of
from semsearch.cli.evaluate.golden_command import golden
from semsearch.cli.evaluate.report_command import report
from semsearch.evaluate.experiments.catalogue import EXPERIMENTS

app = typer.Typer(
    rich_markup_mode=None, no_args_is_help=True, help="Measure: retrieval, similarity, the experiments of the papers."
)
for experiment in EXPERIMENTS:
    app.command(experiment.name, short_help=experiment.summary)(command_of(experiment))
app.command("data", short_help="A folder of data from the original releases; what is there, what is missing.")(data)
app.command("golden", short_help="Your own questions: is what answers them found, and was it before?")(golden)
app.command("report", short_help="All experiments of the papers, as one report with pictures.")(report)
