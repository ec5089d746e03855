"""`semsearch vectors train`: word vectors from one's own text alone."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from semsearch.cli.messages import tell_skipped
from semsearch.cli.options import DtypeOption, NewFolderOption, SeedOption
from semsearch.cli.output.progress import progress
from semsearch.errors import UsageError

if TYPE_CHECKING:
    from semsearch.word_vectors.table import VectorTable

_BATCH, _NEGATIVES, _EPOCHS = 1000, 2, 10  # of cbos
_WIDTHS = {"ppmi": 300, "cbos": 100}
_WINDOWS = {"ppmi": 5, "cbos": 1}


def train(
    corpus: Annotated[
        list[Path], typer.Argument(metavar="CORPUS...", help="Files and folders of text; also .txt.xz and .txt.gz.")
    ],
    to: NewFolderOption,
    algorithm: Annotated[
        Literal["ppmi", "cbos"],
        typer.Option(
            help="ppmi: singular vectors of the words' co-occurrences. cbos: words whose sums tell a sentence from "
            "others by its neighbours."
        ),
    ] = "ppmi",
    size: Annotated[int, typer.Option(metavar="N", min=1, help="How many words at most.")] = 50_000,
    min_count: Annotated[
        int, typer.Option("--min-count", metavar="N", min=1, help="How often a word must occur in the text.")
    ] = 5,
    dimension: Annotated[
        int | None, typer.Option(metavar="D", min=1, help="How long vectors are: 300 for ppmi, 100 for cbos.")
    ] = None,
    window: Annotated[
        int | None,
        typer.Option(metavar="N", min=1, help="ppmi: words on each side, 5. cbos: sentences on each side (k), 1."),
    ] = None,
    negatives: Annotated[
        int | None, typer.Option(metavar="M", min=1, help=f"cbos: random sentences beside the true one, {_NEGATIVES}.")
    ] = None,
    epochs: Annotated[
        int | None, typer.Option(metavar="N", min=1, help=f"cbos: rounds over the text, {_EPOCHS}.")
    ] = None,
    batch: Annotated[int | None, typer.Option(metavar="N", min=1, help=f"cbos: sentences in a step, {_BATCH}.")] = None,
    seed: SeedOption = 0,
    dtype: DtypeOption = "int8",
    licence: Annotated[str, typer.Option(metavar="NAME", help="The text's licence, for the card.")] = "unknown",
) -> None:
    """Make word vectors from text alone, without a teacher."""
    from semsearch.train.cbos import CbosSettings, train_cbos  # start-up time, as the one below
    from semsearch.train.ppmi import train_ppmi

    width = dimension or _WIDTHS[algorithm]
    reach = window or _WINDOWS[algorithm]
    with progress() as show:
        if algorithm == "ppmi":
            _only_for_cbos(negatives=negatives, epochs=epochs, batch=batch)
            table = train_ppmi(
                corpus, to, dimension=width, window=reach, size=size, min_count=min_count, seed=seed,
                dtype=dtype, licence=licence, skipped=tell_skipped, progress=show,
            )  # fmt: skip
        else:
            settings = CbosSettings(reach, negatives or _NEGATIVES, batch=batch or _BATCH, seed=seed)
            table = train_cbos(
                corpus, to, dimension=width, epochs=epochs or _EPOCHS, settings=settings, size=size,
                min_count=min_count, dtype=dtype, licence=licence, skipped=tell_skipped, progress=show,
            )  # fmt: skip
    typer.echo(_summary(table))


def _only_for_cbos(**given: int | None) -> None:
    for name, value in given.items():
        if value is not None:
            raise UsageError(f"--{name} belongs to --algorithm cbos; leave it out, or choose that")


def _summary(table: VectorTable) -> str:
    words = table.card["counted words"]
    return f"{table.folder}: {len(table)} words, {table.dimension} dimensions, from {words} running words"
