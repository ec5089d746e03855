"""All experiments in one report: what is run, what is said of the rest, tables beside the papers', notes that stay."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
from collections_made import pairs, sick, write_groups, write_pairs
from console import semsearch

from semsearch.errors import SourceError, UsageError
from semsearch.word_vectors.table import VectorTable
from semsearch_research.evaluate.published import published_figures
from semsearch_research.papers import reproduction, writing
from semsearch_research.papers.document import pages
from semsearch_research.papers.notes import read_notes
from semsearch_research.papers.reproduction import evaluate_report
from semsearch_research.papers.writing import write_report
from semsearch_research.papers_report import PapersReport

LONG = ("supervised", "classify")


@pytest.fixture(autouse=True)
def threads(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
        monkeypatch.setenv(name, "1")  # so that what a command sets is taken back


@pytest.fixture
def data(tmp_path: Path) -> Path:
    """A folder with all four sub-folders, tiny."""
    return make_data(tmp_path / "data")


def make_data(folder: Path) -> Path:
    for name in ("sts", "paraphrase", "frequencies"):
        (folder / name).mkdir(parents=True)
    for seed, name in enumerate(("2012.MSRpar", "2014.OnWN", "2014.images", "stsb")):
        write_pairs(folder / "sts" / f"{name}.test.tsv", pairs(seed))
    sick(folder / "sts")
    write_groups(folder / "paraphrase" / "topics.tsv", [3, 4, 3, 5])
    (folder / "frequencies" / "counts.txt").write_text("the 900\na 700\nship 20\nbread 10\n", encoding="utf-8")
    return folder


def document(report: PapersReport, written: Mapping[str, str]) -> str:
    """The text of all pages, the papers in their order, then the index."""
    return "".join(pages(report, written).values())


def run(data: Path, vectors: VectorTable, *without: str, **options: Any) -> PapersReport:
    return evaluate_report(data, vectors=[vectors.folder], without=without, **options)


# -- what is run -------------------------------------------------------------------------------------------------------


def test_all_is_run_that_there_are_data_for(
    data: Path, small_vectors: VectorTable, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked = []
    monkeypatch.setattr(reproduction, "evaluate_supervised", lambda paths, **_: asked.append(paths))
    report = run(data, small_vectors, "classify")
    found = report.to_dict()
    for name in ("sts", "fitted", "on_counts", "weights", "counted", "sweep"):
        assert found[name], name
    assert asked == [[data / "sts"]]  # where SICK has labels
    assert report.missing == (
        "classify: left out (--without)",
        "cbos: it needs tasks of STS 2012 to 2015 and a text (--train-text)",
    )
    assert report.counts == ("counts.txt",)


def test_what_there_are_no_data_for_is_named(tmp_path: Path, small_vectors: VectorTable) -> None:
    (tmp_path / "sts").mkdir()
    write_pairs(tmp_path / "sts" / "mine.tsv", pairs(1))
    report = run(tmp_path, small_vectors)
    assert report.sts is not None
    assert [line.partition(":")[0] for line in report.missing] == [
        "supervised",
        "classify",
        "cbos",
    ]
    text = document(report, {})
    assert "- classify: there is no paraphrase/ with .tsv files\n" in text
    assert "Into groups of paraphrases" not in text


def test_paragraph_vectors_and_cbos_wait_for_a_text(
    data: Path, small_vectors: VectorTable, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    given: dict[str, Any] = {}
    monkeypatch.setattr(
        reproduction,
        "evaluate_classify",
        lambda *_, **options: given.update(classify=options),
    )
    monkeypatch.setattr(reproduction, "evaluate_cbos", lambda *_, **options: given.update(cbos=options))
    quick = ("sts", "weights", "sweep", "supervised")
    report = run(data, small_vectors, *quick)
    assert report.missing[-1] == "paragraph vectors: no text to train on was given (--train-text)"
    assert given["classify"]["train_text"] == []
    assert "cbos" not in given
    pytest.importorskip("gensim", reason="no wheel of gensim for this Python")
    text = tmp_path / "text.txt"
    with pytest.raises(SourceError, match=r"there is no .*text\.txt; give a text file"):
        run(data, small_vectors, train_text=[text])  # before anything is run
    text.write_text("A text.\n")
    report = run(data, small_vectors, *quick, train_text=[text], train_sentences=77)
    assert (report.texts, report.train_sentences) == (("text.txt",), 77)
    assert given["classify"]["train_text"] == [text]
    assert given["classify"]["paragraphs"].sentences == given["cbos"]["sentences"] == 77


def test_a_folder_without_data_is_said(tmp_path: Path, data: Path, small_vectors: VectorTable) -> None:
    with pytest.raises(SourceError, match="has no data; expected a folder with sts/, paraphrase/"):
        evaluate_report(tmp_path)
    with pytest.raises(SourceError, match="is no folder"):
        evaluate_report(tmp_path / "nowhere")
    with pytest.raises(UsageError, match="two of the word vectors are the same"):
        evaluate_report(data, vectors=[small_vectors.folder, small_vectors.folder])


# -- what it says ------------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def report(tmp_path_factory: pytest.TempPathFactory, small_vectors: VectorTable) -> PapersReport:
    return run(make_data(tmp_path_factory.mktemp("report") / "data"), small_vectors, *LONG)


def cells(text: str, first: str) -> list[str]:
    """The cells of the only line that begins with this one."""
    [line] = [line for line in text.splitlines() if line.startswith(f"| {first} |")]
    return [cell.strip() for cell in line.strip("|").split("|")][1:]


def test_ours_stands_beside_the_published_mean_of_the_same_tasks(report: PapersReport) -> None:
    text = document(report, {})
    head = "| Pearson's r × 100 | STS12 (1 of 5) | STS14 (2 of 6) | SICK14 | STSb |"
    assert f"{head} STS13, as printed | Twitter15, as printed |" in text
    assert report.sts is not None
    ours = {a.group: a for a in report.sts.averages if a.method == "tfidf"}
    shown = (ours[group] for group in ("STS12", "STS14", "SICK14", "STSb"))
    assert cells(text, "**tfidf, small**") == [
        *(f"**{one.pearson:.1f} ± {(one.high - one.low) / 2:.1f}**" for one in shown),
        "**–**",
        "**–**",
    ]
    assert "- Twitter15: there is no sts/twitter15.test.tsv" in text
    table_5 = {
        figure.row: figure.value for figure in published_figures("sif", "table 5") if figure.column == "GloVe+WR"
    }
    [sick_14] = [f.value for f in published_figures("sif", "table 1") if (f.row, f.column) == ("SICK14", "GloVe+WR")]
    both = (table_5["2014.OnWN"] + table_5["2014.images"]) / 2
    similarity = text.partition("# uSIF: ")[0]
    assert cells(similarity, "GloVe+WR") == [
        f"{table_5['2012.MSRpar']:.1f}",
        f"{both:.1f}",
        f"{sick_14:.1f}",
        "–",
        "56.6",
        "48.0",
    ]
    of_usif = text.partition("# uSIF: ")[2]
    assert cells(of_usif, "GloVe+UP")[:2] == ["–", "–"]  # published by year alone


def test_the_text_depends_on_nothing_but_the_results(
    data: Path, small_vectors: VectorTable, report: PapersReport, tmp_path: Path
) -> None:
    again = run(data, small_vectors, *LONG, fresh=True)
    assert document(again, {}) == document(report, {})
    for said in (document(again, {}), json.dumps(again.to_dict())):
        assert str(tmp_path) not in said
        assert str(small_vectors.folder) not in said


# -- notes -------------------------------------------------------------------------------------------------------------


def test_notes_stay_on_their_pages_whether_run_or_not(
    report: PapersReport, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(writing, "drawn", lambda _: {})  # pictures have no notes
    out = tmp_path / "papers"
    out.mkdir()
    names = ("opening", "weights", "parts", "cbos", "mine")
    one_page = "".join(f"<!-- note: {name} -->\nOf {name}.\n<!-- end -->\n" for name in names)
    (out / "README.md").write_text(one_page, encoding="utf-8")  # as a page of before has them
    write_report(report, out)
    homes = {"opening": "README", "weights": "sif", "parts": "usif", "cbos": "cbos", "mine": "README"}
    for name, home in homes.items():
        assert read_notes(out / f"{home}.md")[name] == f"Of {name}."
    assert "Nothing of this paper was run this time." in (out / "cbos.md").read_text(encoding="utf-8")
    before = {path: path.read_bytes() for path in out.glob("*.md")}
    write_report(report, out)
    assert {path: path.read_bytes() for path in out.glob("*.md")} == before
    assert "earlier run" not in (out / "README.md").read_text(encoding="utf-8")
    (out / "cbos.md").write_text("Of last week.\n<!-- note: cbos -->\nOf cbos.\n<!-- end -->\n", encoding="utf-8")
    write_report(report, out)
    assert (out / "cbos.md").read_text(encoding="utf-8").startswith("Of last week.")
    assert "not run this time; the page is of an earlier run" in (out / "README.md").read_text(encoding="utf-8")
    with (out / "sif.md").open("a", encoding="utf-8") as page:
        page.write("<!-- note: cbos -->\n<!-- end -->\n")
    with pytest.raises(UsageError, match=r"sif\.md and .*cbos\.md both have a note 'cbos'; join them"):
        write_report(report, out)


# -- the command -------------------------------------------------------------------------------------------------------


def test_each_paper_has_its_page_with_pictures_and_the_index_leads_to_it(report: PapersReport, tmp_path: Path) -> None:
    out = tmp_path / "papers"
    *written, index = write_report(report, out)
    assert sorted(path.name for path in out.iterdir()) == [
        *("README.md", "cbos.md", "images", "sif.md", "usif.md", "white.md"),
    ]
    assert index == out / "README.md"
    text = index.read_text(encoding="utf-8")
    assert "report DATA --out FOLDER --vectors small\n" in text
    contents = cells(text, "[uSIF: Ethayarajh 2018](usif.md)")[0]
    assert contents.startswith("Similarity of sentences (tables 1 and 2); Its")
    assert cells(text, "[Continuous bag of sentences: Yuan, Zhang](cbos.md)") == ["not run this time"]
    for name, heading in (("sif", "SIF: Arora, Liang, Ma 2017"), ("usif", "uSIF: Ethayarajh 2018")):
        page = (out / f"{name}.md").read_text(encoding="utf-8")
        assert page.startswith(f"# {heading}\n\nA page of [The papers, reproduced](README.md)")
        assert all((out / link).is_file() for link in re.findall(r"!\[[^]]+\]\(([^)]+)\)", page))
    pictures = [path for path in written if path.suffix == ".png"]
    assert [path.name for path in pictures] == ["sts.png", "weights.png", "sweep.png"]
    assert all(path.read_bytes().startswith(b"\x89PNG") and path.stat().st_size < 80_000 for path in pictures)


def test_the_command_writes_or_prints(data: Path, small_vectors: VectorTable, tmp_path: Path) -> None:
    command = ("evaluate", "report", data, "--vectors", small_vectors.folder)
    command = (*command, *(part for name in (*LONG, "sweep") for part in ("--without", name)))
    nowhere = semsearch(*command)
    assert (nowhere.status, nowhere.out) == (2, "")
    assert "give --out FOLDER" in nowhere.err
    out = tmp_path / "papers"
    assert semsearch(*command, "--out", out).out == f"{out}, with 2 pictures\n"
    result = semsearch(*command, "--json")
    assert json.loads(result.out)["weights"]["vectors"] == "small"
    assert "seconds" not in result.out
