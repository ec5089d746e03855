"""Passages that have an identifier, an error code or a quoted phrase literally come first, and a score says why."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

from semsearch.index import Index
from semsearch.multi_index import MultiIndex
from semsearch.readers.document import Text
from semsearch.results.hits import Hit
from semsearch.results.options import Mode
from semsearch.results.origin import ExactPart
from semsearch.search.exact_words import parts_of
from semsearch.word_vectors.table import VectorTable

ASIDE = "The captain of the ship waits in the harbour, the sailor in the storm, and the judge reads in the court. "
TEXTS = {  # each has what is typed once, among other words
    "E4711": "On the ship the code E4711 was shown.",
    "e4711": "At another time it was e4711 in the small letters of a label.",
    "Select-String": "Then Select-String finds the line.",
    "NO_COLOR": "Whoever sets NO_COLOR sees plain text.",
    "os.path.join": "One calls os.path.join for it.",
    "--dry-run": "With --dry-run it only shows what it would do.",
    "std::env": "The module std::env has them.",
    "C++": "A part of it is written in C++ by the sailor.",
    "node.js": "It is run by Node.js on the ship.",
    "0x80070005": "It ended with 0x80070005 at noon.",
    "CVE-2024-3094": "The hole is CVE-2024-3094 in a library.",
    "foo_bar.baz()": "Whoever calls foo_bar.baz() gets nothing.",
    "/etc/hosts": "The names stand in /etc/hosts too.",
    "-x": "Give tar -x to it.",
    "3.11": "It needs version 3.11 at least.",
    "“storm in the harbour”": "It was called a storm in the harbour by all.",
    "größe_max": "The limit is größe_max here.",
}
NEAR = {  # other texts with the same words, more often or without anything beside them
    "codes": "E4712, E4713: code E4714. The code was shown on the ship: E4710.",
    "objects": "Select the string: Select-Object selects a string of strings. Select string, string select.",
    "colours": "No color, no colors, no color at all: color no more.",
    "joins": "Path os: join the path. os-path, path.join; join os and path; os path join.",
    "runs": "A dry run is a run that is dry. Dry-run, dry run, dry runs.",
    "envs": "std env, env std, std/env: env std.",
    "letters": "C, C and C: c is C. C!",
    "nodes": "A node in js: node js, js node, node-js.",
    "access": "80070005 and 0x80070006; x 80070005.",
    "holes": "CVE 2024 3094, 3094 2024 CVE: CVE/2024/3094.",
    "calls": "foo bar baz: baz of foo and bar, foo bar baz.",
    "hosts": "etc hosts: hosts etc, etc-hosts and hosts.",
    "options": "x and X: x, x.",
    "versions": "3 11, 11 3: 3-11, 3.11.2, 13.11.",
    "storms": "Storm harbour, harbour storms: the storm of harbours. Storms!",
    "limits": "Die Größe max, max Größe: größe-max.",
}
QUERIES = [
    ("E4711", "E4711"),
    ("what does E4711 mean when the captain of the ship sees the storm?", "E4711"),
    ("Select-String", "Select-String"),
    ("NO_COLOR", "NO_COLOR"),
    ("os.path.join", "os.path.join"),
    ("--dry-run", "--dry-run"),
    ("std::env", "std::env"),
    ("C++", "C++"),
    ("how is it written in C++?", "C++"),
    ("node.js", "node.js"),
    ("0x80070005", "0x80070005"),
    ("CVE-2024-3094", "CVE-2024-3094"),
    ("foo_bar.baz()", "foo_bar.baz()"),
    ("what does `foo_bar.baz()` do?", "foo_bar.baz()"),
    ("/etc/hosts", "/etc/hosts"),
    ("tar -x", "-x"),
    ("3.11", "3.11"),
    ('"storm in the harbour"', "“storm in the harbour”"),
    ("größe_max", "größe_max"),
]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory, small_vectors: VectorTable) -> Path:
    folder = tmp_path_factory.mktemp("exact")
    with Index.create(folder / "notes", vectors=small_vectors, adapt=False) as index:
        index.add([Text(name, ASIDE + text) for name, text in TEXTS.items()])
        index.add([Text(name, text) for name, text in NEAR.items()])
    with Index.create(folder / "other", vectors=small_vectors, adapt=False) as index:
        index.add([Text(f"other {number}", text) for number, text in enumerate(NEAR.values())])
    return folder


@pytest.fixture(scope="module")
def index(folder: Path) -> Iterator[Index]:
    with Index.open(folder / "notes") as index:
        yield index


def exact(hit: Hit) -> tuple[ExactPart, ...]:
    assert hit.origin is not None
    return () if hit.origin.exact is None else hit.origin.exact.parts


@pytest.mark.parametrize("mode", ["hybrid", "lexical"])
@pytest.mark.parametrize(("query", "document"), QUERIES)
def test_what_is_typed_is_found_as_it_is_typed(query: str, document: str, mode: Mode, index: Index) -> None:
    hits = index.search(query, mode=mode)
    assert hits[0].document == document
    assert [part.text for part in exact(hits[0])]
    assert [bool(exact(hit)) for hit in hits] == sorted((bool(exact(hit)) for hit in hits), reverse=True)
    assert hits[0].explain().exact == hits[0].origin.exact if hits[0].origin else None
    assert hits[0].explain().score == pytest.approx(hits[0].score, abs=1e-5)


def test_other_case_comes_after_what_is_as_typed_and_before_the_rest(index: Index) -> None:
    for query in ("E4711", "e4711"):
        hits = index.search(query)
        assert [hit.document for hit in hits[:2]] == [query, query.swapcase()]
        assert [part.as_typed for hit in hits[:2] for part in exact(hit)] == [True, False]
        assert [part.passages for hit in hits[:2] for part in exact(hit)] == [2, 2]
        assert [hit.origin.points["exact"] for hit in hits[:2] if hit.origin is not None] == [1.5, 1.0]
        assert not any(exact(hit) for hit in hits[2:])


def test_a_passage_with_more_of_the_parts_comes_first(folder: Path, small_vectors: VectorTable) -> None:
    with Index.create(folder / "both", vectors=small_vectors, adapt=False) as index:
        index.add([Text("one", "NO_COLOR"), Text("two", ASIDE + "E4711"), Text("both", ASIDE * 2 + "E4711, NO_COLOR")])
        hits = index.search("E4711 NO_COLOR")
    assert hits[0].document == "both"
    assert [part.text for part in exact(hits[0])] == ["E4711", "NO_COLOR"]
    scores = [hit.score for hit in hits]
    assert scores == sorted(scores, reverse=True)


def test_an_error_code_in_a_long_log_is_first(tmp_path: Path, small_vectors: VectorTable) -> None:
    words = ["ship", "captain", "storm", "harbour", "sailor", "error", "code", "time"]
    random = np.random.default_rng(0)
    lines = [f"{' '.join(random.choice(words, 6))} E{number}." for number in range(5000, 7000)]
    lines[1000] = "The judge reads in the court and gives up with E4711."
    with Index.create(tmp_path / "index", vectors=small_vectors, adapt=False) as index:
        index.add([Text(f"log/{number}", line) for number, line in enumerate(lines)])
        for query in ("E4711", "error code E4711", "the captain has the error code E4711 on the ship in the storm"):
            (hit, *_), (lexical, *_) = index.search(query), index.search(query, mode="lexical")
            assert "E4711" in hit.passage
            assert "E4711" in lexical.passage


def test_meaning_alone_and_excluded_words_know_no_exact_words(index: Index) -> None:
    assert not any(exact(hit) for hit in index.search("NO_COLOR ship", mode="dense"))
    assert "NO_COLOR" not in {hit.document for hit in index.search("text -NO_COLOR")}


def test_a_name_of_a_longer_question_changes_nothing(index: Index) -> None:
    question = "does the Captain-Cook of the old ship wait for the judge in the storm, or for Node.js at the court?"
    assert not any(exact(hit) for hit in index.search(question))


def test_an_identifier_of_many_passages_is_first_only_if_it_is_all_that_is_asked(
    tmp_path: Path, small_vectors: VectorTable
) -> None:
    with Index.create(tmp_path / "index", vectors=small_vectors, adapt=False) as index:
        index.add([Text(f"with {number}", f"{ASIDE} {number} in C++.") for number in range(30)])
        index.add([Text(f"without {number}", f"C, C and C: {number} times C.") for number in range(30)])
        assert all(exact(hit) for hit in index.search("C++", 30))
        assert not any(exact(hit) for hit in index.search("C++ of the captain who waits in the storm", 30))


def test_scores_keep_the_order_however_many_are_asked_for(index: Index) -> None:
    query = "E4711 of the captain in the storm"
    every = index.search(query, 40)
    scores = [hit.score for hit in every]
    assert scores == sorted(scores, reverse=True)
    assert len(set(scores[:3])) == 3
    assert [bool(exact(hit)) for hit in every[:3]] == [True, True, False]
    for k in (1, 2, 10):
        assert [hit.document for hit in index.search(query, k)] == [hit.document for hit in every[:k]]
    least = every[1].score
    assert [hit.document for hit in index.search(query, 40, min_score=least)] == [hit.document for hit in every[:2]]


def test_of_several_indexes_the_one_that_has_it_comes_first(folder: Path) -> None:
    for mode in ("hybrid", "lexical"):
        with MultiIndex.open(folder / "other", folder / "notes") as both:
            hits = both.search("C++", mode=mode)
            assert (hits[0].document, hits[0].index) == ("C++", "notes")
            scores = [hit.score for hit in hits]
            assert scores == sorted(scores, reverse=True)
            for hit in hits:
                assert both.explain("C++", hit).score == pytest.approx(hit.score, abs=1e-5)


# -- Shapes and points -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("query", "parts"),
    [
        ("how do I use (foo_bar.baz()), please?", ["foo_bar.baz()"]),
        ("Is `dry run` the same as --dry-run?", ["dry run", "--dry-run"]),
        ("does C++, or C#, have std::env's like?", ["C++", "C#", "std::env"]),
        ("see /etc/hosts, .gitignore and C:\\Windows\\x.ini.", ["/etc/hosts", ".gitignore", "C:\\Windows\\x.ini"]),
        ("错误E4711是什么", ["E4711"]),
        ("what happened on the 18th of May in the 1990s at 5 p.m., e.g. in the U.S.?", []),
        ("KENNEDY ADMINISTRATION POLICY IN VIET NAM", []),
    ],
)
def test_code_is_recognised_by_its_shape(query: str, parts: list[str]) -> None:
    assert [part.text for part in parts_of(query) if part.least == 0] == parts
    assert {"p.m", "U.S", "e.g", "18th", "1990s", "KENNEDY"} & {
        part.text for part in parts_of(query) if part.least < 0.9
    } == set()


def test_a_version_is_a_name_and_an_abbreviation_is_not() -> None:
    assert [part.text for part in parts_of("What is new in 3.9.0 and v1.2 in the U.S.?")] == ["3.9.0", "v1.2"]


def test_half_a_character_in_the_name_of_a_file_is_no_error(index: Index) -> None:
    assert index.search("sea\udca5.md ship")
    assert index.search("sea\udca5.md", mode="lexical") is not None


def test_a_query_that_is_the_name_of_a_file_finds_its_beginning_first(
    tmp_path: Path, small_vectors: VectorTable
) -> None:
    (tmp_path / "docs" / "deep").mkdir(parents=True)
    (tmp_path / "docs" / "deep" / "ship-0008.rst").write_text(f"The judge.\n\n{ASIDE * 9}\n\n{ASIDE * 9}\n")
    (tmp_path / "docs" / "My_notes.md").write_text("A violin.\n")
    (tmp_path / "docs" / "other.md").write_text("See ship-0008.rst for the ship, ship-0008.rst, and my_notes.md.\n")
    with Index.create(tmp_path / "index", vectors=small_vectors) as index:
        index.sync(tmp_path / "docs")
        first, second, *_ = index.search("ship-0008.rst")
        assert [Path(hit.path).name for hit in (first, second)] == ["ship-0008.rst", "other.md"]
        assert first.passage.startswith("The judge.")
        assert first.origin is not None
        assert first.origin.exact is not None
        assert [part.text for part in first.origin.exact.parts] == ["ship-0008.rst", "the name of its file"]
        assert first.explain().score == pytest.approx(first.score, abs=1e-5)
        for query, name in (
            ("deep/ship-0008.rst", "ship-0008.rst"),
            ("My_notes.md", "My_notes.md"),
            ("my_notes.md", "My_notes.md"),
        ):
            assert Path(index.search(query)[0].path).name == name
        assert [Path(hit.path).name for hit in index.search("ship-0008.rst", filters=["other.md"])] == ["other.md"]
        assert Path(index.search("MyXnotes.md")[0].path).name != "My_notes.md"
        assert index.search("ship-0008.rst", mode="dense")[0].origin.exact is None  # type: ignore[union-attr]


HEADINGS = "# Short answers\n\nAll of it.\n\n" + "".join(
    f"## {heading}\n\n{text}\n\n{ASIDE * 3}\n\n"
    for heading, text in {
        "How do I see a ship?": "Ship, ship: see how I do it, and the storm that I see.",
        "1.2 How do I see the ship?": "From the harbour.",
        "How do they see the ship": "They see the ship as I do: how do I see the ship, how do I see ships.",
        "The *storm*: what is it": "A wind.",
        "2023 judge in court": "The court.",
        "2024 judge in court": "The court.",
        "Sailor": "A captain.",
    }.items()
)


@pytest.mark.parametrize("mode", ["hybrid", "lexical"])
@pytest.mark.parametrize(
    ("query", "heading"),
    [
        ("how do i see the ship", "1.2 How do I see the ship?"),  # stop words count, numbers and signs do not
        ("1.2 How do I see the ship?", "1.2 How do I see the ship?"),
        ("How do I see a ship?", "How do I see a ship?"),
        ("the storm what is it?", "The storm: what is it"),
        ("short answers", "Short answers"),
        ("2023 judge in court", "2023 judge in court"),
        ("a violin in the storm", "Notes"),  # the title of a document is its beginning
    ],
)
def test_a_heading_that_is_typed_finds_its_section_first(
    query: str, heading: str, mode: Mode, tmp_path: Path, small_vectors: VectorTable
) -> None:
    (tmp_path / "docs").mkdir()
    (tmp_path / "docs" / "answers.md").write_text(HEADINGS)
    (tmp_path / "docs" / "other.md").write_text(f"---\ntitle: A violin in the storm\n---\n## Notes\n\n{ASIDE}\n")
    with Index.create(tmp_path / "index", vectors=small_vectors) as index:
        index.sync(tmp_path / "docs")
        hits = index.search(query, mode=mode)
        assert hits[0].headings[-1] == heading
        part = exact(hits[0])[-1]  # behind the number of the heading, if that was typed
        assert (part.text, part.as_typed, part.passages) == (query, query in (heading, hits[0].title), 1)
        assert not any(map(exact, hits[1:]))
        assert hits[0].explain().score == pytest.approx(hits[0].score, abs=1e-5)


def test_a_single_word_and_a_search_by_meaning_know_no_headings(tmp_path: Path, small_vectors: VectorTable) -> None:
    (tmp_path / "docs").mkdir()
    (tmp_path / "docs" / "answers.md").write_text(HEADINGS)
    with Index.create(tmp_path / "index", vectors=small_vectors) as index:
        index.sync(tmp_path / "docs")
        assert not any(map(exact, index.search("sailor")))
        assert not any(map(exact, index.search("how do i see the ship", mode="dense")))
