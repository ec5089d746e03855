"""semsearch.toml and SEMSEARCH_ variables: what counts, what wins, and what is refused."""

from __future__ import annotations

from pathlib import Path

import pytest
from console import index_docs, semsearch, work_in, write_docs

from semsearch.cli.configuration import users_file
from semsearch.index import Index
from semsearch.word_vectors.table import VectorTable


@pytest.fixture
def folder(tmp_path: Path, small_vectors: VectorTable, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with documents and an index of them, which is the current one."""
    folder = tmp_path / "project"
    write_docs(folder)
    index_docs(folder, small_vectors)
    work_in(folder, monkeypatch)
    return folder


def configure(path: Path, text: str) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")
    return path


def hits(*options: object) -> int:
    return len(semsearch("query", "the captain and the bread", "--all", "--json", *options).json["hits"])


def sources() -> dict[str, tuple[object, str]]:
    return {each["key"]: (each["value"], each["source"]) for each in semsearch("config", "--json").json}


def test_the_later_wins_and_the_command_line_most(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert hits() == 3
    own = configure(users_file(), "[search]\nk = 1\nmode = 'dense'\n")
    assert hits() == 1
    project = configure(folder / "semsearch.toml", "# ours\n[search]\nk = 2\n")
    assert hits() == 2
    monkeypatch.setenv("SEMSEARCH_SEARCH_K", "1")
    assert hits() == 1
    assert hits("-k", "3") == 3
    assert semsearch("query", "captain", "--json").json["mode"] == "dense"
    assert semsearch("query", "captain", "--json", "-m", "lexical").json["mode"] == "lexical"
    assert sources()["search.k"] == (1, "SEMSEARCH_SEARCH_K")
    monkeypatch.delenv("SEMSEARCH_SEARCH_K")
    assert sources()["search.k"] == (2, str(project))
    assert sources()["search.mode"] == ("dense", str(own))
    assert sources()["search.context"] == (0, "default")


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("[search]\n\nkk = 5\n", "unknown key search.kk; did you mean search.k? semsearch config lists all"),
        ("[search]\nk = 'five'\n", "search.k: Expected `int`, got `str`, not 'five'"),
        ("[search]\nk = 0\n", "k must be at least 1, not 0"),
        ("[search]\nmode = 'best'\n", "search.mode: Expected one of 'hybrid', 'dense', 'lexical', 'exact', not 'best'"),
        ("[search]\nfilters = 'a'\n", "search.filters: Expected `array`, got `str`, not 'a'"),
        ("serch = 1\n", "unknown key serch; "),
        ("[serch]\nk = 1\n", "unknown key serch; "),
        ("search = 1\n", "unknown key search; "),
        ("k = 1\n", "unknown key k; "),
        ("a = [\n", "not valid TOML"),
        (f"k = {'1' * 5000}\n", "not valid TOML: Exceeds the limit"),
        (f"[a{'.a' * 20_000}]\n", "not valid TOML: a key has more than 100 parts"),
        ("[settings]\na = 'much'\n", "settings.a: Expected `float | null`, got `str`, not 'much'"),
        ("server = 'http://127.0.0.1'\n", "server is allowed in your own configuration only"),
        ("[settings]\nstore = 'postgres://x/y'\n", "settings.store is allowed in your own configuration only"),
        ("indexes = 'elsewhere'\n", "indexes is allowed in your own configuration only"),
        ("ask = ['docs', 'http://127.0.0.1:1/docs']\n", "http://127.0.0.1:1/docs is not a name"),
        ("ask = ['indexes/docs']\n", "indexes/docs is not a name"),
        ("ask = ['..']\n", ".. is not a name"),
        ("ask = ['~']\n", "~ is not a name"),
        ("rerank = 'owner/model'\n", "rerank is allowed in your own configuration only"),
        ("[settings]\nvectors = '/etc/vectors'\n", "settings.vectors is allowed in your own configuration only"),
        ("#" * 1_000_001, "larger than 1,000,000 bytes"),
    ],
)
def test_what_cannot_be_meant_is_told_with_the_file(text: str, said: str, folder: Path) -> None:
    (folder / "semsearch.toml").write_bytes(text.encode())
    result = semsearch("query", "captain")
    assert (result.status, result.out) == (2, "")
    assert result.err.startswith(f"semsearch: {folder / 'semsearch.toml'}")
    assert said in result.err
    assert semsearch("--help").status == 0


def test_variables_are_written_as_in_toml_or_as_texts(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SEMSEARCH_SEARCH_FILTERS", "docs/more/")
    monkeypatch.setenv("SEMSEARCH_SEARCH_DUPLICATES", "true")
    monkeypatch.setenv("SEMSEARCH_ASK", '["docs"]')
    found = sources()
    assert found["search.filters"] == (["docs/more/"], "SEMSEARCH_SEARCH_FILTERS")
    assert found["search.duplicates"] == (True, "SEMSEARCH_SEARCH_DUPLICATES")
    assert found["ask"] == (["docs"], "SEMSEARCH_ASK")
    assert semsearch("query", "violin", "--json").json["hits"][0]["path"] == "docs/more/notes.txt"
    monkeypatch.setenv("SEMSEARCH_SEARCH_K", "many")
    assert "the environment variable SEMSEARCH_SEARCH_K: search.k: Expected `int`" in semsearch("query", "x").err


def test_new_indexes_have_the_configured_settings_and_old_ones_keep_theirs(
    folder: Path, small_vectors: VectorTable
) -> None:
    configure(folder / "semsearch.toml", "[settings]\nmethod = 'usif'\nadapt = false\n")
    assert semsearch("index", "docs").status == 0
    assert semsearch("index", "docs/more", "--vectors", small_vectors.folder).status == 0
    with Index.open("indexes/docs") as docs, Index.open("indexes/more") as more:
        assert (docs.settings.method, more.settings.method) == ("sif", "usif")
        assert (docs.settings.adapt, more.settings.adapt) == (True, False)


def test_ones_own_file_may_name_a_server(folder: Path) -> None:
    configure(users_file(), "server = 'http://127.0.0.1:9'\n")
    assert "does not answer" in semsearch("query", "captain").err
    assert semsearch("query", "captain", "--server", "").status == 0
