"""The data sets of the papers: their files, where owners describe them, what they are for."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from types import MappingProxyType
from typing import Literal, cast

Need = Literal["needed", "optional", "instead"]
_FILE = Path(__file__).with_name("known.tsv")


@dataclass(frozen=True, slots=True)
class KnownFile:
    """A file of a folder of data.

    `need`: the papers' experiments need it; they do without it; or it stands for the needed ones, all of them together.
    """

    dataset: str
    path: str
    need: Need


@dataclass(frozen=True, slots=True)
class KnownDataset:
    """A data set: where its owner describes it, and what cannot be run without it."""

    name: str
    home: str
    costs: str

    @property
    def files(self) -> Sequence[KnownFile]:
        """Its files."""
        return [file for file in known_files().values() if file.dataset == self.name]


def _sts(year: int, task: str, authors: str, figures: str) -> KnownDataset:
    short = year % 100
    columns = f"the columns STS{short} of sts and sweep; {figures}"
    return KnownDataset(f"STS {year}", f"{task}: {authors} {year}", columns)


_TABLES = "SIF, tables 1, 5, 6; uSIF, table 1; CBOS, table I"
DATASETS: Sequence[KnownDataset] = (
    _sts(2012, "SemEval-2012 Task 6", "Agirre et al.", f"{_TABLES}; SIF, figure 2"),
    _sts(2013, "*SEM 2013 shared task", "Agirre et al.", "SIF, tables 1, 5, 6; CBOS, table I"),
    KnownDataset(
        "STS 2013, SMT",
        "*SEM 2013 shared task: Agirre et al. 2013; its sentences belong to the Linguistic Data Consortium",
        "the mean STS13 is that of three tasks in four: SIF, tables 1, 5, 6; CBOS, table I",
    ),
    _sts(2014, "SemEval-2014 Task 10", "Agirre et al.", _TABLES),
    _sts(2015, "SemEval-2015 Task 2", "Agirre et al.", _TABLES),
    KnownDataset(
        "STS 2016", "SemEval-2016 Task 1: Agirre et al. 2016", "the column STS16 of sts; no figure of the papers"
    ),
    KnownDataset(
        "SICK",
        "SemEval-2014 Task 1: Marelli et al. 2014",
        "the column SICK14 of sts; relatedness and entailment of supervised. SIF, tables 1, 2, "
        "section 4.1; uSIF, tables 1, 3",
    ),
    KnownDataset(
        "Twitter'15",
        "SemEval-2015 Task 1 (PIT-2015): Xu, Callison-Burch, Dolan 2015",
        "the column Twitter15 of sts; SIF, tables 1, 6",
    ),
    KnownDataset(
        "STS Benchmark",
        "SemEval-2017 Task 1: Cer et al. 2017, its STS benchmark page",
        "the column STSb of sts; uSIF, table 2",
    ),
    KnownDataset(
        "MSRP",
        "Microsoft Research Paraphrase Corpus: Dolan, Quirk, Brockett 2004",
        "classify on MSRP: White et al., table 1",
    ),
    KnownDataset(
        "Opinosis",
        "White et al. 2015, section 4.1, who grouped sentences of Opinosis (Ganesan, Zhai, Han 2010) by hand",
        "classify on Opinosis: White et al., table 1",
    ),
    KnownDataset(
        "SST",
        "Stanford Sentiment Treebank: Socher et al. 2013; as binary labels, the data of the SIF paper's program",
        "sentiment of supervised: SIF, table 2; uSIF, table 3",
    ),
    KnownDataset(
        "SNLI", "Stanford Natural Language Inference corpus: Bowman et al. 2015", "snli of supervised: SIF, table 7"
    ),
    KnownDataset("IMDB", "Large Movie Review Dataset: Maas et al. 2011", "imdb of supervised: SIF, table 8"),
    KnownDataset(
        "enwiki counts",
        "enwiki_vocab_min200.txt, the counts with the programs of the SIF and uSIF papers",
        "p(w) from counts in sweep; uSIF's a, section 4.2",
    ),
)


@cache
def known_files() -> Mapping[str, KnownFile]:
    """The files by their paths in a folder of data."""
    lines = [line for line in _FILE.read_text(encoding="utf-8").splitlines() if not line.startswith("#")]
    files = [KnownFile(name, path, cast("Need", need)) for name, path, need in (line.split("\t") for line in lines[1:])]
    return MappingProxyType({file.path: file for file in files})
