"""The data that the papers' experiments are run on: a folder, word vectors and texts; and how they are run on it.

The folder has some of these sub-folders: sts/ (pairs with scores), paraphrase/ (groups), supervised/ (labelled
sentences) and frequencies/ (counts of words). Two experiments train on texts of their own, which must be given.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from semsearch.errors import SourceError
from semsearch_research.evaluate.experiment import Experiment, Progress

if TYPE_CHECKING:
    from semsearch import VectorTable

FOLDERS = ("sts", "paraphrase", "supervised", "frequencies")


@dataclass(slots=True)
class PapersData:
    """The data of a reproduction: a folder, word vectors, texts to train on with a number of sentences, seeds, `fresh`.

    `years` are those that have STS tasks in the folder, `missing` are the experiments that were not run, with reasons.
    Raises SourceError if it is no folder, or has none of the data.
    """

    folder: Path
    vectors: Sequence[VectorTable]
    texts: Sequence[Path]
    sentences: int
    seeds: int
    fresh: bool
    there: frozenset[str] = field(init=False)
    years: frozenset[str] = field(init=False)
    groups: list[Path] = field(init=False)
    counts: list[Path] = field(init=False)
    labelled: list[Path] = field(init=False)
    missing: dict[str, str] = field(default_factory=dict)

    def __post_init__(self) -> None:
        from semsearch_research.supervised.labelled import has_labels  # start-up time: declarations need none of it

        self.there = frozenset(name for name in FOLDERS if (self.folder / name).is_dir())
        if not self.there:
            what = "has no data" if self.folder.is_dir() else "is no folder"
            expected = ", ".join(f"{name}/" for name in FOLDERS)
            raise SourceError(f"{self.folder} {what}; expected a folder with {expected}")
        years = {file.name[:4] for file in (self.folder / "sts").glob("20*.tsv")}
        self.years = frozenset(years & {"2012", "2013", "2014", "2015"})
        self.groups = sorted((self.folder / "paraphrase").glob("*.tsv"))
        self.counts = sorted((self.folder / "frequencies").glob("*.txt"))
        folders = [self.folder / name for name in ("sts", "supervised") if name in self.there]
        self.labelled = [folder for folder in folders if has_labels(folder)]

    @property
    def has_blanks(self) -> bool:
        """Whether pairs of STS 2015 are there that nobody judged, as in the release."""
        from semsearch_research.evaluate.sentence_pairs import read_pairs  # start-up time, as above

        files = sorted((self.folder / "sts").glob("2015.*.test.tsv"))
        return any(pair.score is None for file in files for pair in read_pairs(file))


# the data that an experiment may need: whether it is there, and the reason to give if not
NEEDS: dict[str, tuple[Callable[[PapersData], object], str]] = {
    "": (lambda _: True, ""),
    "sts": (lambda data: "sts" in data.there, "there is no sts/"),
    "sts and counts": (
        lambda data: "sts" in data.there and data.counts,
        "it needs sts/ and frequencies/ with .txt files",
    ),
    "sick": (lambda data: (data.folder / "sts" / "sick.test.tsv").is_file(), "there is no sts/sick.test.tsv"),
    "labels": (lambda data: data.labelled, "neither sts/ nor supervised/ has labelled sentences"),
    "groups": (lambda data: data.groups, "there is no paraphrase/ with .tsv files"),
    "years and text": (
        lambda data: data.texts and data.years,
        "it needs tasks of STS 2012 to 2015 and a text (--train-text)",
    ),
}


@dataclass(frozen=True, slots=True)
class Reproduction:
    """The way to run an experiment for the papers' report, on a folder of data.

    `needs` is one of semsearch_research.papers_data.NEEDS. `ready` checks beforehand what could fail after minutes of
    work. `run` gives values for the fields of PapersReport, `drawn` selects the part of them that is for the picture.
    """

    experiment: Experiment
    run: Callable[[PapersData, Progress | None], Mapping[str, Any]]
    needs: str = ""
    ready: Callable[[PapersData], None] = lambda _: None
    drawn: Callable[[Any], Any] = lambda found: found
