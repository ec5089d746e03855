"""The reference has all that the code has: commands, options, variables, exit statuses, and every key of the JSON."""

from __future__ import annotations

import re
from importlib.metadata import entry_points
from pathlib import Path
from typing import Any

import pytest
from code_reading import SOURCES, SOURCES_OF_RESEARCH, dataclasses_in, module_of, statuses, variables
from console import index_docs, semsearch, work_in, write_docs
from guide import ROOT, read
from reference_page.commands import Command, commands, commands_of_research
from reference_page.environment import OF_RESEARCH as VARIABLES_OF_RESEARCH, VARIABLES
from reference_page.keys import Key, keys_of
from reference_page.page import page, page_of_research
from reference_page.printed import OF_RESEARCH as PRINTED_BY_RESEARCH, PRINTED
from reference_page.sources import find_class

from semsearch.cli.main import app
from semsearch.cli.messages import STATUSES
from semsearch.word_vectors.table import VectorTable

PAGE = read("docs/reference.md")
NOT_PRINTED = {  # handed to or by programs; those of pages, passages and maps are in the OpenAPI document
    "DocumentText", "Progress", "SearchOptions", "Checkup", "DiskPart", "Finding",
    "DocumentPassages", "PlacedPassage", "PlacedSentence", "PdfPage", "PageSentence", "TextBox",
    "MapPassage", "MapProgress", "MapStatus",
}  # fmt: skip
RESULTS = {
    name: module_of(path)
    for path in sorted((ROOT / "semsearch" / "results").rglob("*.py"))
    for name in dataclasses_in(path)
    if name not in NOT_PRINTED
}


RESEARCH_IS_INSTALLED = any(point.name == "bench" for point in entry_points(group="semsearch.commands"))
NOT_INSTALLED = "semsearch-research is not installed"
OF_RESEARCH = {one.command for one in PRINTED_BY_RESEARCH}
needs_research = pytest.mark.skipif(not RESEARCH_IS_INSTALLED, reason=NOT_INSTALLED)


def section(heading: str) -> str:
    """The part of the reference under a heading, without what is under deeper ones."""
    found = re.search(rf"^#+ {re.escape(heading)}$", PAGE, re.MULTILINE)
    assert found, f"the reference has no {heading}"
    return re.split(r"^#+ ", PAGE[found.end() :], maxsplit=1, flags=re.MULTILINE)[0]


def test_the_page_is_what_the_code_gives() -> None:
    assert page() == PAGE, "run: python tests/support/reference_page > docs/reference.md"


@pytest.mark.parametrize("command", commands(app)[1:], ids=lambda command: command.name)
def test_every_option_of_a_commands_help_is_in_its_section(command: Command) -> None:
    shown = semsearch(*command.name.split()[1:], "--help").out
    options = set(re.findall(r"^  (?:-\w, )?(--[\w-]+)", shown, re.MULTILINE)) - {"--help"}
    assert not [option for option in options if option not in section(command.name)]


@needs_research
def test_the_page_of_research_is_what_its_code_gives() -> None:
    run = "run: python tests/support/reference_page research > research/docs/reference.md"
    assert page_of_research() == read("research/docs/reference.md"), run


@needs_research
def test_every_option_of_researchs_commands_is_in_its_reference() -> None:
    text = read("research/docs/reference.md")
    for command in commands_of_research(app):
        shown = semsearch(*command.name.split()[1:], "--help").out
        assert not [
            option for option in re.findall(r"^  (?:-\w, )?(--[\w-]+)", shown, re.MULTILINE) if option not in text
        ]


@needs_research
def test_what_each_command_of_research_with_json_prints_is_listed() -> None:
    with_json = [one.name.removeprefix("semsearch ") for one in commands_of_research(app) if one.has_json]
    assert sorted(with_json) == sorted(one.command for one in PRINTED_BY_RESEARCH)


@needs_research
def test_every_variable_that_research_sets_is_in_its_table() -> None:
    used = {
        name for path in SOURCES_OF_RESEARCH for name in variables(path.read_text(encoding="utf-8"), module_of(path))
    }
    set_by_semsearch = {"OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"}
    assert used | set_by_semsearch == {one.name for one in VARIABLES_OF_RESEARCH if one.user == "semsearch"}


def test_every_variable_that_the_code_reads_or_sets_is_in_the_table() -> None:
    used = {name for path in SOURCES for name in variables(path.read_text(encoding="utf-8"), module_of(path))}
    assert used == {variable.name for variable in VARIABLES if variable.user == "semsearch"}


@pytest.mark.parametrize(
    ("code", "names"),
    [
        ("os.environ['A']", ["A"]),
        ("os.getenv('A', '')", ["A"]),
        ("os.environ.get('A') or os.environ.setdefault('B', '1')", ["A", "B"]),
        ("for name in ('A', 'B'):\n    os.environ.pop(name, None)", ["A", "B"]),
        ("run(env={**os.environ, 'A': '1'})", ["A"]),
        ("option(envvar='A')", ["A"]),
        ("option(envvar=['A', 'B'])", ["A", "B"]),
    ],
)
def test_a_variable_is_seen_however_it_is_read(code: str, names: list[str]) -> None:
    assert sorted(variables(code, "made")) == names


def test_a_variable_whose_name_is_not_to_be_seen_is_refused() -> None:
    with pytest.raises(AssertionError, match="which environment variable"):
        list(variables("os.environ[name()]", "made"))


def test_every_exit_status_that_the_code_names_is_in_the_table() -> None:
    used = {status for path in SOURCES for status in statuses(path.read_text(encoding="utf-8"), module_of(path))}
    assert used | {0} == set(STATUSES)
    assert list(statuses("raise typer.Exit(3)\nsys.exit(4)\nraise typer.Exit(code=5)", "made")) == [3, 4, 5]


def test_what_each_command_with_json_prints_is_listed() -> None:
    with_json = [one.name.removeprefix("semsearch ") for one in commands(app) if one.has_json]
    assert sorted(with_json) == sorted(one.command for one in PRINTED)


@pytest.mark.parametrize("result", RESULTS)
def test_every_field_of_a_result_is_in_the_reference(result: str) -> None:
    found = find_class(result, RESULTS[result])
    assert found is not None
    assert [field.name for field in found.stored] == re.findall(
        r"^\| `(\w+)`(?: \?)? \|", section(result), re.MULTILINE
    )


def assert_has_keys(value: Any, keys: list[Key], where: str) -> None:
    """Assert that an object has the documented keys, and nested objects theirs."""
    certain = [key for key in keys if not key.name.startswith("<")]  # the others stand for any number of keys
    names = {name for key in certain for name in key.name.split(" or ")}
    assert isinstance(value, dict), where
    assert len(certain) < len(keys) or not set(value) - names, where
    assert not [key.name for key in certain if not key.is_optional and not set(key.name.split(" or ")) & set(value)], (
        where
    )
    for key in certain:
        inner = value.get(key.name)
        entries = inner if isinstance(inner, list) else [inner] if isinstance(inner, dict) else []
        if len(key.kind.classes) == 1 and not key.kind.words.startswith("object"):
            for entry in entries:
                assert_has_keys(entry, keys_of(key.kind.classes[0]), f"{where}.{key.name}")


@pytest.fixture(scope="module")
def indexed(tmp_path_factory: pytest.TempPathFactory, small_vectors: VectorTable) -> Path:
    folder = tmp_path_factory.mktemp("reference")
    write_docs(folder)
    (folder / "pairs.test.tsv").write_text(
        "5.0\tA ship on the sea.\tThe boat is old.\n1.0\tA violin and a piano.\tThe judge in the court.\n"
        "3.0\tA star and a planet.\tThe moon is in the sky.\n",
        encoding="utf-8",
    )
    for name, text in {
        "corpus.jsonl": '{"_id": "a", "text": "A ship sail."}\n{"_id": "b", "text": "A violin and a piano."}\n',
        "queries.jsonl": '{"_id": "q", "text": "ship"}\n{"_id": "r", "text": "violin"}\n',
        "qrels/test.tsv": "query-id\tcorpus-id\tscore\nq\ta\t1\nr\tb\t1\n",
    }.items():
        path = folder / "collection" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    return index_docs(folder, small_vectors)


SMALL = {
    "query": ["ship", "--context", "1"],
    "similar": ["docs/guide.md:10"],
    "context": ["ship"],
    "ask": ["ship", "--filter", "nowhere/*"],  # no model is asked
    "index": [],
    "status": [],
    "list": [],
    "vectors info": ["VECTORS"],
    "vectors neighbours": ["ship", "--vectors", "VECTORS"],
    "evaluate sts": ["pairs.test.tsv", "--vectors", "VECTORS"],
    "evaluate sweep": ["pairs.test.tsv", "--vectors", "VECTORS", "--a", "0.001"],
    "evaluate weights": ["--word", "ship", "--vectors", "VECTORS"],
    "evaluate components": ["pairs.test.tsv", "--vectors", "VECTORS"],
    "evaluate removal": ["pairs.test.tsv", "--vectors", "VECTORS", "--m", "1"],
    "evaluate confound": ["--words", "ship", "judge", "violin", "--vectors", "VECTORS"],
    "evaluate retrieval": ["collection", "--vectors", "VECTORS"],
}


@pytest.mark.parametrize("command", SMALL)
def test_a_command_prints_the_keys_that_the_reference_has(
    command: str, indexed: Path, small_vectors: VectorTable, monkeypatch: pytest.MonkeyPatch
) -> None:
    if command in OF_RESEARCH and not RESEARCH_IS_INSTALLED:
        pytest.skip(NOT_INSTALLED)
    work_in(indexed, monkeypatch)
    (printed,) = [one for one in (*PRINTED, *PRINTED_BY_RESEARCH) if one.command == command]
    options = [str(small_vectors.folder) if option == "VECTORS" else option for option in SMALL[command]]
    found = semsearch(*command.split(), *options, "--json").json
    for one in found if printed.is_list else [found]:
        assert_has_keys(one, printed.keys, command)


def test_explanations_and_directions_have_the_keys_that_the_reference_has(
    indexed: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    work_in(indexed, monkeypatch)
    named = {one.name: keys_of(one) for printed in PRINTED for one in printed.named}
    for hit in semsearch("query", "a ship in the storm", "--explain", "--json").json["hits"]:
        assert_has_keys(hit["explain"], named["Explanation"], "explain")
    for direction in semsearch("status", "--components", "--json").json["directions"]:
        assert_has_keys(direction, named["Direction"], "directions")
    for file in semsearch("status", "--coverage", "--json").json["coverage"]:
        assert_has_keys(file, named["FileCoverage"], "coverage")


def test_a_list_of_documents_has_the_keys_of_the_reference(indexed: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    work_in(indexed, monkeypatch)
    (keys,) = [keys_of(one) for printed in PRINTED for one in printed.named if one.name == "DocumentInfo"]
    for document in semsearch("list", "--documents", "--json").json:
        assert_has_keys(document, keys, "document")


def test_keys_that_are_not_printed_are_seen() -> None:
    keys = keys_of(find_class("Citation", "semsearch.results.hits") or pytest.fail("no Citation"))
    full = {key.name: None for key in keys}
    assert_has_keys(full, keys, "citation")
    for wrong in ({**full, "new": 1}, {name: None for name in full if name != "page"}):
        with pytest.raises(AssertionError):
            assert_has_keys(wrong, keys, "citation")
