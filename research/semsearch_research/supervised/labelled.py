"""Read labelled sentences for supervised tasks, in three files each: train, dev and test.

    score TAB sentence TAB sentence TAB label    relatedness from 1 to 5, and entailment: SICK
    sentence TAB sentence TAB label              pairs: SNLI
    sentence TAB label                           texts: SST, IMDB

A file's name is that of the data set and that of the split: sick.train.tsv, sentiment-dev, or test.txt alone, whose
data set is called like its folder. The first line of the train file tells the form; all lines have it. The labels are
those of the train file. A label "-" is SNLI's for no agreement: the line is left out.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

import numpy as np
import numpy.typing as npt

from semsearch.errors import SourceError
from semsearch_research.evaluate.file_lines import FileLine, as_number, numbered_lines
from semsearch_research.evaluate.inputs import check_scores, parts_of

Kind = Literal["relatedness", "entailment", "pairs", "texts"]
SPLITS = ("train", "dev", "test")
LOWEST, HIGHEST = 1, 5  # of the scores
_NAME = re.compile(r"(?:(.+)[.-])?(train|dev|test)(?:\.tsv|\.txt)?")
_FORMS = {
    2: "a sentence and a label",
    3: "two sentences and a label",
    4: "a score, two sentences and a label",
}
_NO_LABEL = "-"


@dataclass(frozen=True, slots=True)
class Examples:
    """n texts (a column), or pairs (two), with the targets: scores, or numbers of labels. (n,)"""

    texts: tuple[Sequence[str], ...]
    gold: npt.NDArray[np.float64]

    def __len__(self) -> int:
        return len(self.gold)

    def take(self, rows: npt.NDArray[np.int64]) -> Examples:
        """Select examples by their rows, in the order given."""
        return Examples(tuple([column[row] for row in rows] for column in self.texts), self.gold[rows])


@dataclass(frozen=True, slots=True)
class LabelledTask:
    """A task to learn from a data set. `labels` are the names of the classes, none for relatedness."""

    dataset: str
    kind: Kind
    labels: tuple[str, ...]
    train: Examples
    dev: Examples
    test: Examples
    files: tuple[Path, ...]

    @property
    def name(self) -> str:
        """The name of the task: that of the data set, with the kind if the data set has two."""
        return f"{self.dataset} {self.kind}" if self.kind in ("relatedness", "entailment") else self.dataset


def read_labelled(paths: Iterable[Path]) -> list[LabelledTask]:
    """Read the tasks of all data sets in folders; a file stands for its data set.

    Of a folder of data they are in sts/ and supervised/. In a folder, files of score, sentence, sentence without a
    label are left to `semsearch_research.evaluate.sentence_pairs`. Raises SourceError if nothing is left, a split is
    missing, two data sets have one name, or a line is not of the form.
    """
    found: dict[str, dict[str, Path]] = {}
    for path in parts_of(paths, "sts", "supervised"):
        for name, splits in _datasets(path).items():
            if _resolved(found.setdefault(name, splits)) != _resolved(splits):
                one, two = next(iter(found[name].values())), next(iter(splits.values()))
                raise SourceError(f"{one} and {two} are both of a data set {name!r}; rename one of them")
    return [task for name, splits in found.items() for task in _tasks(name, splits)]


def has_labels(folder: Path) -> bool:
    """Return whether a folder has a data set for `read_labelled`. Raises SourceError if it cannot be read."""
    return any(not _is_unlabelled(splits) for splits in _by_name(folder).values())


def _datasets(path: Path) -> dict[str, dict[str, Path]]:
    """The files of each data set in a folder, or of the one that a file is of, by split."""
    if not path.exists():
        raise SourceError(f"there is no {path}; give a folder with labelled sentences, or a file of them")
    if path.is_dir():
        found = {name: splits for name, splits in _by_name(path).items() if not _is_unlabelled(splits)}
    elif not _NAME.fullmatch(path.name):
        raise SourceError(f"{path} does not say which split it is; expected a name such as {path.stem}.train.tsv")
    else:
        found = {name: splits for name, splits in _by_name(path.parent).items() if path in splits.values()}
        if any(map(_is_unlabelled, found.values())):
            raise SourceError(f"{path} has scores, but no labels; semsearch evaluate sts measures such pairs")
    if not found:
        raise SourceError(f"{path} has no labelled sentences; expected files such as sick.train.tsv, sentiment-dev")
    for name, splits in found.items():
        if missing := [split for split in SPLITS if split not in splits]:
            there = ", ".join(file.name for file in splits.values())
            raise SourceError(f"{path}: {name!r} has no {' and no '.join(missing)} split, only {there}; add it")
    return found


def _by_name(folder: Path) -> dict[str, dict[str, Path]]:
    """The files of a folder that are called like splits, by the data set and the split."""
    try:
        files = sorted(folder.iterdir())
    except OSError as error:
        raise SourceError(f"{folder} cannot be read: {error.strerror or error}; give a folder that can") from error
    found: dict[str, dict[str, Path]] = {}
    for file in files:
        if (match := _NAME.fullmatch(file.name)) and file.is_file():
            name, split = match[1] or folder.resolve().name, match[2]
            if (other := found.setdefault(name, {}).setdefault(split, file)) != file:
                raise SourceError(f"{other} and {file} are the same split of {name!r}; remove one of them")
    return found


def _resolved(splits: Mapping[str, Path]) -> dict[str, Path]:
    return {split: file.resolve() for split, file in splits.items()}


def _is_unlabelled(splits: Mapping[str, Path]) -> bool:
    """Return whether the first line (of the train file, if any) is a score and two sentences: for `evaluate sts`."""
    for line in numbered_lines(splits.get("train") or next(iter(splits.values()))):
        return len(line.cells) == 3 and (not line.cells[0] or as_number(line.cells[0]) is not None)
    return False


def _tasks(name: str, files: Mapping[str, Path]) -> list[LabelledTask]:
    columns = _columns(files["train"])
    lines = {split: _lines(files[split], columns) for split in SPLITS}
    labels = tuple(sorted({line.cells[-1] for line in lines["train"]}))
    if len(labels) < 2:
        raise SourceError(f"{files['train']} has one label only, {labels[0]!r}; expected at least two")
    paths = tuple(files[split] for split in SPLITS)
    train, dev, test = (_labelled(lines[split], labels, columns) for split in SPLITS)
    if columns < 4:
        return [LabelledTask(name, "texts" if columns == 2 else "pairs", labels, train, dev, test, paths)]
    scored = (_scored(files[split], lines[split], one) for split, one in zip(SPLITS, (train, dev, test), strict=True))
    entailment = LabelledTask(name, "entailment", labels, train, dev, test, paths)
    train, dev, test = scored
    return [LabelledTask(name, "relatedness", (), train, dev, test, paths), entailment]


def _columns(path: Path) -> int:
    for line in numbered_lines(path):
        if (columns := len(line.cells)) in _FORMS:
            return columns
        raise line.wrong(f"{', '.join(_FORMS.values())}, between tabs")
    raise SourceError(f"{path} is empty; expected {', '.join(_FORMS.values())} a line, between tabs")


def _lines(path: Path, columns: int) -> list[FileLine]:
    found = []
    for line in numbered_lines(path):
        if len(line.cells) != columns or not all(line.cells):
            raise line.wrong(f"{_FORMS[columns]}, between tabs")
        if line.cells[-1] != _NO_LABEL:
            found.append(line)
    if not found:
        raise SourceError(f"{path} has no labelled lines; expected {_FORMS[columns]} a line, between tabs")
    return found


def _labelled(lines: Sequence[FileLine], labels: Sequence[str], columns: int) -> Examples:
    numbers = {label: number for number, label in enumerate(labels)}
    for line in lines:
        if line.cells[-1] not in numbers:
            shown = ", ".join([label[:20] for label in labels[:5]] + ["…"] * (len(labels) > 5))
            raise line.wrong(f"a label of the train split ({shown})", line.cells[-1])
    texts = tuple([line.cells[column] for line in lines] for column in range(columns == 4, columns - 1))
    return Examples(texts, np.array([numbers[line.cells[-1]] for line in lines], dtype=np.float64))


def _scored(path: Path, lines: Sequence[FileLine], labelled: Examples) -> Examples:
    """Make examples of labelled texts with their scores in place of labels."""
    scores = [line.score(LOWEST, HIGHEST) for line in lines]
    check_scores(path, scores)
    return Examples(labelled.texts, np.array(scores))
