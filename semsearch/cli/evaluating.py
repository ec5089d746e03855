"""`semsearch evaluate` and `semsearch vectors evaluate`: how well it finds, on collections and sentence pairs."""

from __future__ import annotations

import logging
import sys
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal, cast

import typer

from semsearch.cli import geometry, sweeping
from semsearch.cli.cbos import cbos
from semsearch.cli.classifying import classify
from semsearch.cli.formats import one_line, to_json
from semsearch.cli.measured import retrieval_lines, vectors_lines
from semsearch.cli.messages import tell_warnings
from semsearch.cli.reproducing import report
from semsearch.cli.startup import use_one_thread
from semsearch.cli.sts_tables import sts_lines
from semsearch.cli.supervised import supervised
from semsearch.embedding.methods import MethodName
from semsearch.errors import UsageError

if TYPE_CHECKING:
    from semsearch.results.hits import Mode

Split = Literal["train", "dev", "test"]
Report = Callable[[str, int, int], None]
VectorsOption = Annotated[
    str, typer.Option("--vectors", metavar="NAME|PATH", help="Shipped vectors, a folder, or a file.")
]
AOption = Annotated[float | None, typer.Option("--a", help="The weights' parameter; by default the method's.")]
ComponentsOption = Annotated[
    int | None, typer.Option(metavar="M", help="Common components removed; by default the method's.")
]
JsonOption = Annotated[bool, typer.Option("--json", help="As JSON.")]

app = typer.Typer(
    rich_markup_mode=None, no_args_is_help=True, help="Measure: retrieval, similarity, the experiments of the papers."
)


@app.command(short_help="Collections in BEIR's layout: nDCG, MRR, recall, MAP.")
def retrieval(
    folders: Annotated[
        list[Path], typer.Argument(metavar="FOLDER...", help="corpus.jsonl, queries.jsonl and qrels/test.tsv in each.")
    ],
    mode: Annotated[
        list[str] | None,
        typer.Option("--mode", "-m", metavar="hybrid|dense|lexical", help="Repeated; by default all three."),
    ] = None,
    vectors: VectorsOption = "english",
    method: Annotated[MethodName, typer.Option(help="How sentences are embedded.")] = "sif",
    a: AOption = None,
    components: ComponentsOption = None,
    peer: Annotated[
        list[str] | None,
        typer.Option(
            metavar="NAME",
            help="Repeated: bm25s, minilm, minilm:PATH, model2vec:PATH. minilm and bm25s are also fused.",
        ),
    ] = None,
    reference: Annotated[
        str | None,
        typer.Option(metavar="NAME", help="The mode or peer to compare with; by default the first peer, or lexical."),
    ] = None,
    json: JsonOption = False,
) -> None:
    """Find how well each mode answers the queries of test collections in BEIR's layout.

    nDCG@10, MRR@10, recall and MAP with 95 % intervals (paired bootstrap over queries). Needs semsearch[evaluate].
    """
    use_one_thread()
    tell_warnings()
    from semsearch.evaluate.retrieval.modes_and_peers import MODES, evaluate_retrieval
    from semsearch.evaluate.retrieval.peer_rankers import peer_names  # start-up time, as all the imports below

    modes, peers = cast("list[Mode]", mode) or MODES, peer or []  # what is no mode, evaluate_retrieval refuses
    against = _reference(reference, modes, peer_names(peers))
    with _progress() as progress, _unknown_words_untold():
        rows = evaluate_retrieval(
            folders,
            modes=modes,
            peers=peers,
            vectors=vectors,
            method=method,
            a=a,
            components=components,
            progress=progress,
        )
    _tell(to_json([row.to_dict() for row in rows]) if json else retrieval_lines(rows, against))


@app.command(short_help="Cosines of sentences against people's scores (SIF, uSIF).")
def sts(
    paths: Annotated[
        list[Path],
        typer.Argument(metavar="PATH...", help="Files of score, sentence, sentence (tabs); folders of such."),
    ],
    method: Annotated[
        list[str] | None,
        typer.Option(metavar="NAME", help="Repeated: mean, tfidf, w, r, sif, usif, or a part of uSIF; see above."),
    ] = None,
    ablation: Annotated[bool, typer.Option("--ablation", help="All methods and all parts; not with --method.")] = False,
    vectors: Annotated[
        list[str] | None,
        typer.Option(metavar="NAME|PATH", help="Shipped vectors (by default english), a folder, or a file. Repeated."),
    ] = None,
    frequencies: Annotated[
        str, typer.Option(metavar="vectors|corpus|FILE", help="p(w): of the vectors, of what is fitted, or counts.")
    ] = "vectors",
    a: AOption = None,
    components: ComponentsOption = None,
    split: Annotated[
        Split, typer.Option(help="Which of a folder's files; a file that is named is taken anyway.", show_choices=True)
    ] = "test",
    fit_on: Annotated[
        list[str] | None,
        typer.Option(
            metavar="task|corpus|FILE",
            help="What components are fitted on: each task (the default), all tasks together, a text file. Repeated.",
        ),
    ] = None,
    published: Annotated[bool, typer.Option("--published", help="Each task beside the papers' figures.")] = False,
    plot: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Draw methods by group: .png, .svg or .pdf.")
    ] = None,
    fresh: Annotated[bool, typer.Option("--fresh", help="Compute anew what was kept from an earlier run.")] = False,
    json: JsonOption = False,
) -> None:
    """Correlate cosines of sentences with people's scores, as in the SIF and uSIF papers.

    Pearson's r and Spearman's ρ × 100 for each task; then Pearson's r by year (the mean of its tasks), beside the
    papers' figures where all tasks of the year were run; then in how many tasks a method is above another, and by how
    much.

    Methods: mean, tfidf; w, r and sif (or wr) are the SIF paper's weights, removal and both. uSIF's parts are u, its
    weights, p, its piecewise removal, and n, its normalisation: sif+u, sif+p and sif+n have one of them in place of
    SIF's way, usif-u, usif-p and usif-n have SIF's way in place of one.
    """
    use_one_thread()
    if ablation and method:
        raise UsageError("--ablation runs all methods; give it, or --method")
    if plot is not None:
        from semsearch.evaluate.plots import check_target  # start-up time, as all the imports below

        check_target(plot)
    from semsearch.evaluate.similarity.sts import evaluate_sts
    from semsearch.evaluate.similarity.variants import DEFAULT, VARIANTS

    with _progress() as progress:
        report = evaluate_sts(
            paths,
            methods=tuple(VARIANTS) if ablation else tuple(method or DEFAULT),
            vectors=vectors or ["english"],
            a=a,
            components=components,
            split=split,
            fit_on=fit_on or ["task"],
            frequencies=frequencies,
            keep=True,
            fresh=fresh,
            progress=progress,
        )
    if plot is not None:
        from semsearch.evaluate.plots import save
        from semsearch.evaluate.similarity.sts_picture import draw

        save(draw(report), plot)
    _tell(to_json(report.to_dict()) if json else sts_lines(report, published=published))


def evaluate_vectors(
    name: Annotated[str, typer.Argument(metavar="NAME|PATH", help="Shipped vectors, a folder, or a file.")],
    sts: Annotated[
        list[Path] | None,
        typer.Option("--sts", metavar="PATH", help="Sentence pairs, as evaluate sts reads. Repeated."),
    ] = None,
    retrieval: Annotated[
        list[Path] | None,
        typer.Option("--retrieval", metavar="FOLDER", help="Collections, as evaluate retrieval reads. Repeated."),
    ] = None,
    record: Annotated[bool, typer.Option("--record", help="Write the scores to the vectors' card.")] = False,
    json: JsonOption = False,
) -> None:
    """Measure word vectors: similarity by SIF and uSIF, retrieval by meaning alone, and how many words they know."""
    if not sts and not retrieval:
        raise UsageError("there is nothing to measure on; give --sts PATH, --retrieval FOLDER, or both")
    use_one_thread()
    tell_warnings()
    from semsearch.evaluate import vector_scores
    from semsearch.settings import open_vectors

    with _progress() as progress, _unknown_words_untold():
        opened = open_vectors(name)
        report = vector_scores.evaluate_vectors(opened, sts=sts or (), retrieval=retrieval or (), progress=progress)
        if record:
            vector_scores.record_scores(opened, report)
    _tell(to_json(report.to_dict()) if json else vectors_lines(report))


app.command("sweep", short_help="SIF's a and the source of p(w) (SIF, figure 2).")(sweeping.sweep)
app.command("weights", short_help="How much a word counts: SIF, word2vec, uSIF (SIF, figure 1).")(sweeping.weights)
app.command("components", short_help="What is removed, in words (SIF, section 4.1).")(geometry.components)
app.command("confound", short_help="What the length of word vectors does (uSIF, section 3.2).")(geometry.confound)
app.command("supervised", short_help="Relatedness, entailment, sentiment (SIF, uSIF).")(supervised)
app.command("classify", short_help="Sentences into groups of paraphrases (White et al. 2015).")(classify)
app.command("cbos", short_help="CBOS beside skip-gram and CBOW (Yuan, Zhang).")(cbos)
app.command("report", short_help="All experiments of the papers, as one report with pictures.")(report)


def _tell(text: str | Iterable[str]) -> None:
    for line in [text] if isinstance(text, str) else text:
        print(line)


def _reference(asked: str | None, modes: Sequence[str], peers: Sequence[str]) -> str:
    """The mode or peer that the others are compared with. Raises UsageError for one that is not run."""
    names = [*modes, *peers]
    if asked is None:
        return peers[0] if peers else "lexical" if "lexical" in modes else modes[0]
    if asked not in names:
        raise UsageError(f"{asked} is not run; --reference is one of {', '.join(names)}")
    return asked


@contextmanager
def _progress() -> Iterator[Report | None]:
    """A line on stderr that is written over; only on a terminal."""
    if not sys.stderr.isatty():
        yield None
        return
    last, said = 0.0, ""

    def show(what: str, done: int, total: int) -> None:
        nonlocal last, said
        now = time.monotonic()
        if what != said or now - last > 0.1:
            last, said = now, what
            count = f" {done:,} of {total:,}" if total else ""
            print(f"\r{one_line(what)}{count}\x1b[K", end="", file=sys.stderr, flush=True)

    try:
        yield show
    finally:
        print("\r\x1b[K", end="", file=sys.stderr, flush=True)


@contextmanager
def _unknown_words_untold() -> Iterator[None]:
    """A query of unknown words scores what it scores; a warning for each, in each mode, would bury the table."""
    logger = logging.getLogger("semsearch.search.searcher")
    nothing: Callable[[logging.LogRecord], bool] = lambda _: False  # noqa: E731
    logger.addFilter(nothing)
    try:
        yield
    finally:
        logger.removeFilter(nothing)
