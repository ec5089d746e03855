"""The speed bench: its text, how readings become figures, what it leaves behind. Never how fast anything is."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from functools import partial
from pathlib import Path

import numpy as np
import pytest
from console import semsearch

from semsearch import SentenceEmbedder
from semsearch.text.sentences import sentence_spans
from semsearch.word_vectors.table import VectorTable
from semsearch_research.bench import peers, running, site
from semsearch_research.bench.bench_text import SampleParagraph, given, made_up, take_sample, write_corpus
from semsearch_research.bench.measurements import BenchReport, measurements_of
from semsearch_research.bench.processes import ONE_THREAD
from semsearch_research.bench.rounds import Case, Quantity, measure, needed
from semsearch_research.bench.running import bench

needs_wait4 = pytest.mark.skipif(not hasattr(os, "wait4"), reason="this system does not tell a child's memory")
PARTS = {
    "embed": ["embed sif", "embed usif"],
    "index": ["index", "index memory", "index disk"],
    "warm": ["warm hybrid", "warm dense", "warm lexical"],
}


@pytest.fixture(autouse=True)
def threads(monkeypatch: pytest.MonkeyPatch) -> None:
    for name, value in ONE_THREAD.items():
        monkeypatch.setenv(name, value)  # so that what the command sets is taken back


@pytest.fixture(scope="module")
def found(small_vectors: VectorTable, tmp_path_factory: pytest.TempPathFactory) -> Iterator[BenchReport]:
    """Some of it once, on as little as may be; and its folder, which must be empty then."""
    folder = tmp_path_factory.mktemp("temporary")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(running, "_temporary_folder", partial(tempfile.TemporaryDirectory, dir=folder))
        yield bench(1001, runs=1, only=PARTS, peers=["loop"], vectors=str(small_vectors.folder))
    assert list(folder.iterdir()) == []


def silent(*_: object) -> None:
    """Progress that nobody wants."""


def texts_of(paragraphs: list[SampleParagraph]) -> list[str]:
    return [paragraph.text for paragraph in paragraphs]


# -- the text ----------------------------------------------------------------------------------------------------


def test_made_up_sentences_are_found_by_the_splitter_and_have_thirteen_words_on_average(
    small_vectors: VectorTable,
) -> None:
    made = list(made_up(small_vectors, 5000))
    assert [len(sentence_spans(paragraph.text)) for paragraph in made] == [each.sentences for each in made]
    words = sum(len(paragraph.text.split()) for paragraph in made)
    assert words / 5000 == pytest.approx(13, abs=0.2)
    assert 5000 / len(made) == pytest.approx(5, abs=0.3)


def test_what_is_written_is_read_back(tmp_path: Path, small_vectors: VectorTable) -> None:
    made = list(made_up(small_vectors, 1000))
    corpus = write_corpus(made, tmp_path / "text", 1000, silent)
    assert list(corpus.each_paragraph()) == texts_of(made)
    files = list(corpus.paths())
    assert (corpus.files, corpus.paragraphs, corpus.sentences) == (len(files), len(made), 1000)
    assert corpus.bytes == sum(path.stat().st_size for path in files)
    assert corpus.words == sum(len(text.split()) for text in texts_of(made))


def test_a_given_text_is_used_as_far_as_it_is_asked_for(tmp_path: Path, small_vectors: VectorTable) -> None:
    path = tmp_path / "given.txt"
    path.write_text("".join(f"The  ship {n} sails. It is old.\n\n" for n in range(1500)), encoding="utf-8")
    assert texts_of(list(given(path, 1001)))[-1] == "The ship 500 sails. It is old."
    report = bench(1200, text=path, runs=1, only=["split"], vectors=str(small_vectors.folder))
    assert (report.text, report.corpus.sentences, report.corpus.paragraphs) == (str(path), 1200, 600)
    assert report.corpus.words == 600 * 7


# -- rounds and figures ------------------------------------------------------------------------------------------


def case(name: str, *floors: str, part: str = "") -> Case:
    return Case((Quantity(name, name, "time", floors=floors, part=part),), lambda: [[1.0]])


def test_cases_take_turns() -> None:
    ran: list[str] = []

    def of(name: str) -> Case:
        def run() -> list[list[float]]:
            ran.append(name)
            return [[float(len(ran))]]

        return Case((Quantity(name, name, "time"),), run)

    readings = measure([of("a"), of("b")], 3, silent)
    assert ran == ["a", "b"] * 3
    assert readings == {"a": [1, 3, 5], "b": [2, 4, 6]}


def test_what_is_wanted_brings_its_floors_and_theirs_and_nothing_else() -> None:
    cases = [case("memory"), case("scan", "memory"), case("copy"), case("warm", "scan", "absent", part="warm")]
    chosen = needed(cases, lambda quantity: quantity.part == "warm")
    assert [each.quantities[0].name for each in chosen] == ["memory", "scan", "warm"]


def test_a_ratio_is_of_medians_by_the_unit_where_both_have_the_same_and_of_the_whole_work_else() -> None:
    quantities = [
        Quantity("ours", "", "rate", 100, "sentences", floors=("pass", "theirs"), part="embed"),
        Quantity("theirs", "", "rate", 10, "sentences"),
        Quantity("pass", "", "time"),
        Quantity("unread", "", "time"),
    ]
    readings = {"ours": [2.0, 9.0, 1.0], "theirs": [4.0], "pass": [0.5], "unread": []}
    ours, theirs, _ = measurements_of(quantities, readings)
    assert ours.ratios == {"pass": 2.0 / 0.5, "theirs": (2.0 / 100) / (4.0 / 10)}
    assert (ours.median, ours.rate, ours.is_floor, theirs.is_floor) == (2.0, 50, False, True)


# -- processes ---------------------------------------------------------------------------------------------------


@needs_wait4
def test_a_launcher_that_is_ended_takes_its_process_along() -> None:
    sleeper = "import os, sys, time; print(os.getpid(), file=sys.stderr, flush=True); time.sleep(3600)"
    launcher = Path(site.__file__).with_name("launcher.py")
    command = [sys.executable, str(launcher), sys.executable, "-c", sleeper]
    with subprocess.Popen(command, stderr=subprocess.PIPE, text=True) as process:
        assert process.stderr
        number = int(process.stderr.readline())
        process.send_signal(signal.SIGTERM)
        process.wait()
    with pytest.raises(ProcessLookupError):
        os.kill(number, 0)


# -- a whole run -------------------------------------------------------------------------------------------------


def test_parts_are_measured_and_compared_with_its_floors(found: BenchReport) -> None:
    by_name = {each.name: each for each in found.measurements}
    names = {name for part in PARTS.values() for name in part}
    assert names | {"loop"} <= by_name.keys() | ({"index memory"} if not hasattr(os, "wait4") else set())
    assert {name for name, each in by_name.items() if not each.is_floor} <= names | {"loop", "index 2"}
    assert all(each.ratios or each.is_floor for each in by_name.values())
    assert all(min(each.readings) > 0 for each in by_name.values())


def test_an_interrupted_run_leaves_nothing(
    tmp_path: Path, small_vectors: VectorTable, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(running, "_temporary_folder", partial(tempfile.TemporaryDirectory, dir=tmp_path))
    made: list[Path] = []

    def interrupt(what: str, done: int, total: int) -> None:
        made.extend(tmp_path.glob("*"))
        if what.startswith("run 1"):
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        bench(1000, only=["split"], vectors=str(small_vectors.folder), progress=interrupt)
    assert made
    assert list(tmp_path.iterdir()) == []


# -- peers -------------------------------------------------------------------------------------------------------


def test_the_papers_loop_gives_the_vectors_of_the_paper(tmp_path: Path, small_vectors: VectorTable) -> None:
    sentences = take_sample(write_corpus(made_up(small_vectors, 1000), tmp_path, 1000, silent), 1000).sentences
    ours = SentenceEmbedder(small_vectors, a=1e-3, prior=0, unknown="skip").fit(sentences).transform(sentences)
    loop = peers.papers_loop(small_vectors, sentences)
    np.testing.assert_allclose(loop(sentences), ours, atol=1e-4)
    assert not loop(["", "Unheard."]).any()


def test_model2vec_with_our_table_gives_the_weighted_average(small_vectors: VectorTable) -> None:
    pytest.importorskip("model2vec")
    sentences = ["The ship in the harbour.", "Bread and butter", "A star, a comet!"]
    ours = SentenceEmbedder(small_vectors, a=1e-3, components=0, prior=0, unknown="skip").fit(sentences)
    encode = peers.own_model2vec(small_vectors)
    np.testing.assert_allclose(encode(sentences), ours.transform(sentences), atol=1e-5)


def test_bm25s_is_compared_with_the_whole_index_and_the_lexical_query(
    tmp_path: Path, small_vectors: VectorTable
) -> None:
    pytest.importorskip("bm25s")
    sample = take_sample(write_corpus(made_up(small_vectors, 1000), tmp_path, 1000, silent), 1000)
    whole = peers.peer_cases(["bm25s"], sample, small_vectors, whole=True)
    part = peers.peer_cases(["bm25s"], sample, small_vectors, whole=False)
    assert [each.quantities[0].floors for each in whole] == [("index",), ("warm lexical",)]
    assert [each.quantities[0].floors for each in part] == [("index",), ()], "fewer paragraphs compare with nothing"
    readings = measure(whole, 1, silent)
    assert [len(values) for values in readings.values()] == [1, len(sample.queries)]


# -- the command -------------------------------------------------------------------------------------------------


def test_the_command_gives_json(small_vectors: VectorTable) -> None:
    result = semsearch(
        "bench", "--sentences", 1000, "--runs", 3, "--only", "split", "--json", "--vectors", small_vectors.folder
    )
    assert result.status == 0
    split = next(each for each in result.json["measurements"] if each["name"] == "split")
    assert (split["readings"], split["unit"], list(split["ratios"])) == (3, "MB", ["full stops"])
