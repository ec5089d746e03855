"""`semsearch vectors`: list, inspect and import word vectors. semsearch-research adds commands that train them."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

from typer import Argument, Option

from semsearch.cli import options
from semsearch.cli.plugged_in import group
from semsearch.cli.printing import one_line, to_json, warn
from semsearch.cli.progress import share_of
from semsearch.errors import VectorsError
from semsearch.word_vectors.conversion import convert, folder_beside
from semsearch.word_vectors.loading import load_vectors
from semsearch.word_vectors.nearest_words import is_guessed, neighbours as nearest_to
from semsearch.word_vectors.table import VectorTable, shipped_names

vectors_group = group("Word vectors: list, inspect, import.")


@vectors_group.command("list")
def list_() -> None:
    """List the word vectors that come with semsearch."""
    for name in shipped_names():
        table = load_vectors(name)
        licence = table.card.get("licence", "unknown")
        print(f"{name}  {len(table)} words  {table.dimension} dimensions  licence {licence}")


@vectors_group.command()
def info(name: options.TableArgument = "english", json: options.JsonOption = False) -> None:
    """Show the details and source of word vectors, and verify their digest. Exit status 2 if they are damaged."""
    table = _load(name)
    details: dict[str, Any] = {
        **dict.fromkeys(("source", "licence", "dtype"), "unknown"),
        **table.card,
        "name": table.name,
        "words": len(table),
        "pieces": len(table.pieces or ()),
        "dimension": table.dimension,
        "folder": str(table.folder),
        "bytes": sum(path.stat().st_size for path in table.folder.iterdir() if path.is_file()),
        "verified": table.verify(),
    }
    if json:
        print(to_json(details))
    else:
        for key, value in details.items():
            pairs = value.items() if isinstance(value, dict) else ()
            print(f"{key:<14}{', '.join(f'{part} {number}' for part, number in pairs) or one_line(str(value))}")
    if not details["verified"]:
        raise VectorsError(f"{table.folder} is damaged: its digest is wrong; create or import it again")


@vectors_group.command()
def neighbours(
    word: Annotated[str, Argument(metavar="WORD", help="One word.")],
    vectors: options.TableOption = "english",
    k: Annotated[int, Option("-k", metavar="N", help="Maximum number.")] = 10,
    json: options.JsonOption = False,
) -> None:
    """Show the nearest words by cosine. An OOV word is represented by its pieces."""
    table = _load(vectors)
    words, guessed = nearest_to(table, word, k), is_guessed(table, word)
    if json:
        shown = [{"word": near.word, "cosine": near.cosine} for near in words]
        print(to_json({"word": word, "from_pieces": guessed, "neighbours": shown}))
        return
    if guessed:
        warn(f"{word} is not in the vocabulary of {table.name}; its vector is composed of pieces")
    for neighbour in words:
        print(f"{neighbour.cosine:.3f}  {neighbour.word}")


@vectors_group.command("import")
def import_(
    file: Annotated[
        Path, Argument(metavar="FILE", help="GloVe .txt, word2vec .txt or .bin, fastText .vec; also .gz of these.")
    ],
    to: Annotated[
        Path | None,
        Option(metavar="DIR", help="The folder to create; default: FILE.semsearch, where --vectors FILE looks."),
    ] = None,
    counts: Annotated[
        Path | None, Option(metavar="FILE", help="Word counts; default: those of the shipped English.")
    ] = None,
    dtype: options.DtypeOption = "float32",
) -> None:
    """Convert word vectors of another format once, so that they open fast."""
    if not file.is_file():
        raise VectorsError(f"file not found: {file}; name a file of word vectors")
    with share_of("reading word vectors") as progress:
        folder = to or folder_beside(file)
        table = convert(file, folder, counts=counts, dtype=dtype, replace=to is None, progress=progress)
    print(f"{table.folder}: {len(table)} words, {table.dimension} dimensions, {dtype}")


def _load(name: str) -> VectorTable:
    with share_of("reading word vectors") as progress:
        return load_vectors(name, progress=progress)
