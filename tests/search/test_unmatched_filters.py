"""A filter that matches nothing is said, with what was meant."""

from __future__ import annotations

import logging
from collections.abc import Iterator
from pathlib import Path

import pytest

from semsearch.errors import UsageError
from semsearch.index import Index
from semsearch.readers.document import Text
from semsearch.results.options import Mode
from semsearch.search import allowed_passages
from semsearch.word_vectors.table import VectorTable


@pytest.fixture(scope="module")
def index(tmp_path_factory: pytest.TempPathFactory, small_vectors: VectorTable) -> Iterator[Index]:
    with Index.create(tmp_path_factory.mktemp("unmatched") / "index", vectors=small_vectors) as index:
        index.add(
            [
                Text("guide/keys.md", "A ship.", metadata={"author": "Smith", "year": 2021, "site": {"lang": "en"}}),
                Text("guide/deep/start.md", "A star.", format="markdown"),
            ]
        )
        yield index


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("autor=Smith", "no document has the key 'autor'; did you mean author?"),
        ("site.lnag=en", "no document has the key 'site.lnag'; did you mean site.lang?"),
        ("type=text", "no document has the key 'type'; did you mean format?"),
        ("colour=red", "no document has the key 'colour'"),
        ("author!=Smiht", "no document has author=Smiht"),
        ("format=markdwon", "no document has format=markdwon"),
        ("year=1990..1999", "no document has year=1990..1999"),
        ("gudie/**", "no path matches 'gudie/**'"),
        ("!*.pdf", "no path matches '*.pdf'"),
        ("author=Smith|Jnoes", "no document has author=Jnoes"),
    ],
)
def test_it_says_what_does_not_match(text: str, said: str, index: Index, caplog: pytest.LogCaptureFixture) -> None:
    index.search("a ship", filters=[text])
    assert [record.message for record in caplog.records if record.levelno == logging.WARNING] == [said]


@pytest.mark.parametrize(
    "text", ["author=smith", "author!=Smith", "guide/", "!guide/deep/", "year=2020..", "*.md|year>1"]
)
def test_nothing_is_said_of_what_matches(text: str, index: Index, caplog: pytest.LogCaptureFixture) -> None:
    index.search("a ship", filters=[text])
    assert not caplog.records


def test_the_metadata_of_records_counts_too(
    tmp_path: Path, small_vectors: VectorTable, caplog: pytest.LogCaptureFixture
) -> None:
    (tmp_path / "works.csv").write_text("title,year\nA ship,1999\nA star,2001\n", encoding="utf-8")
    with Index.create(tmp_path / "index", vectors=small_vectors) as index:
        index.sync(tmp_path / "works.csv", text_columns=["title"], metadata_columns=["year"])
        assert len(index.search("ship star", filters=["year=2001"])) == 1
        assert not caplog.records
        index.search("ship star", filters=["yaer=2001"])
        assert caplog.messages == ["no document has the key 'yaer'; did you mean year?"]


def test_what_is_said_is_of_the_newest_generation(
    tmp_path: Path, small_vectors: VectorTable, caplog: pytest.LogCaptureFixture
) -> None:
    with Index.create(tmp_path / "index", vectors=small_vectors) as index:
        index.add([Text("a", "A ship.")])
        index.search("ship", filters=["year=2001"])
        index.search("ship", filters=["year=2001"])
        assert len(caplog.records) == 2
        index.add([Text("b", "A ship.", metadata={"year": 2001})])
        assert len(index.search("ship", filters=["year=2001"])) == 1
        assert len(caplog.records) == 2


@pytest.mark.parametrize(
    ("query", "options", "said"),
    [
        ('"a ship" -ship', {}, "every passage that is left has 'ship', which the query excludes"),
        ('"a boat"', {}, "no passage has the phrase 'a boat'"),
        ("ship", {"filters": ["guide/deep/", "keys.md"]}, "no document passes 'guide/deep/' and 'keys.md'"),
        ("ship", {"regex": [r"ship\w+"]}, r"no passage matches the regular expression 'ship\\w+'"),
        ("ship", {"regex": ["ship"], "filters": ["guide/deep/"]}, "no passage that the filters allow matches"),
    ],
)
def test_the_condition_that_leaves_nothing_is_said(
    query: str, options: dict[str, list[str]], said: str, index: Index
) -> None:
    hits = index.search(query, **options)  # type: ignore[arg-type]
    assert (len(hits), len(hits.warnings)) == (0, 1)
    assert said in hits.warnings[0]


def test_a_regular_expression_chooses_passages(index: Index) -> None:
    assert [hit.document for hit in index.search("sky", regex=[r"^A s\w{2}r", "(?i)STAR"])] == ["guide/deep/start.md"]
    with pytest.raises(UsageError, match="not a regular expression"):
        index.search("sky", regex=["("])


def test_a_regular_expression_does_not_take_for_ever(index: Index, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(allowed_passages, "_REGEX_SECONDS", 0.05)
    index.add([Text("many", "a" * 60 + "!")])
    with pytest.raises(UsageError, match="takes more than"):
        index.search("sky", regex=["^(a|aa)+$"])


@pytest.mark.parametrize("mode", ["hybrid", "dense", "lexical", "exact"])
def test_ids_of_passages_that_the_index_does_not_have_are_left_out(mode: Mode, index: Index) -> None:
    known = [hit.passage_id for hit in index.search("ship", 100)]
    found = index.search("ship", passages=known, mode=mode)
    assert found
    assert index.search("ship", passages=[0, *known, 10**6, 1 << 62], mode=mode) == found
    assert index.search("ship", passages=[0, 10**6], mode=mode) == []


@pytest.mark.parametrize(
    ("query", "signs"),
    [("what does => mean in a ship?", "“=>”"), ("a ship && a star $_", "“&&”, “$_”"), ("a ship -- it... & <3 x", "")],
)
def test_signs_that_are_no_words_are_said_not_to_be_searched_for(query: str, signs: str, index: Index) -> None:
    (*_, said) = ("", *index.search(query).warnings)
    assert said.partition(": ")[2] == signs
