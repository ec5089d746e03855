"""The options of a search: declared once, checked once, and the same wherever they are given."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import fields
from pathlib import Path
from typing import Any, get_type_hints

import numpy as np
import pytest
from small import index_of_articles

from semsearch.errors import UsageError
from semsearch.index import Index
from semsearch.results.options import SearchKeywords, SearchOptions


@pytest.fixture(scope="module")
def index(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Index]:
    with index_of_articles(tmp_path_factory.mktemp("options"), 6) as made:
        yield made


def test_the_keywords_of_a_search_are_the_fields_of_its_options() -> None:
    declared = get_type_hints(SearchOptions)
    assert list(declared) == [field.name for field in fields(SearchOptions)]
    assert {"k": declared.pop("k"), **get_type_hints(SearchKeywords)} == {"k": int, **declared}


def test_options_are_given_whole_or_by_keyword_or_both_and_then_the_keywords_win(index: Index) -> None:
    options = SearchOptions(k=3, mode="dense", filters=["sea-*"], context=1)
    expected = index.search("the captain", 3, mode="dense", filters=["sea-*"], context=1)
    assert len(expected) == 3
    assert index.search("the captain", options=options) == expected
    assert (
        index.search("the captain", 3, options=SearchOptions(mode="dense"), filters=("sea-*",), context=1) == expected
    )
    assert index.search("the captain", 2, options=options) == expected[:2]
    assert index.search_many(["the captain"], options=options) == [expected]
    (best, *_) = expected
    assert index.similar(best, options=options) == index.similar(
        best, None, 3, mode="dense", filters=["sea-*"], context=1
    )


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        ({"k": 0}, "k must be at least 1, not 0"),
        ({"k": 2.5}, "k must be a whole number"),
        ({"k": "3"}, "k must be a whole number"),
        ({"context": -1}, "context must be at least 0"),
        ({"min_score": "high"}, "min_score must be a finite number, not 'high'"),
        ({"min_score": float("nan")}, "min_score must be a finite number, not nan"),
        ({"min_score": float("inf")}, "min_score must be a finite number, not inf"),
        ({"min_score": -np.inf}, "min_score must be a finite number, not -inf"),
        ({"min_score": 10**400}, "min_score must be a finite number, not 1000"),
        ({"mode": "magic"}, "mode must be one of hybrid, dense, lexical, exact, not 'magic'"),
        ({"filters": "a.md"}, r"filters must be a sequence of strings, not 'a.md'; for one give \['a.md'\]"),
        ({"filters": [1]}, "filters must be strings, not 1"),
        ({"filters": {"year": 2024, "a": "b"}}, "filters must be a sequence of strings, not {"),
        ({"duplicates": "no"}, "duplicates must be true or false, not 'no'"),
        ({"min_scores": 0.5}, "no option 'min_scores'; the options are k, mode, min_score, filters, context"),
        ({"colour": "red"}, "no option 'colour'; the options are k, "),
    ],
)
def test_what_makes_no_sense_is_refused_wherever_it_is_given(index: Index, wrong: dict[str, Any], message: str) -> None:
    asked: list[Callable[..., Any]] = [
        lambda **options: index.search("captain", **options),
        lambda **options: index.search_many(["captain"], **options),
        lambda **options: index.similar(str(Path(index.path.parent, "docs/sea-0.md")), **options),
    ]
    if set(wrong) <= {field.name for field in fields(SearchOptions)}:
        asked.append(SearchOptions)
    for ask in asked:
        with pytest.raises(UsageError, match=message):
            ask(**wrong)


def test_options_of_a_dict_are_checked_as_others_are() -> None:
    with pytest.raises(UsageError, match="k must be at least 1"):
        SearchOptions.from_dict({"k": 0})
    with pytest.raises(UsageError, match=r"SearchOptions\.k: Expected `int`"):
        SearchOptions.from_dict({"k": "3"})
    with pytest.raises(UsageError, match="SearchOptions has no field 'kk'; it has k, mode"):
        SearchOptions.from_dict({"kk": 3})
