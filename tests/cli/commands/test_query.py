"""`semsearch query`: formats, batches, exit statuses, and what a pipe or a terminal is given."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest
from console import on_terminal, semsearch

from semsearch import tuning
from semsearch.cli.answer_formats import Answer
from semsearch.results.hits import FLOOR, NEAREST
from semsearch.word_vectors.table import VectorTable

pytestmark = pytest.mark.usefixtures("here")

HIT = {
    "rank", "score", "dense", "lexical", "relevance", "path", "root", "document", "title", "format", "line", "page",
    "place", "headings", "sentence", "passage", "start", "end", "passage_id", "sentence_id", "metadata", "before",
    "after", "duplicates", "stale", "citation",
}  # fmt: skip


UNLIKELY = (-20.0, 1.0, 1.0, 0.0)  # numbers of the relevance by which nothing answers


def test_plain_is_what_a_pipe_gets() -> None:
    result = semsearch("query", "the captain of the ship", "-k", "1")
    assert (result.status, result.err) == (0, "")
    heading, sentence = result.lines
    assert re.match(r"docs/guide\.md:10  0\.\d{3}  The guide › Ships", heading)
    assert sentence == "    The captain of the ship sail to the harbour."


def test_json_is_an_object_with_query_mode_and_hits() -> None:
    answer = semsearch("query", "captain ship", "--all", "--json").json
    assert list(answer) == ["query", "mode", "verdict", "answered", "missing", "hits"]
    assert (answer["query"], answer["mode"], answer["answered"]) == ("captain ship", "hybrid", True)
    hit = answer["hits"][0]
    assert set(hit) == HIT
    assert (hit["path"], hit["line"], hit["headings"]) == ("docs/guide.md", 10, ["The guide", "Ships"])
    assert hit["metadata"]["author"] == "Ada"
    source = Path("docs/guide.md").read_text(encoding="utf-8")
    assert source[hit["start"] : hit["end"]] == hit["sentence"]


def test_a_misspelt_word_is_corrected_and_reported() -> None:
    result = semsearch("query", "the capatin", "--all", "--json")
    assert result.json["corrected"] == [{"asked": "capatin", "instead": "captain"}]
    assert result.json["hits"] == semsearch("query", "the captain", "--all", "--json").json["hits"]
    assert result.err == (
        "semsearch: warning: no passage has “capatin”: searched for “captain”; to search for exactly that, "
        'quote it: "capatin"\n'
    )
    plain = semsearch("query", "capatin ship", "--all", "--json", "--syntax", "plain")
    assert (plain.err, list(plain.json)) == ("", ["query", "mode", "verdict", "answered", "missing", "hits"])


def test_a_phrase_must_stand_there_and_a_word_with_a_hyphen_must_not() -> None:
    assert semsearch("query", '"captain of the ship"', "--format", "paths").lines == ["docs/guide.md"]
    missing = semsearch("query", '"ship of the captain"')
    assert (missing.status, missing.err) == (1, "semsearch: warning: no passage has the phrase 'ship of the captain'\n")
    assert semsearch("query", '"ship of the captain"', "--syntax", "plain").status == 0
    assert semsearch("query", "captain -captain", "--mode", "lexical").status == 1
    assert "only excludes words" in semsearch("query", "--", "-captain").err


def test_a_glob_and_a_regular_expression_choose_what_may_answer() -> None:
    hits = semsearch("query", "ship", "--all", "--filter", "guide.*", "--regex", r"\bsail\b", "--json").json["hits"]
    assert hits
    assert all(hit["document"].endswith("guide.md") and "sail" in hit["passage"].split() for hit in hits)
    nothing = semsearch("query", "ship", "--regex", "sail(?=ing)")
    assert (nothing.status, nothing.out) == (1, "")
    assert "no passage matches the regular expression 'sail(?=ing)'" in nothing.err


def test_jsonl_is_a_hit_a_line_with_its_query() -> None:
    hits = [json.loads(line) for line in semsearch("query", "captain ship", "--all", "--jsonl", "-k", "3").lines]
    assert [hit["rank"] for hit in hits] == [1, 2, 3]
    assert all(set(hit) == HIT | {"query", "mode", "verdict", "answered"} for hit in hits)


def test_context_surrounds_the_sentence() -> None:
    lines = semsearch("query", "storm wave", "--context", "1", "-k", "1").lines
    assert lines[1:] == [
        "    The captain of the ship sail to the harbour.",
        '  > A storm and a wave on the deck, "loud", was new.',
        "    The anchor is old.",
    ]


def test_the_end_that_is_unlikely_to_answer_is_left_out_and_counted(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tuning, "TUNING", tuning.TUNING._replace(relevance_fall=300.0))
    every = semsearch("query", "captain ship", "--all", "--json").json["hits"]
    answer = semsearch("query", "captain ship", "--json").json
    shown = len(answer["hits"])
    assert answer["hits"] == every[:shown]
    assert answer["weak"] == len(every) - shown > 0
    assert all(hit["relevance"] < FLOOR for hit in every[shown:])
    assert answer["hits"][-1]["relevance"] >= FLOOR


def test_nothing_may_answer_and_that_is_said(monkeypatch: pytest.MonkeyPatch) -> None:
    every = semsearch("query", "ship", "--all", "--json").json["hits"]
    monkeypatch.setattr(tuning, "TUNING", tuning.TUNING._replace(relevance=UNLIKELY))
    result = semsearch("query", "ship", "--json")
    assert (result.status, result.json["answered"], result.json["verdict"]) == (1, False, "not here")
    near = [(hit["path"], hit["line"]) for hit in result.json["hits"]]
    assert near == [(hit["path"], hit["line"]) for hit in every[:NEAREST]]
    assert result.json.get("weak", 0) == len(every) - len(near)
    said = f"nothing answers this; {Answer.left_out(len(every))}"
    assert result.err == f"semsearch: {said}\n"
    (line, *_) = semsearch("query", "ship", "--jsonl").lines
    assert {"verdict": "not here", "answered": False, "rank": 1}.items() <= json.loads(line).items()
    plain = semsearch("query", "ship")
    assert (plain.status, plain.lines[0]) == (1, "nothing answers this; nearest:")
    assert [line.split("  ")[1] for line in plain.lines if line.startswith("docs/")] == ["0% likely"] * len(near)
    table = semsearch("query", "ship", "--format", "table").out
    assert "nothing answers this; nearest:" in table
    assert table.count("0% likely") == len(near)
    for format_ in ("paths", "null", "vimgrep"):
        result = semsearch("query", "ship", "--format", format_)
        assert (result.status, result.out, result.err) == (1, "", f"semsearch: {said}\n")
    whole = semsearch("query", "ship", "--all", "--json")
    assert (whole.status, whole.json["answered"], len(whole.json["hits"])) == (0, False, len(every))
    assert semsearch("query", "ship", "--all").lines[0] == "nothing answers this; nearest:"


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["   "], "no words"),
        (["?!"], "no words"),
        (["ship", "-k", "0"], "k must be at least 1"),
        (["ship", "-f", "  "], "filter"),
        (["ship", "--context", "-1"], "context"),
        (["ship", "--min-score", "nan"], "min_score"),
        (["ship", "--min-score", "inf"], "min_score"),
        (["ship", "--index", "nowhere"], "nowhere"),
    ],
)
def test_what_cannot_be_meant_is_one_line_and_status_two(arguments: list[str], said: str) -> None:
    result = semsearch("query", *arguments)
    assert (result.status, result.out) == (2, "")
    assert result.err.startswith("semsearch: ")
    assert said in result.err
    assert len(result.err.splitlines()) == 1


def command(*arguments: object, **settings: str) -> subprocess.CompletedProcess[str]:
    """Run the real command, its output piped."""
    environment = {key: value for key, value in os.environ.items() if key not in ("NO_COLOR", "FORCE_COLOR")}
    return subprocess.run(
        [sys.executable, "-m", "semsearch", *map(str, arguments)],
        env={**environment, "PYTHONPATH": os.pathsep.join(sys.path), **settings},
        capture_output=True,
        encoding="utf-8",
        check=False,
    )


def test_a_pipe_gets_neither_colours_nor_progress(small_vectors: VectorTable, tmp_path: Path) -> None:
    made = command("index", "docs", "--indexes", tmp_path, "--vectors", small_vectors.folder)
    assert (made.returncode, made.stderr) == (0, "")
    assert "\x1b" not in made.stdout
    asked = command("query", "ship", "--indexes", tmp_path)
    assert (asked.returncode, asked.stderr) == (0, "")
    assert "\x1b" not in asked.stdout


@pytest.mark.skipif(sys.platform == "win32", reason="needs a pipe that can be closed early, and /dev/full")
def test_a_reader_that_has_had_enough_is_no_error() -> None:
    line = f"{sys.executable} -m semsearch query ship --jsonl -k 10 | true; echo ${{PIPESTATUS[0]}}"
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    done = subprocess.run(["bash", "-c", line], env=environment, capture_output=True, encoding="utf-8", check=False)
    assert (done.stdout, done.stderr) == ("0\n", "")


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs /dev/full")
@pytest.mark.parametrize("command", ["query ship --json", "export", "--version"])
def test_an_output_that_cannot_be_written_is_one_line(command: str) -> None:
    line = f"{sys.executable} -m semsearch {command} > /dev/full"
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    done = subprocess.run(["bash", "-c", line], env=environment, capture_output=True, encoding="utf-8", check=False)
    assert done.returncode == 2
    assert done.stderr == "semsearch: No space left on device: make room and try again\n"


def test_a_terminal_gets_colours_and_links() -> None:
    shown = on_terminal("query", "captain of the ship")
    assert "\x1b[35m" in shown
    assert "\x1b]8;" in shown
    assert "guide.md#10" in shown
    assert "\x1b[1mcaptain\x1b[0m" in shown


def test_progress_is_drawn_on_a_terminal(small_vectors: VectorTable, tmp_path: Path) -> None:
    shown = on_terminal("index", "docs", "--indexes", tmp_path, "--vectors", small_vectors.folder)
    assert "reading files" in shown
    assert f"{tmp_path / 'docs'}: 2 added" in shown.replace("\r\n", "")
    assert 'semsearch query --index docs "..."' in shown.replace("\r\n", "")


def test_ctrl_c_at_the_start_is_no_traceback() -> None:
    program = """
import sys
class Interrupting:
    def find_spec(self, name, *_):
        if name == "semsearch.cli.main":
            raise KeyboardInterrupt
sys.meta_path.insert(0, Interrupting())
from semsearch.__main__ import main
main()
"""
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, encoding="utf-8", check=False)
    assert (done.returncode, done.stderr) == (130, "semsearch: interrupted; nothing was changed\n")
