"""`semsearch query --explain`: in every format that has room for it, and the table of word pairs."""

from __future__ import annotations

import pytest
from console import semsearch

from semsearch.cli.answer_formats import explanation_lines
from semsearch.results.explanation import Explanation, TermScore
from semsearch.results.options import Mode
from semsearch.results.origin import Rerank, Weights

pytestmark = pytest.mark.usefixtures("here")


def test_below_each_hit_stands_what_its_score_is_made_of() -> None:
    lines = semsearch("query", "the captain's ship, a zyzzyva", "-k", "1", "--explain").lines
    heading, sentence, score, *rest = lines
    assert sentence.strip().startswith("The captain of the ship")
    parts, total = score.split(" = ")
    assert float(total) == pytest.approx(sum(float(part.split()[-1]) for part in parts.split(" + ")), abs=0.002)
    assert total in heading
    named = {line.split()[0]: line for line in rest}
    assert {"lexical", "dense", "answers", "quote", "unknown"} <= set(named)
    assert "captain " in named["lexical"]
    assert named["lexical"].endswith("absent: zyzzyva")
    assert named["unknown"] == "    unknown zyzzyva"


def test_json_has_an_object_for_each_hit() -> None:
    for hit in semsearch("query", "captain ship", "--explain", "--json").json["hits"]:
        found = hit["explain"]
        assert found["query"] == "captain ship"
        assert found["score"] == pytest.approx(hit["score"], abs=1e-5)
        assert sum(found["points"].values()) == pytest.approx(hit["score"], abs=1e-5)


@pytest.mark.parametrize("form", ["paths", "vimgrep"])
def test_formats_without_room_refuse(form: str) -> None:
    result = semsearch("query", "captain", "--explain", "--format", form)
    assert (result.status, result.out) == (2, "")
    assert f"--explain does not work with the format {form}" in result.err


@pytest.mark.parametrize("mode", ["hybrid", "lexical"])
def test_the_part_of_a_reranker_is_one_of_the_sum(mode: Mode) -> None:
    """score 0.9 = lexical 0.5 + rerank 0.4, where the reranker said 3 and 1 ± 0.5 to all."""
    rerank = Rerank(0.4, 0.1, 3.0, 1.0, 0.5)
    terms, points = (TermScore("ship", 1, 0, 2.0),), {"lexical": 0.5, "rerank": 0.4}
    explanation = Explanation("ship", mode, 0.9, points, Weights(0, 1, 4), "A ship.", terms, (), (), rerank=rerank)
    first, *_, last = explanation_lines(explanation)
    assert first == "lexical 0.500 + rerank 0.400 = 0.900"
    assert last == "rerank  0.1×(3 - 1)/0.5"
