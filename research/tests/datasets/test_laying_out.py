"""A folder of data from the releases: what is recognised, what is refused, and that what is there is left alone."""

from __future__ import annotations

import gzip
import io
import json
import tarfile
import zipfile
from collections.abc import Mapping
from pathlib import Path

import pytest
from console import semsearch

from semsearch.errors import SourceError
from semsearch_research.datasets.lay_out import DataReport, lay_out_data
from semsearch_research.evaluate.sentence_pairs import read_tasks
from semsearch_research.paraphrase.groups import read_paraphrases
from semsearch_research.supervised.labelled import read_labelled

PAIRS = ["A ship sails.\tA boat sails.", "The court rules.\tA song is sung.", "Bread is baked.\tWe bake bread."]


def sts(
    task: str, *, scores: str = "4.5\n0\n3\n", pairs: list[str] | None = None, before: str = "STS"
) -> dict[str, str]:
    """The two files of a task."""
    lines = "".join(f"{pair}\n" for pair in (PAIRS if pairs is None else pairs))
    return {f"{before}.input.{task}.txt": lines, f"{before}.gs.{task}.txt": scores}


def write(folder: Path, files: Mapping[str, str]) -> Path:
    for name, text in files.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text, encoding="utf-8")
    return folder


def zipped(path: Path, files: Mapping[str, str]) -> Path:
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, text in files.items():
            archive.writestr(name, text)
    return path


def tarred(path: Path, files: Mapping[str, str]) -> Path:
    with tarfile.open(path, "w:gz") as archive:
        for name, text in files.items():
            member = tarfile.TarInfo(name)
            member.size = len(text.encode())
            archive.addfile(member, io.BytesIO(text.encode()))
    return path


def laid_out(tmp_path: Path, *sources: Path) -> tuple[Path, DataReport]:
    return tmp_path / "data", lay_out_data(tmp_path / "data", sources=sources)


def text_of(folder: Path, path: str) -> list[str]:
    return (folder / path).read_text(encoding="utf-8").splitlines()


# -- what is recognised ------------------------------------------------------------------------------------------------


def test_pairs_and_scores_of_semeval_become_tasks_and_blank_scores_stay_blank(tmp_path: Path) -> None:
    blank = zipped(tmp_path / "a.zip", {f"raw/{name}": text for name, text in sts("belief", scores="4\n\n1\n").items()})
    surprise = tarred(
        tmp_path / "b.tgz",
        {f"test-gold/{n}": t for n, t in sts("surprise.OnWN").items()}
        | {f"test-gold/{name}": text for name, text in sts("MSRpar").items()},
    )
    of_2016 = write(
        tmp_path / "c", sts("plagiarism", pairs=[f"{pair}\tnotes\tmore" for pair in PAIRS], before="STS2016")
    )
    folder, report = laid_out(tmp_path, blank, surprise, of_2016)
    assert report.problems == ()
    assert report.written == tuple(
        f"sts/{name}.test.tsv" for name in ("2012.MSRpar", "2012.OnWN", "2015.belief", "2016.plagiarism")
    )
    assert text_of(folder, "sts/2015.belief.test.tsv") == [
        f"{s}\t{p}" for s, p in zip(("4", "", "1"), PAIRS, strict=True)
    ]
    tasks = {task.name: task for task in read_tasks([folder])}
    assert tasks["2015.belief"].scores.tolist() == [4, 1]
    assert tasks["2016.plagiarism"].second[0] == "A boat sails."
    [zero] = (task for task in read_tasks([folder], blank_as_zero=True) if task.name == "2015.belief")
    assert zero.scores.tolist() == [4, 0, 1]


SICK = "pair_ID\tsentence_A\tsentence_B\tentailment_label\trelatedness_score\tSemEval_set\n" + "".join(
    f"{number}\tA ship sails \tNo. {number} sails\t{label}\t{score}\t{split}\n"
    for split in ("TRAIN", "TRIAL", "TEST")
    for number, (label, score) in enumerate([("NEUTRAL", 3.2), ("ENTAILMENT", 4.7)])
)


def test_sick_and_the_benchmark_are_laid_out_by_their_columns(tmp_path: Path) -> None:
    benchmark = "".join(
        f"main-news\tMSRpar\t2012test\t000{n}\t{n}.5\t{pair}\tlicence\n" for n, pair in enumerate(PAIRS)
    )
    archive = zipped(tmp_path / "a.zip", {"SICK/SICK.txt": SICK, "stsbenchmark/sts-test.csv": benchmark})
    folder, report = laid_out(tmp_path, archive)
    assert report.problems == ()
    assert text_of(folder, "sts/sick.dev.tsv")[1] == "4.7\tA ship sails\tNo. 1 sails\tENTAILMENT"
    assert text_of(folder, "sts/stsb.test.tsv")[2] == f"2.5\t{PAIRS[2]}"
    assert {task.group for task in read_tasks([folder])} == {"SICK14", "STSb"}
    assert [task.name for task in read_labelled([folder])] == ["sick relatedness", "sick entailment"]


def test_pairs_of_paraphrases_become_groups_along_their_chains(tmp_path: Path) -> None:
    header = "\ufeffQuality\t#1 ID\t#2 ID\t#1 String\t#2 String\r\n"
    train = [(1, 1, 2), (1, 2, 3), (0, 3, 4), (1, 7, 8)]
    test = [(1, 5, 6), (1, 6, 4), (1, 3, 9)]
    source = tmp_path / "got"
    for name, rows in (("train", train), ("test", test)):
        lines = "".join(f"{quality}\t{a}\t{b}\tsentence {a}\tsentence {b}\r\n" for quality, a, b in rows)
        write(source, {f"msr_paraphrase_{name}.txt": header + lines})
    folder, report = laid_out(tmp_path, source)
    assert report.problems == ()
    [groups] = read_paraphrases([folder])
    found: dict[int, list[str]] = {}
    for number, text in zip(groups.groups.tolist(), groups.texts, strict=True):
        found.setdefault(number, []).append(text[-1])
    assert list(found.values()) == [["1", "2", "3", "9"], ["4", "5", "6"]]  # 7 and 8 are two only
    (source / "msr_paraphrase_test.txt").unlink()
    [problem] = lay_out_data(tmp_path / "other", sources=[source]).problems
    assert "there is no msr_paraphrase_test.txt" in problem


def test_trees_snli_and_reviews_become_labelled_texts(tmp_path: Path) -> None:
    trees = {
        "train": "(3 (2 It) (4 (2 's) (4 good)))\n(1 (2 A) (0 (1 bad) (2 -RRB-)))\n",
        "dev": "(2 (2 So) (3 nice))\n(4 (4 Great) (2 !))\n",
        "test": "(0 (0 Awful) (2 .))\n",
    }
    source = write(tmp_path / "got", {f"trees/{split}.txt": text for split, text in trees.items()})
    for split in ("train", "dev", "test"):
        row = {"gold_label": "neutral", "sentence1": "A  man\tsits.", "sentence2": "He rests.", "captionID": "x"}
        write(source, {f"snli_1.0_{split}.jsonl": json.dumps(row) + "\n"})
    reviews = {
        f"aclImdb/{split}/{side}/{n}_{9 if side == 'pos' else 2}.txt": f"{side} {n}<br /><br />\nend"
        for split in ("train", "test")
        for side in ("pos", "neg")
        for n in (9, 10)
    }
    folder, report = laid_out(tmp_path, source, tarred(tmp_path / "aclImdb_v1.tar.gz", reviews))
    assert report.problems == ()
    assert text_of(folder, "supervised/sst.train.tsv") == [
        "good\t1",
        "'s good\t1",
        "It 's good\t1",
        "bad\t0",
        "bad )\t0",
        "A bad )\t0",
    ]
    assert text_of(folder, "supervised/sst.dev.tsv") == ["Great !\t1"]
    assert text_of(folder, "supervised/snli.dev.tsv") == ["A man sits.\tHe rests.\tneutral"]
    assert text_of(folder, "supervised/imdb.train.tsv") == ["neg 9 end\tneg", "pos 9 end\tpos"]
    assert text_of(folder, "supervised/imdb.dev.tsv") == ["neg 10 end\tneg", "pos 10 end\tpos"]
    assert len(text_of(folder, "supervised/imdb.test.tsv")) == 4


def test_word_vectors_are_copied_or_unpacked(tmp_path: Path) -> None:
    rows = "".join(f"word{number} " + " ".join(["0.25"] * 30) + "\n" for number in range(4))
    source = write(tmp_path / "got", {"paragram_300.txt": rows, "glove.txt": "no vectors"})
    with gzip.open(source / "my.vec.gz", "wb") as packed:
        packed.write(f"4 30\n{rows}".encode())
    folder, report = laid_out(tmp_path, source)
    assert report.written == ("vectors/my.vec", "vectors/paragram_300.txt")
    assert (folder / "vectors" / "paragram_300.txt").read_text() == rows
    assert report.vectors == ("my.vec", "paragram_300.txt")
    assert len(report.problems) == 1
    assert sorted(path.name for path in (folder / "vectors").iterdir()) == ["my.vec", "paragram_300.txt"]


# -- what is there stays -----------------------------------------------------------------------------------------------


def test_a_second_time_nothing_is_done(tmp_path: Path) -> None:
    source = write(tmp_path / "got", sts("belief") | {"SICK.txt": SICK})
    folder, first = laid_out(tmp_path, source)
    before = {path: path.stat().st_mtime_ns for path in folder.rglob("*")}
    again = lay_out_data(folder, sources=[source])
    assert len(first.written) == 4
    assert (again.written, again.problems) == ((), ())
    assert {path: path.stat().st_mtime_ns for path in folder.rglob("*")} == before
    assert again.datasets == first.datasets == lay_out_data(folder).datasets


def test_releases_may_lie_in_the_folder_itself(tmp_path: Path) -> None:
    write(tmp_path / "downloads", sts("belief"))
    assert lay_out_data(tmp_path).written == ("sts/2015.belief.test.tsv",)
    assert lay_out_data(tmp_path).written == ()


# -- what is refused ---------------------------------------------------------------------------------------------------


def test_names_in_archives_lead_nowhere(tmp_path: Path) -> None:
    outside = {f"../../{name}": text for name, text in sts("belief").items()}
    linked = tmp_path / "b.tar"
    with tarfile.open(linked, "w") as archive:
        member = tarfile.TarInfo("STS.input.FNWN.txt")
        member.type, member.linkname = tarfile.SYMTYPE, "/etc/passwd"
        archive.addfile(member)
    before = set(tmp_path.parent.iterdir())
    folder, report = laid_out(tmp_path, zipped(tmp_path / "a.zip", outside), linked)
    assert report.written == ("sts/2015.belief.test.tsv",)
    assert set(tmp_path.parent.iterdir()) == before
    assert {path.relative_to(folder).as_posix() for path in folder.rglob("*")} == {"sts", *report.written}


BROKEN = {
    "damaged.zip": (b"PK\x03\x04 and then nothing", "damaged.zip: File is not a zip file"),
    "damaged.tgz": (b"\x1f\x8b\x08\x00 nothing of the kind", "damaged.tgz: "),
    "SICK_train.txt": (b"no header\n", "SICK_train.txt, line 1: expected pair_ID, sentence_A"),
    "sts-dev.csv": (b"genre\tfile\tyear\t1\thigh\tone\ttwo\n", "sts-dev.csv, line 1: expected genre, file"),
    "STS.input.SMT.txt": (b"one\ttwo\n", "there are no scores beside it, STS.gs.SMT.txt"),
    "trees/dev.txt": (b"(3 (2 It) (4 works)\n", "dev.txt, line 1: expected a tree"),
    "snli_1.0_dev.jsonl": (b'{"sentence1": "a"}\n', "line 1: expected an object with sentence1, sentence2"),
    "sentiment-dev": (b"\xff\xfe\n", "sentiment-dev, line 1: this is not UTF-8"),
    "msr_paraphrase_test.txt": (b"1\t2\t3\n", "line 1: expected a quality of 0 or 1, two ids"),
}


@pytest.mark.parametrize("name", list(BROKEN))
def test_a_broken_original_is_told_and_the_others_are_laid_out(tmp_path: Path, name: str) -> None:
    data, said = BROKEN[name]
    source = write(tmp_path / "got", sts("belief"))
    (source / name).parent.mkdir(exist_ok=True)
    (source / name).write_bytes(data)
    result = semsearch("evaluate", "data", tmp_path / "data", "--from", source, "--json")
    assert result.status == 1
    found = json.loads(result.out)
    assert found["written"] == ["sts/2015.belief.test.tsv"]
    assert len(found["problems"]) == 1
    assert said in found["problems"][0]
    assert said in result.err
    assert "Traceback" not in result.err


def test_a_mistake_is_said(tmp_path: Path) -> None:
    with pytest.raises(SourceError, match=r"there is no .*gone; give a folder or an archive"):
        lay_out_data(tmp_path, sources=[tmp_path / "gone"])
    with pytest.raises(SourceError, match=r"there is no .*gone"):
        lay_out_data(tmp_path / "gone")
    (tmp_path / "file").write_text("x")
    with pytest.raises(SourceError, match="is a file; name the folder"):
        lay_out_data(tmp_path / "file", sources=[tmp_path])
