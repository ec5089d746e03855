"""The papers' figures: those in the file are those in the papers, and years agree with their tasks."""

from __future__ import annotations

import pytest

from semsearch_research.evaluate.published import (
    YEAR_TASKS,
    published_figures,
)

KNOWN = [  # typed from the papers, apart from the file
    ("sif", "table 1", "STS12", "PP", 58.7),
    ("sif", "table 1", "STS14", "GloVe+WR", 68.5),
    ("sif", "table 1", "Twitter15", "PSL+WR", 49.0),
    ("sif", "table 2", "similarity (SICK)", "Ours", 86.03),
    ("sif", "table 2", "entailment (SICK)", "DAN", 84.5),
    ("sif", "table 3", "sentiment (SST), random order", "LSTM (og)", 84.1),
    ("sif", "table 5", "2012.MSRpar", "LSTM (og)", 9.3),
    ("sif", "table 5", "2015.answers-students", "DAN", 78.1),
    ("sif", "table 5", "2013.OnWN", "ST", 10.0),
    ("sif", "table 6", "2013.FNWN", "GloVe+W", 23.0),
    ("sif", "table 6", "2014.tweet-news", "PSL+R", 77.9),
    ("sif", "table 6", "SICK14", "PSL+W", 73.1),
    ("sif", "table 7", "Our method", "Test", 78.2),
    ("sif", "table 8", "200", "NB-SVM", 0.73),
    ("usif", "table 1", "STS15", "ParaNMT Trigram-Word", 80.3),
    ("usif", "table 2", "STSb", "CNN (HCTI)", 78.4),
    ("usif", "table 3", "SICK-E", "ParaNMT+UP", 81.1),
    ("usif", "section 4.3", "normalisation", "improvement %", 6.7),
    ("cbos", "table I", "2014.images", "CBOS", 0.7722),
    ("cbos", "table I", "STS15", "Siamese CBOW", 0.3066),
    ("white", "table 1", "MOWE", "Opinosis", 69.30),
    ("white", "table 1", "PV-DM", "MSRP", 78.00),
]
NOT_THE_MEAN = {  # as printed; said in the file
    ("sif", "STS13", "GloVe+WR"),
    ("sif", "STS13", "GloVe+W"),
    ("cbos", "STS12", "CBOW"),
    ("cbos", "STS12", "skip-thought"),
    ("cbos", "STS13", "CBOW"),
}


@pytest.mark.parametrize("known", KNOWN, ids=lambda known: " ".join(known[:4]))
def test_a_figure_is_what_the_paper_prints(known: tuple[str, str, str, str, float]) -> None:
    paper, place, row, column, value = known
    found = {(figure.row, figure.column): figure.value for figure in published_figures(paper, place)}
    assert found[row, column] == value


def means(paper: str) -> list[tuple[tuple[str, str, str], float, float]]:
    """The figure printed for each year and system, and the mean of its tasks."""
    cells = {(figure.row, figure.column): figure.value for figure in published_figures(paper)}
    columns = dict.fromkeys(column for row, column in cells if row in YEAR_TASKS)
    return [
        ((paper, year, column), cells[year, column], sum(cells[task, column] for task in tasks) / len(tasks))
        for year, names in YEAR_TASKS.items()
        for column in columns
        if (year, column) in cells
        and (tasks := [f"20{year[3:]}.{name}" for name in names])
        and all((task, column) in cells for task in tasks)
    ]


def test_a_printed_year_is_the_mean_of_its_printed_tasks_but_for_those_that_are_named() -> None:
    checked = [*means("sif"), *((where, 100 * one, 100 * two) for where, one, two in means("cbos"))]
    assert len(checked) == 4 * (13 + 4) + 4 * 5
    assert {where for where, printed, mean in checked if abs(printed - mean) > 0.1} == NOT_THE_MEAN


def test_the_years_have_the_tasks_of_the_sif_papers_table_4() -> None:
    assert {year: len(tasks) for year, tasks in YEAR_TASKS.items()} == {"STS12": 5, "STS13": 4, "STS14": 6, "STS15": 5}
    assert YEAR_TASKS["STS12"] == {"MSRpar", "MSRvid", "SMTeuroparl", "OnWN", "SMTnews"}
    assert YEAR_TASKS["STS15"] == {"answers-forums", "answers-students", "belief", "headlines", "images"}
