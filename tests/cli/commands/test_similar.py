"""`semsearch similar` and `semsearch context`, and how `query` shows what says the same."""

from __future__ import annotations

from pathlib import Path

import pytest
from console import index_docs, semsearch, write_docs

from semsearch.word_vectors.table import VectorTable

pytestmark = pytest.mark.usefixtures("here")


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory, small_vectors: VectorTable) -> Path:
    """A folder with documents, among them five copies and one with a colon in its name, and an index of them."""
    folder = tmp_path_factory.mktemp("work")
    write_docs(folder)
    for number in range(5):
        (folder / "docs" / f"copy-{number}.md").write_text(f"# Copy {number}\n\nThe sailor on the \x1b[31mdeck.\n")
    (folder / "docs" / "odd.md").write_text("# Odd\n\nThe star needs the following:\n\n- a telescope\n- a moon\n")
    return index_docs(folder, small_vectors)


def test_similar_takes_the_place_that_a_query_shows() -> None:
    path_and_line = semsearch("query", "captain", "-k", "1").out.split("  ")[0]
    assert path_and_line == "docs/guide.md:10"
    result = semsearch("similar", path_and_line)
    assert (result.status, result.err) == (0, "")
    assert any(line.startswith("docs/copy-") for line in result.lines)
    assert not any(line.startswith(path_and_line) for line in result.lines)
    for cited in (f"{path_and_line}:5:The captain of the ship", f"{path_and_line}-11, Ships"):  # vimgrep, a context
        assert semsearch("similar", cited).out == result.out


def test_similar_without_a_line_leaves_the_document_out() -> None:
    found = semsearch("similar", "docs/guide.md", "--format", "paths", "-k", "20").lines
    assert "docs/more/notes.txt" in found
    assert "docs/guide.md" not in found
    of_passage = ("similar", "docs/guide.md:10", "--format", "paths", "-k", "20")
    assert "docs/guide.md" not in semsearch(*of_passage).lines
    assert "docs/guide.md" in semsearch(*of_passage, "--same-document").lines


def test_similar_has_the_options_and_formats_of_a_query() -> None:
    answer = semsearch("similar", "docs/guide.md:10", "--json", "-k", "3", "--mode", "dense", "-f", "docs/more/*").json
    assert list(answer) == ["query", "mode", "hits"]
    assert (answer["query"], answer["mode"]) == ("docs/guide.md:10", "dense")
    assert [hit["path"] for hit in answer["hits"]] == ["docs/more/notes.txt"]
    assert len(semsearch("similar", "docs/guide.md:10", "--jsonl", "-k", "3", "--name", "docs").lines) == 3
    table = semsearch("similar", "docs/guide.md:10", "--format", "table", "-k", "1")
    assert table.lines[0].startswith(" 1  ")


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["nowhere.md"], "not in the index"),
        (["nowhere.md:3"], "nowhere.md is not in the index"),
        (["elsewhere/guide.md"], "did you mean docs/guide.md?"),
        (["docs/guide.md:99"], "ends at line 14"),
        (["docs/guide.md:0"], "from 1 on"),
        (["docs/guide.md", "-k", "0"], "k must be"),
        (["docs/guide.md", "--index", "none"], "no index 'none'"),
    ],
)
def test_what_cannot_be_meant_is_one_line_and_status_two(arguments: list[str], said: str) -> None:
    result = semsearch("similar", *arguments)
    assert (result.status, result.out) == (2, "")
    assert result.err.startswith("semsearch: ")
    assert said in result.err
    assert len(result.err.splitlines()) == 1


def test_what_says_the_same_is_one_hit_that_tells_of_the_others() -> None:
    lines = semsearch("query", "sailor", "-k", "1").lines
    assert len(lines) == 3
    others = [f"docs/copy-{number}.md:3" for number in range(5) if f"docs/copy-{number}.md:3" not in lines[0]]
    assert lines[2] == f"    + 4 near-duplicates: {', '.join(others[:3])}, …"
    (hit, *_) = semsearch("query", "sailor", "--json").json["hits"]
    assert [each["path"] + f":{each['line']}" for each in hit["duplicates"]] == others
    table = semsearch("query", "sailor", "--format", "table", "-k", "1").out
    assert "    + 4 near-duplicates: docs/copy-" in table


def test_a_context_is_numbered_text_and_its_sources() -> None:
    result = semsearch("context", "the", "sailor", "--max-words", "60")
    assert (result.status, result.err) == (0, "")
    assert result.lines[0].startswith("[1] Copy ")
    assert result.lines[2] == "The sailor on the  [31mdeck."  # no control character reaches a terminal
    assert result.out.count("sailor") == 1
    sources = result.lines[result.lines.index("Sources:") + 2 :]
    assert sources[0].startswith("- [1] docs/copy-")
    assert len(result.out.split()) <= 60


def test_a_context_as_json_has_its_citations() -> None:
    made = semsearch("context", "star telescope", "--json", "--mode", "lexical", "-f", "odd.md").json
    assert {"query", "mode", "text", "words", "citations", "verdict"} <= set(made)
    (citation,) = made["citations"]
    assert (citation["path"], citation["line"], citation["last_line"]) == ("docs/odd.md", 3, 6)
    assert citation["headings"] == ["Odd"]
    assert citation["text"] in made["text"]
