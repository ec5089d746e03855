"""The figures that the papers published for supervised tasks, found by the names of our data sets.

SICK and SST: SIF paper, tables 2 and, in random order of words, 3; uSIF paper, table 3. SNLI and IMDB: SIF paper,
tables 7 and 8. Pearson's r × 100 for relatedness, else accuracy × 100.
"""

from __future__ import annotations

from semsearch_research.evaluate.published import published_figures
from semsearch_research.supervised.labelled import LabelledTask

_ROWS = {  # in the tables of the SIF paper, and of the uSIF paper
    "sick relatedness": ("similarity (SICK)", "SICK-R"),
    "sick entailment": ("entailment (SICK)", "SICK-E"),
    "sentiment": ("sentiment (SST)", "SST"),
    "sst": ("sentiment (SST)", "SST"),
}
SYSTEMS = {  # the published system that is our method
    "mean": "ParaNMT Word Avg. (300d) (uSIF, table 3)",
    "sif": "ParaNMT+WR (uSIF, table 3)",
    "usif": "ParaNMT+UP (uSIF, table 3)",
}
_IMDB_ROWS = {None: "50k", 1000: "1k", 200: "200"}  # by the number of labelled examples


def published_for(task: LabelledTask, examples: int | None) -> dict[str, float]:
    """The published figures of a task, by the system's name and table; empty for data, or an amount, of one's own."""
    name = task.name.lower()
    if name == "imdb":
        found = [figure for figure in published_figures("sif", "table 8") if figure.row == _IMDB_ROWS.get(examples)]
        return {f"{figure.column} (SIF, table 8)": round(100 * figure.value, 1) for figure in found}
    if examples is not None:
        return {}
    if name == "snli":
        tests = [figure for figure in published_figures("sif", "table 7") if figure.column == "Test"]
        return {f"{figure.row} (SIF, table 7)": figure.value for figure in tests}
    if name not in _ROWS:
        return {}
    sif, usif = _ROWS[name]
    return {
        **{f"{one.column} (SIF, table 2)": one.value for one in published_figures("sif", "table 2") if one.row == sif},
        **{
            f"{one.column}, random order (SIF, table 3)": one.value
            for one in published_figures("sif", "table 3")
            if one.row == f"{sif}, random order"
        },
        **{
            f"{one.column} (uSIF, table 3)": one.value
            for one in published_figures("usif", "table 3")
            if one.row == usif
        },
    }
