"""`semsearch vectors`: list and inspect word vectors. semsearch-research adds commands that convert and train them."""

from __future__ import annotations

from typing import Any

from semsearch.cli import options
from semsearch.cli.plugged_in import group
from semsearch.cli.printing import one_line, to_json
from semsearch.errors import VectorsError
from semsearch.word_vectors.table import load_vectors, shipped_names

vectors_group = group("Word vectors: list, inspect.")


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
    table = load_vectors(name)
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
        raise VectorsError(f"{table.folder} is damaged: its digest is wrong; make it again")
