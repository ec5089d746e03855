"""`--rerank MODEL`: in commands, in the configuration, in the server, for agents."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from console import index_docs, semsearch, work_in, write_docs

from semsearch import rerankers
from semsearch.cli.configuration import users_file
from semsearch.word_vectors.table import VectorTable


class Vowels:
    """An encoder: a text as how often it has two vowels."""

    def encode(self, texts: list[str], **_: object) -> list[list[int]]:
        return [[text.count("a"), text.count("e")] for text in texts]


@pytest.fixture(autouse=True)
def opened(tmp_path: Path, small_vectors: VectorTable, monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """A folder with an index, in which any model is the one above; the models that were opened."""
    write_docs(tmp_path)
    index_docs(tmp_path, small_vectors)
    work_in(tmp_path, monkeypatch)
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))
    models: list[str] = []
    encoder = rerankers.TextEncoder("vowels", Vowels())
    monkeypatch.setattr(rerankers, "_opened", lambda model: (models.append(model), encoder)[1])
    return models


def reranked(*options: object) -> list[Any]:
    hits = semsearch("query", "the captain and the bread", "--json", "--explain", *options).json["hits"]
    return [hit["explain"].get("rerank") for hit in hits]


def test_a_query_is_read_again_and_the_explanation_says_by_what(opened: list[str]) -> None:
    parts = reranked("--rerank", "owner/vowels")
    assert opened == ["owner/vowels"]
    assert {part["model"] for part in parts} == {"vowels"}
    shown = semsearch("query", "the captain and the bread", "--rerank", "vowels", "--explain").out
    assert " + rerank " in shown
    assert " by vowels: cosine " in shown
    assert semsearch("context", "captain", "--rerank", "vowels").status == 0
    assert semsearch("ask", "captain", "--rerank", "vowels", "--show-prompt").status == 0
    assert opened == ["owner/vowels", "vowels", "vowels", "vowels"]


def configure(text: str) -> None:
    """Write the user's own configuration."""
    users_file().parent.mkdir(parents=True, exist_ok=True)
    users_file().write_text(text, encoding="utf-8")


def test_it_may_be_configured_and_turned_off(
    tmp_path: Path, opened: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    configure("rerank = 'owner/vowels'\nrerank_seconds = 2\n")
    assert all(reranked())
    assert not any(reranked("--rerank", "none"))
    configure("rerank = './models'\n")  # beside the file
    assert all(reranked())
    monkeypatch.setenv("SEMSEARCH_RERANK", "another")
    assert all(reranked())
    assert opened == ["owner/vowels", str(users_file().parent / "models"), "another"]
    (tmp_path / "semsearch.toml").write_text("rerank_seconds = 0\n", encoding="utf-8")
    assert "the rerank timeout must be positive" in semsearch("query", "captain").err


def test_a_server_is_not_asked_with_a_model_of_ones_own(opened: list[str]) -> None:
    there = ("--server", "http://127.0.0.1:9")
    assert "a server has its own model" in semsearch("query", "captain", *there, "--rerank", "vowels").err
    configure("rerank = 'vowels'\n")
    assert "a server has its own model" not in semsearch("query", "captain", *there).err
    assert opened == []
