"""Measure semantic similarity as in the SIF and uSIF papers: cosines of sentence vectors against gold scores.

Per task, as the papers do, the common components are those of the task's own sentences, both sides, without a prior.
Fitted on a file instead, or on the sentences of all tasks together, they are the same for all tasks, as in an index.
The weights never depend on the task: p(w) is that of the word vectors, tf-idf counts over all the tasks that are run,
and uSIF's a follows from n = 11 words, the mean length over all the papers' data.

Every r and every difference has an interval, by the paired bootstrap over the pairs of each task.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from semsearch.embedding.weights import Method
from semsearch.errors import SourceError, UsageError
from semsearch.text.sentences import sentence_spans
from semsearch.word_vectors.table import WordVectors, WordVectorsLike
from semsearch_research.evaluate.cache import cached, digest_of, versions
from semsearch_research.evaluate.file_lines import numbered_lines
from semsearch_research.evaluate.inputs import check_each_a, counts_in, distinct_names, is_distilled
from semsearch_research.evaluate.sentence_pairs import Task, read_tasks, task_files
from semsearch_research.evaluate.sts_cosines import DEFAULT, Progress, WeighedWords, cosines, find_variants
from semsearch_research.evaluate.sts_scores import PER_TASK, MeasuredCosines, PairMeasures, StsReport, report_of
from semsearch_research.word_tables.conversion import open_vectors

TOGETHER = "corpus"  # fit_on: the sentences of all tasks


def evaluate_sts(
    paths: Sequence[str | Path],
    *,
    methods: Sequence[str | Method] = DEFAULT,
    vectors: WordVectorsLike | Sequence[WordVectorsLike] = "english",
    a: float | None = None,
    components: int | None = None,
    split: str = "test",
    fit_on: str | Path | Sequence[str | Path] = PER_TASK,
    frequencies: str | Path = "vectors",
    blank_as_zero: bool = False,
    keep: bool = False,
    fresh: bool = False,
    progress: Progress | None = None,
) -> StsReport:
    """Correlate each method's cosines with the scores of each task, and average over years.

    paths        read by `semsearch_research.evaluate.sentence_pairs`; `split` chooses among a folder's files
    methods      names in `semsearch_research.evaluate.sts_cosines`, or a `Method` of one's own
    vectors      one, or a sequence of several that are run in turn
    fit_on       the sentences that components, tf-idf and p(w) of "corpus" are learned from, one or several in turn:
                 "task" is each task's own (for tf-idf and p(w) those of all tasks), "corpus" all tasks', else a file
    frequencies  the source of p(w): "vectors", "corpus", a counts file, or a folder of data that has one
    a, components   of all methods; by default those of the papers
    blank_as_zero   pairs without a score have score 0, instead of being left out
    keep, fresh  whether to use the user's cache, with figures rounded to four digits; whether to compute all the same

    Raises SourceError for broken files, UsageError, VectorsError.
    """
    check_each_a(a)
    chosen = find_variants(methods)
    fits = _several(fit_on, "fit_on")
    opened = [open_vectors(one) for one in _several(vectors, "vectors")]
    names = distinct_names(opened)
    files = task_files(map(Path, paths), split=split)
    frequencies = counts_in(frequencies)

    def compute() -> StsReport:
        tasks = read_tasks(files, blank_as_zero=blank_as_zero)
        found: list[MeasuredCosines] = []
        measure = PairMeasures(tasks)
        for name, table in zip(names, opened, strict=True):
            words = WeighedWords(table, frequencies)
            for fit in fits:
                on = _sentences(fit, tasks)
                made = cosines(words, tasks, chosen, fit_on=on, a=[a], components=components, progress=progress)
                one = [measure.of(item, name, str(fit)) for item in made]
                found += [item for method in chosen for item in one if item.score.method == method.name]
        return report_of(found, names, list(map(str, fits)), taught=_taught(names, opened), repeated=measure.repeated)

    if not keep:
        return compute()
    inputs = {
        "files": [digest_of([file]) for file in files],
        "vectors": [(name, table.digest) for name, table in zip(names, opened, strict=True)],
        "methods": [repr(method) for method in chosen],
        "a": a,
        "components": components,
        "fit_on": [_origin(fit, PER_TASK, TOGETHER) for fit in fits],
        "frequencies": _origin(frequencies, "vectors", "corpus"),
        "blank as zero": blank_as_zero,
        "versions": versions("numpy", "scipy"),
    }
    return StsReport.from_dict(cached("sts", inputs, lambda: compute().to_dict(), fresh=fresh))


def sentences_of(path: Path) -> Iterator[str]:
    """Yield the sentences of a text file; a line's end always ends one. Raises SourceError if there are none."""
    found = False
    for line in numbered_lines(path):
        for start, end in sentence_spans(line.text):
            found = True
            yield line.text[start:end]
    if not found:
        raise SourceError(f"{path} has no sentences to fit on; give a text file")


def _several(one: Any, what: str) -> list[Any]:
    """Make a list of one or several. Raises UsageError for none, or one twice."""
    found = list(one) if isinstance(one, list | tuple) else [one]
    if not found or len(found) != len({str(item) if isinstance(item, str | Path) else id(item) for item in found}):
        raise UsageError(f"{what} must be one value, or a sequence of different ones, got {one!r}")
    return found


def _sentences(fit: str | Path, tasks: Sequence[Task]) -> list[str] | None:
    """The sentences of a fit; None for each task's own."""
    if fit == PER_TASK:
        return None
    if fit == TOGETHER:
        return [sentence for task in tasks for sentence in task.sentences]
    return list(sentences_of(Path(fit)))


def _origin(source: str | Path, *names: str) -> str:
    """The source of a fit or of p(w) as an input of the cache: a name, or a file by its name and digest."""
    return str(source) if source in names else f"{source} {digest_of([Path(source)])}"


def _taught(names: Sequence[str], opened: Sequence[WordVectors]) -> list[str]:
    """The names of those word vectors that were distilled from a sentence encoder."""
    return [name for name, table in zip(names, opened, strict=True) if is_distilled(table)]
