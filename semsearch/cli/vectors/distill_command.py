"""`semsearch vectors count`, `texts` and `distill`: word vectors from a sentence encoder, one command a step."""

from __future__ import annotations

import shlex
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Literal

import typer

from semsearch.cli.messages import tell_skipped
from semsearch.cli.options import ExcludeOption, NewFolderOption, SeedOption, TextsArgument
from semsearch.cli.output.progress import progress
from semsearch.errors import UsageError

_PASSAGES, _SENTENCES = 0.2, 0.8  # the shares of a corpus that distill takes by itself


def count(
    paths: TextsArgument,
    to: Annotated[Path, typer.Option(metavar="FILE", help="The counts file to write: a word and its count a line.")],
) -> None:
    """Count words in files, for --counts, --frequencies and distill."""
    from semsearch.text.word_counts import write_counts  # start-up time, as all the imports below
    from semsearch.train.counts import count_words

    with progress() as show:
        report = None if show is None else lambda files, words: show(f"words of {files:,} files", words, 0)
        counts = count_words(paths, skipped=tell_skipped, progress=report)
    if not counts:
        raise UsageError("there are no words in these paths; nothing was written")
    write_counts(counts, to)
    typer.echo(f"{to}: {counts.total()} words, {len(counts)} different")


def texts(
    paths: TextsArgument,
    to: Annotated[Path, typer.Option(metavar="FILE", help="The file to write, a text a line.")],
    passages: Annotated[
        float, typer.Option(metavar="SHARE", min=0, max=1, help="This share of the paragraphs, whole.")
    ] = _PASSAGES,
    sentences: Annotated[
        float, typer.Option(metavar="SHARE", min=0, max=1, help="The sentences of this share of the paragraphs.")
    ] = _SENTENCES,
    exclude: ExcludeOption = None,
    seed: SeedOption = 0,
) -> None:
    """Choose texts to train on: an even share of a corpus, without texts that are kept for measuring."""
    from semsearch.train.texts import choose_texts, write_texts

    with progress() as show:
        report = None if show is None else lambda files, found: show(f"texts of {files:,} files", found, 0)
        chosen = choose_texts(
            paths, passages=passages, sentences=sentences, exclude=exclude or (), seed=seed, skipped=tell_skipped,
            progress=report,
        )  # fmt: skip
        write_texts(chosen.texts, to)
    typer.echo(f"{to}: {len(chosen.texts)} texts; {chosen.excluded} were left out as excluded")


def distill(
    teacher: Annotated[str, typer.Option(metavar="MODEL", help="A sentence-transformers model: a name or a folder.")],
    to: NewFolderOption,
    corpus: Annotated[
        list[Path] | None,
        typer.Option(metavar="PATH", help="Train on the text of these files and folders. May be repeated."),
    ] = None,
    chosen: Annotated[
        list[Path] | None,
        typer.Option("--texts", metavar="FILE", help="Train on these texts, one a line. May be repeated."),
    ] = None,
    exclude: ExcludeOption = None,
    counts: Annotated[
        Path | None, typer.Option(metavar="FILE", help="A counts file; by default the words of --corpus are counted.")
    ] = None,
    encodings: Annotated[
        Path | None,
        typer.Option(metavar="DIR", help="Where the teacher's vectors are kept; by default DIR.encodings."),
    ] = None,
    size: Annotated[int, typer.Option(metavar="N", min=1, help="How many words, the most frequent.")] = 130_000,
    dimension: Annotated[int, typer.Option(metavar="D", min=1, help="How many principal components are kept.")] = 256,
    precision: Annotated[
        Literal["float32", "bfloat16", "float16"],
        typer.Option(help="Of the teacher's arithmetic: bfloat16 is quick on new processors.", show_choices=True),
    ] = "float32",
    epochs: Annotated[float, typer.Option(metavar="N", help="How often each text is trained on.")] = 5.0,
    seed: SeedOption = 0,
    licence: Annotated[str, typer.Option(metavar="NAME", help="The teacher's licence, for the card.")] = "unknown",
    counted: Annotated[str, typer.Option(metavar="TEXT", help="What the words were counted in, for the card.")] = "",
) -> None:
    """Make word vectors from a sentence encoder. Needs semsearch[train].

    Each word is encoded alone; with --corpus or --texts the vectors are then trained until averages of them have the
    teacher's similarities. A run that was stopped goes on when the command is given again.
    """
    from semsearch.text.word_counts import read_counts
    from semsearch.train.counts import count_words
    from semsearch.train.distill import Provenance, distill_words
    from semsearch.train.encodings import Teacher
    from semsearch.train.matching import Matching
    from semsearch.train.texts import choose_texts, read_texts, without_excluded
    from semsearch.word_vectors.writer import check_absent

    check_absent(to)
    if counts is None and not corpus:
        raise UsageError("give --counts FILE or --corpus PATH: the words are the most frequent ones of a text")
    with progress() as show:
        frequencies = read_counts(counts) if counts else count_words(corpus or [], skipped=tell_skipped)
        found = without_excluded(read_texts(chosen), exclude or ()) if chosen else []
        if corpus:
            found += choose_texts(
                corpus, passages=_PASSAGES, sentences=_SENTENCES, exclude=exclude or (), seed=seed, skipped=tell_skipped
            ).texts
        table = distill_words(
            Teacher(teacher, precision=precision),
            frequencies,
            to,
            encodings=encodings or to.with_name(to.name + ".encodings"),
            texts=list(dict.fromkeys(found)),
            size=size,
            dimension=dimension,
            matching=Matching(epochs=epochs, seed=seed),
            provenance=Provenance(
                licence, counted, _listed([*(chosen or []), *(corpus or [])]),
                _command(teacher, corpus, chosen, counts, size, dimension, precision, epochs, seed),
            ),
            progress=show,
        )  # fmt: skip
    typer.echo(f"{table.folder}: {len(table)} words, {table.dimension} dimensions")


def _listed(paths: Sequence[Path]) -> str:
    return ", ".join(path.name for path in paths)


def _command(
    teacher: str, corpus: Sequence[Path] | None, chosen: Sequence[Path] | None, counts: Path | None, size: int,
    dimension: int, precision: str, epochs: float, seed: int,
) -> str:  # fmt: skip
    """The command that makes the same vectors again, with names instead of paths."""
    words = ["semsearch", "vectors", "distill", "--teacher", Path(teacher).name]
    for name, paths in (("--corpus", corpus), ("--texts", chosen), ("--counts", [counts] if counts else [])):
        for path in paths or []:
            words += [name, path.name]
    words += ["--size", str(size), "--dimension", str(dimension), "--precision", precision]
    words += ["--epochs", f"{epochs:g}", "--seed", str(seed)]
    return shlex.join(words)
