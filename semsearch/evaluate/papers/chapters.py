"""The report as Markdown: a chapter for each paper, tables and pictures, with the command beside each.

Nothing in it depends on when, where or how fast it was made: the same results and notes give the same text.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping

from semsearch.evaluate.papers import analysis, learned, notes, similarity
from semsearch.evaluate.papers.markdown import LEVEL, prose, table
from semsearch.evaluate.papers.papers_report import TRAINED, PapersReport
from semsearch.evaluate.published import YEAR_TASKS

Picture = Callable[[str, str], Iterable[str]]  # of a file's name and what it shows: a line that shows it, or none
_SIF_CLAIMS = (("w", "mean"), ("r", "mean"), ("sif", "mean"), ("sif", "tfidf"), ("sif", "w"), ("sif", "r"))
_USIF_CLAIMS = (
    ("usif", "sif"),
    ("sif+u", "sif"),
    ("sif+p", "sif"),
    ("sif+n", "sif"),
    ("usif", "usif-u"),
    ("usif", "usif-p"),
    ("usif", "usif-n"),
)


def document(report: PapersReport, written: Mapping[str, str], *, link: Callable[[str], str] | None = None) -> str:
    """The whole text. `written` are the notes by name; `link` gives the place of a picture, None leaves them out."""

    def picture(file: str, what: str) -> Iterator[str]:
        if link is not None:
            yield f"![{what}]({link(file)})"
            yield ""

    placed: set[str] = set()

    def note(name: str) -> Iterator[str]:
        placed.add(name)
        return notes.passage(name, written)

    chapters = (_opening, _sif, _usif, _cbos, _white)
    lines = [line for chapter in chapters for line in chapter(report, picture, note)]
    rest = [name for name in written if name not in placed and written[name]]
    if rest:
        lines += ["## Notes on what was not run this time", ""]
        lines += [line for name in rest for line in notes.passage(name, written)]
    return "\n".join(lines).rstrip("\n") + "\n"


Note = Callable[[str], Iterator[str]]


def _opening(report: PapersReport, _picture: Picture, note: Note) -> Iterator[str]:
    yield "# The papers, reproduced"
    yield ""
    yield from prose(
        "Each method and experiment of the papers that semsearch is built on, with what was published beside what was "
        "measured. Written by this command, and to be written anew by it; the notes between marks are by hand:"
    )
    yield from _shown(_command(report))
    rows = [[one.name, f"{one.words:,}", str(one.dimension), one.digest[:8]] for one in report.vectors]
    yield from table(["word vectors", "words", "dimensions", "digest"], rows)
    if len(report.vectors) > 1:
        yield from prose(f"Supervised tasks, paraphrase groups and weights are those of {report.vectors[0].name}.")
    yield from _missing(report)
    yield from prose(
        f'"holds", "reversed" and "no difference shown" are verdicts of a sign test over tasks at p = {LEVEL:g}, of '
        "McNemar's test over sentences where sentences are classified. Behind them: in how many tasks the first was "
        "above the second, and the mean difference in points."
    )
    yield from note("opening")


def _missing(report: PapersReport) -> Iterator[str]:
    """What was not run, and which years are not whole."""
    found = list(report.missing)
    if report.sts is not None:
        tasks = dict.fromkeys((average.group, average.tasks) for average in report.sts.averages if not average.whole)
        lacking = [(group, count) for group, count in tasks if group in YEAR_TASKS]
        found += [f"{group}: {count} of its {len(YEAR_TASKS[group])} tasks were there" for group, count in lacking]
    if found:
        yield from prose("Not run:")
        yield from (f"- {one}" for one in found)
        yield ""


def _sif(report: PapersReport, picture: Picture, note: Note) -> Iterator[str]:
    if not any((report.sts, report.weights, report.sweep, report.components, report.supervised)):
        return
    yield from _heading("SIF: Arora, Liang, Ma 2017")
    if report.sts is not None:
        yield from _heading("Similarity of sentences (tables 1, 5 and 6)", 3)
        yield from _shown("semsearch evaluate sts sts/ --ablation" + _vectors(report))
        yield from prose(
            "a = 1e-3, one component of each task's own sentences; the mean of a group's tasks. A published mean of a "
            "year that was not run whole is that of the same tasks. In bold: ours."
        )
        yield from similarity.sif_groups(report.sts)
        yield from similarity.claims(report.sts, _SIF_CLAIMS)
        yield from picture("sts.png", "Pearson's r by group and method, the papers' figures as crosses")
        yield from similarity.sif_tasks(report.sts, ("mean", "tfidf", "sif"))
        yield from similarity.sif_tasks(report.sts, ("w", "r"))
        yield from note("similarity")
    if report.weights is not None:
        yield from _heading("What the weights do (figure 1)", 3)
        yield from _shown("semsearch evaluate weights" + _first(report))
        yield from analysis.weights(report.weights)
        yield from picture("weights.png", "Weight of a word by its frequency: SIF, word2vec, uSIF")
        yield from note("weights")
    if report.sweep is not None:
        yield from _heading("a, and the source of p(w) (figure 2)", 3)
        sources = "".join(f" --frequencies {name}" for name in ("vectors", "corpus", "uniform", *report.counts))
        yield from _shown("semsearch evaluate sweep sts/" + (sources if report.counts else "") + _vectors(report))
        yield from prose(
            "Pearson's r × 100 of SIF. corpus: the words of the tasks. uniform: every word weighs the same, so that it "
            "is removal alone. The plain mean has neither."
        )
        yield from analysis.sweep(report.sweep)
        yield from analysis.sweep_claims(report.sweep)
        yield from picture("sweep.png", "Pearson's r over a, by the source of p(w)")
        yield from note("sweep")
    if report.components:
        yield from _heading("What is removed, in words (section 4.1)", 3)
        yield from _shown(*_with_each(report, "semsearch evaluate components sts/sick.test.tsv"))
        yield from analysis.components(report.components)
        yield from prose("The paper's ten words, found with GloVe, by their places among all words that are compared:")
        yield from analysis.papers_words(report.components)
        yield from note("components")
    if report.fitted is not None:
        yield from _heading("Fitted once", 3)
        yield from _shown(
            "semsearch evaluate sts sts/ --method sif --method usif --fit-on task --fit-on corpus" + _vectors(report)
        )
        yield from prose(
            "The papers fit on the sentences that are tested, task by task. An index fits once, on all that it holds."
        )
        yield from similarity.fitted_once(report.fitted)
        yield from note("fitted")
    if report.supervised is not None:
        yield from _heading("Supervised tasks (tables 2, 3, 7 and 8)", 3)
        yield from _shown("semsearch evaluate supervised sts/ supervised/" + _first(report))
        yield from prose(
            "SIF removes no component here. What was chosen on dev stands in the second table, SIF less each system of "
            "the paper in the third."
        )
        yield from learned.supervised(report.supervised, "SIF")
        yield from learned.supervised_settings(report.supervised)
        yield from learned.sif_claims(report.supervised)
        yield from note("supervised")


def _usif(report: PapersReport, _picture: Picture, note: Note) -> Iterator[str]:
    if not any((report.sts, report.confound, report.supervised)):
        return
    yield from _heading("uSIF: Ethayarajh 2018")
    if report.sts is not None:
        yield from _heading("Similarity of sentences (tables 1 and 2)", 3)
        yield from _shown("semsearch evaluate sts sts/ --method usif --method sif" + _vectors(report))
        yield from similarity.usif_groups(report.sts)
        yield from similarity.a_of(report)
        yield from note("usif")
        yield from _heading("Its parts (section 4.3)", 3)
        yield from _shown("semsearch evaluate sts sts/ --ablation" + _vectors(report))
        yield from prose(
            "u: weights, p: piecewise removal, n: normalisation. sif+u has that part in place of SIF's way; usif-u, "
            "which is not in the paper, has SIF's way in place of that part. The paper's counts are of groups, not of "
            "tasks."
        )
        yield from similarity.usif_parts(report.sts)
        yield from similarity.claims(report.sts, _USIF_CLAIMS)
        yield from note("parts")
    if report.confound:
        yield from _heading("Long vectors (sections 3.2 and 3.3)", 3)
        yield from _shown(*_with_each(report, "semsearch evaluate confound"))
        yield from prose(
            "x = (βk, 0), y = (0, βk), z = (k, k): how probable two unlike words are, given their discourse vector, "
            "beside one word twice. It should be far less."
        )
        yield from analysis.confound(report.confound)
        yield from note("confound")
    if report.supervised is not None:
        yield from _heading("Supervised tasks (table 3)", 3)
        yield from _shown("semsearch evaluate supervised sts/ supervised/" + _first(report))
        yield from learned.supervised(report.supervised, "uSIF")
        yield from learned.supervised_claims(report.supervised)
        yield from note("usif-supervised")


def _cbos(report: PapersReport, picture: Picture, note: Note) -> Iterator[str]:
    found = report.cbos
    if found is None:
        return
    yield from _heading("Continuous bag of sentences: Yuan, Zhang")
    asked = f"semsearch evaluate cbos {' '.join(report.texts)} --sts sts/ --sentences {report.train_sentences}"
    values = [f"--{effect.parameter} {effect.value}" for effect in found.effects]
    yield from _shown(" ".join([asked, *values]))
    settings = ", ".join(f"{name.replace('_', ' ')} {_said(value)}" for name, value in found.settings.items())
    yield from prose(
        f"{found.sentences:,} sentences, {found.running_words:,} running words, {found.words:,} different stems; of "
        f"the tasks' words {found.known:.1%} are known. Settings: {settings}."
    )
    yield from _heading("Beside skip-gram and CBOW (table I)", 3)
    yield from prose(
        "All three learn from the same text; random is what CBOS starts from, and so what shared words alone give."
    )
    yield from learned.cbos_tasks(found)
    yield from learned.cbos_claims(found)
    yield from note("cbos")
    if found.effects:
        yield from _heading("The effect of k and m (figures 3 and 4)", 3)
        yield from learned.cbos_effects(found, "k")
        yield from learned.cbos_effects(found, "m")
        yield from picture("cbos.png", "Pearson's r on STS 2014 over k and over m")
        yield from note("effects")


def _white(report: PapersReport, picture: Picture, note: Note) -> Iterator[str]:
    found = report.classify
    if found is None:
        return
    yield from _heading("How well sentence embeddings capture meaning: White et al. 2015")
    files = " ".join(f"{sizes.data}.tsv" for sizes in found.sizes)
    text = f" --train-text {' '.join(report.texts)} --train-sentences {found.training}" if found.training else ""
    yield from _shown(f"semsearch evaluate classify {files}{text}{_first(report)}")
    yield from prose(
        "Each sentence into its group of paraphrases, by a linear machine in three folds; ± is the standard deviation "
        "over folds. C is chosen within each training fold; the paper does not say which it took."
    )
    yield from learned.groups(found)
    yield from learned.accuracies(found)
    yield from learned.accuracy_claims(found)
    yield from note("classify")
    yield from prose(
        "How many groups have how many sentences (figures 2 and 3), and of the sentences of the first fold that two "
        "models both get wrong, the share taken for the same group (figure 4):"
    )
    for sizes in found.sizes:
        yield from picture(f"{sizes.data}-sizes.png", f"{sizes.data}: sizes of groups")
        yield from picture(f"{sizes.data}-errors.png", f"{sizes.data}: errors that two models share")
    yield from note("errors")


def _heading(text: str, level: int = 2) -> Iterator[str]:
    yield from prose(f"{'#' * level} {text}")


def _shown(*commands: str) -> Iterator[str]:
    yield "```sh"
    yield from commands
    yield "```"
    yield ""


def _said(value: object) -> str:
    return {True: "yes", False: "no"}[value] if isinstance(value, bool) else str(value)


def _command(report: PapersReport) -> str:
    text = "".join(f" --train-text {name}" for name in report.texts)
    count = f" --train-sentences {report.train_sentences}" if text and report.train_sentences != TRAINED else ""
    return f"semsearch evaluate report FOLDER --out FILE{_vectors(report)}{text}{count}"


def _vectors(report: PapersReport) -> str:
    named = [one.name for one in report.vectors]
    return "" if named == ["english"] else "".join(f" --vectors {name}" for name in named)


def _with_each(report: PapersReport, command: str) -> Iterator[str]:
    """A command that takes word vectors once, for all that were run."""
    for one in report.vectors:
        yield command if one.name == "english" else f"{command} --vectors {one.name}"


def _first(report: PapersReport) -> str:
    name = report.vectors[0].name
    return "" if name == "english" else f" --vectors {name}"
