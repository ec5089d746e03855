"""`semsearch vectors`: look at word vectors, bring others in, count words, make vectors of one's own."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from semsearch.cli.evaluate.experiment_command import command_of
from semsearch.cli.extensible_group import ExtensibleGroup
from semsearch.cli.messages import warn
from semsearch.cli.options import DtypeOption, JsonOption, NewFolderOption, TableArgument, TableOption
from semsearch.cli.output.formats import one_line, to_json
from semsearch.cli.output.progress import share_of
from semsearch.cli.startup import use_one_thread
from semsearch.cli.vectors.distill_command import count, distill, texts
from semsearch.cli.vectors.train_command import train
from semsearch.errors import VectorsError
from semsearch.evaluate.experiments.vectors_experiment import VECTORS_EXPERIMENT

if TYPE_CHECKING:
    from semsearch.word_vectors.table import VectorTable

app = typer.Typer(
    cls=ExtensibleGroup,
    rich_markup_mode=None,
    no_args_is_help=True,
    help="Word vectors: list, inspect, import, evaluate, make.",
)


@app.command("list")
def list_() -> None:
    """List the word vectors that come with semsearch."""
    from semsearch.word_vectors.loading import load_vectors  # start-up time, as all the imports below
    from semsearch.word_vectors.shipped import shipped_names

    for name in shipped_names():
        table = load_vectors(name)
        licence = table.card.get("licence", "unknown")
        typer.echo(f"{name}  {len(table)} words  {table.dimension} dimensions  licence {licence}")


@app.command()
def info(
    name: TableArgument = "english",
    json: JsonOption = False,
) -> None:
    """Say what word vectors are, where they are from, and whether they are whole. Exit status 2 if they are not."""
    table = _load(name)
    details = _details(table)
    if json:
        typer.echo(to_json(details))
    else:
        for line in _described(details):
            typer.echo(line)
    if not details["verified"]:
        raise VectorsError(f"{table.folder} is damaged: it does not have its digest; make or import it again")


@app.command()
def neighbours(
    word: Annotated[str, typer.Argument(metavar="WORD", help="One word.")],
    vectors: TableOption = "english",
    k: Annotated[int, typer.Option("-k", metavar="N", help="How many at most.")] = 10,
    json: JsonOption = False,
) -> None:
    """Show the words whose vectors are nearest to a word's, with their cosines. Of an unknown word: to its pieces'."""
    use_one_thread()
    from semsearch.word_vectors.neighbours import is_guessed, neighbours as nearest_to

    table = _load(vectors)
    found, guessed = nearest_to(table, word, k), is_guessed(table, word)
    if json:
        shown = [{"word": n.word, "cosine": n.cosine} for n in found]
        typer.echo(to_json({"word": word, "from_pieces": guessed, "neighbours": shown}))
        return
    if guessed:
        warn(f"{word} is not among the words of {table.name}; its vector is made of its pieces")
    for neighbour in found:
        typer.echo(f"{neighbour.cosine:.3f}  {neighbour.word}")


@app.command("import")
def import_(
    file: Annotated[
        Path,
        typer.Argument(metavar="FILE", help="GloVe .txt, word2vec .txt or .bin, fastText .vec; also .gz of these."),
    ],
    to: Annotated[
        Path | None,
        typer.Option(metavar="DIR", help="A new folder; by default FILE.semsearch, where --vectors FILE looks."),
    ] = None,
    counts: Annotated[
        Path | None, typer.Option(metavar="FILE", help="How often words occur; by default as in the shipped English.")
    ] = None,
    dtype: DtypeOption = "float32",
) -> None:
    """Convert word vectors of another format once, so that they open at once."""
    from semsearch.word_vectors.converted import convert, open_converted

    if not file.is_file():
        raise VectorsError(f"there is no file {file}; give a file of word vectors")
    with share_of("reading word vectors") as progress:
        if to is None:
            table = open_converted(file, counts=counts, dtype=dtype, progress=progress)
        else:
            table = convert(file, to, counts=counts, dtype=dtype, progress=progress)
    typer.echo(f"{table.folder}: {len(table)} words, {table.dimension} dimensions, {dtype}")


@app.command()
def pieces(
    name: TableArgument,
    to: NewFolderOption,
    number: Annotated[int, typer.Option(metavar="N", min=1, help="How many pieces, the most telling.")] = 12_000,
) -> None:
    """Copy word vectors to a new folder, with pieces: parts of words, from which unknown words get vectors."""
    from semsearch.train.pieces import add_pieces

    source = _load(name)
    with share_of("choosing pieces") as progress:
        table = add_pieces(source, to, number=number, progress=progress)
    typer.echo(f"{table.folder}: {len(table)} words, {len(table.pieces or ())} pieces")


def _load(name: str) -> VectorTable:
    from semsearch.word_vectors.loading import load_vectors

    with share_of("reading word vectors") as progress:
        return load_vectors(name, progress=progress)


def _details(table: VectorTable) -> dict[str, Any]:
    """The details of a table: its card, its size on disk, whether its digest is right."""
    size = sum(path.stat().st_size for path in table.folder.iterdir() if path.is_file())
    known = {"source": "unknown", "licence": "unknown", "dtype": "unknown"}
    return {
        **known,
        **table.card,
        "name": table.name,
        "words": len(table),
        "pieces": len(table.pieces or ()),
        "dimension": table.dimension,
        "folder": str(table.folder),
        "bytes": size,
        "verified": table.verify(),
    }


def _described(details: dict[str, Any]) -> Iterator[str]:
    """The details as lines for people, the most important first."""
    first = ("name", "source", "licence", "words", "pieces", "dimension", "dtype")
    last = ("folder", "bytes", "digest", "verified")
    shown = {key: details[key] for key in first}
    shown |= {key: value for key, value in details.items() if not isinstance(value, dict)}
    shown |= {
        key: ", ".join(f"{name} {number}" for name, number in value.items())
        for key, value in details.items()
        if isinstance(value, dict)
    }
    shown |= {
        "bytes": f"{details['bytes']} ({details['bytes'] / 1e6:.1f} MB)",
        "verified": _verdict(details["verified"]),
    }
    for key in [key for key in shown if key not in last] + list(last):
        yield f"{key:<14}{one_line(str(shown[key]))}"


def _verdict(verified: bool) -> str:
    return "yes, the files have this digest" if verified else "NO, the files do not have this digest"


for command in (count, texts, distill, train):
    app.command()(command)
app.command("evaluate", short_help=VECTORS_EXPERIMENT.summary)(command_of(VECTORS_EXPERIMENT))
