"""The sentence that a hit quotes: the one whose words align best with the query's, and none that says nothing."""

from __future__ import annotations

import math
import sqlite3
from pathlib import Path

import numpy as np
import pytest

from semsearch.index import Index
from semsearch.multi_index import MultiIndex
from semsearch.results.options import SearchOptions
from semsearch.search.alignment import OTHER_FORM, RECALLED, asked_words, recalled, similarities, word_weights
from semsearch.search.candidates import IndexView
from semsearch.search.index_reader import IndexReader
from semsearch.search.query import prepare
from semsearch.storage.catalogue import PassageRow, get_passages
from semsearch.text.terms import content_words, of_question, plain, stems
from semsearch.text.tokens import words
from semsearch.word_vectors.table import VectorTable


def indexed(tmp_path: Path, vectors: VectorTable, text: str, name: str = "notes.md") -> Index:
    """An index of one file."""
    (tmp_path / "docs").mkdir(exist_ok=True)
    (tmp_path / "docs" / name).write_text(text, encoding="utf-8")
    made = Index.create(tmp_path / "index", vectors=vectors)
    made.sync(tmp_path / "docs")
    return made


def quoted(tmp_path: Path, vectors: VectorTable, text: str, query: str, name: str = "notes.md") -> str:
    with indexed(tmp_path, vectors, text, name) as index:
        return index.search(query)[0].sentence


# -- the formula -------------------------------------------------------------------------------------------------------


def similarity(asked: str, word: str, vectors: VectorTable) -> float:
    """How well a word of a sentence stands for one of the query: the literal definition."""
    if asked == word:
        return 1.0
    if stems([plain(asked)], "en") == stems([plain(word)], "en"):
        return OTHER_FORM
    ids = [vectors.id_of(each) for each in (asked, word)]
    if min(ids) < 0:
        return 0.0
    one, other = vectors.rows(np.array(ids))
    return max(float(one @ other / np.linalg.norm(one) / np.linalg.norm(other)), 0.0) ** 2


def scores(query: str, passage: PassageRow, reader: IndexReader, vectors: VectorTable) -> list[float]:
    """The score of each sentence of a passage, all of it prose: the literal definition."""
    sentences, asked = [words(text) for text in passage.sentence_texts], content_words(query)
    plain_ = [[max(similarity(word, each, vectors) for each in own) for own in sentences] for word in asked]
    total = [0.0] * len(sentences)
    for word, row in zip(asked, plain_, strict=True):
        recalled = [
            max(RECALLED**step * row[at - step] for step in range(min(at, 4) + 1)) for at in range(len(sentences))
        ]
        idf = reader.lexical.find(of_question(word)).weights[0]
        spread = math.log((len(sentences) + 1) / (sum(recalled) + 0.5))
        for at, each in enumerate(recalled):
            total[at] += math.sqrt(idf) * max(spread, 0.2) * each
    return total


SHIPS = (
    "The old ship sailed in a storm. A captain with an anchor waits at the harbour. She drifts to the coast. "
    "Nobody baked bread there. The sailors sang a melody of Kuznetsov. They eat cheese, then sleep. Ropes hang here.\n"
)


@pytest.mark.parametrize(
    "query",
    ["which ships sail in storms?", "captain of the boat", "Kuznetsov melody", "xyzzy bread at sea", "the of and"],
)
def test_sentences_are_scored_by_the_definition(tmp_path: Path, small_vectors: VectorTable, query: str) -> None:
    with indexed(tmp_path, small_vectors, SHIPS + "\n# Other\n\nThe judge and the jury.\n") as index:

        def compare(db: sqlite3.Connection, reader: IndexReader) -> None:
            view, passage = IndexView(db, reader), get_passages(db, [1])[1]
            asked = asked_words(prepare(query, SearchOptions(syntax="plain"), view), view)
            texts = passage.sentence_texts
            similar = recalled(similarities(asked, texts, ["en"] * len(texts)), np.arange(len(texts)))
            found = similar @ word_weights(asked, similar.sum(axis=0), np.array(len(texts)))
            assert found.tolist() == pytest.approx(scores(query, passage, reader, small_vectors), rel=1e-4)

        index.searcher.in_one_generation(compare)


def test_a_long_query_is_aligned_by_its_rarest_words(tmp_path: Path, small_vectors: VectorTable) -> None:
    query = " ".join(f"filler{number}" for number in range(100)) + " melody"
    with indexed(tmp_path, small_vectors, SHIPS) as index:
        (hit,) = index.search(query)
        quote = index.explain(query, hit).quote
        assert quote is not None
        assert len(quote.words) == 32


# -- what is shown -----------------------------------------------------------------------------------------------------


def test_a_word_said_in_the_sentence_before_still_counts(tmp_path: Path, small_vectors: VectorTable) -> None:
    text = "Lovelace wrote a program. She died in Marylebone. Babbage built the machine. It stands in a museum.\n"
    assert quoted(tmp_path, small_vectors, text, "where did Lovelace die?") == "She died in Marylebone."


def test_the_same_word_is_better_than_another_form_of_it(tmp_path: Path, small_vectors: VectorTable) -> None:
    text = "A file that you deleted stays away. To delete a file, press the key. The moon is here.\n"
    assert quoted(tmp_path, small_vectors, text, "how do I delete a file?") == "To delete a file, press the key."


def test_a_hit_says_where_its_quote_stands(tmp_path: Path, small_vectors: VectorTable) -> None:
    text = "The moon is full.\nThe keys are rotated\nby the night job. A rose.\n"
    with indexed(tmp_path, small_vectors, text, "a.txt") as index:
        (hit,) = index.search("who rotates keys?", context=1)
        assert text[hit.start : hit.end] == hit.sentence == "The keys are rotated\nby the night job."
        assert (hit.line, hit.sentence_id, hit.before, hit.after) == (2, 2, ("The moon is full.",), ("A rose.",))
        for mode in ("dense", "lexical"):
            assert [each.sentence for each in index.search("keys rotated", mode=mode)] in ([hit.sentence], [])


@pytest.mark.parametrize(
    ("text", "query", "answer"),
    [
        ("Луна светит ночью. Ключи меняют каждую неделю. Роза растёт в саду, и она красная.", "как менять ключ", 1),
        ("月亮在夜里发光。密钥每周更换一次。花园里有一朵玫瑰。", "密钥多久更换", 1),
        ("พระจันทร์ส่องแสงในเวลากลางคืน! กุญแจเปลี่ยนทุกสัปดาห์! ดอกกุหลาบอยู่ในสวน!", "เปลี่ยนกุญแจ", 1),
        ("चाँद रात में चमकता है! चाबियाँ हर हफ़्ते बदली जाती हैं! बगीचे में एक गुलाब है!", "चाबी कब बदलती है", 1),
        (
            "Ay geceleri parlar ve bu çok güzel. Anahtarlar her hafta değişir. Bahçede bir gül var.",
            "ANAHTAR değişimi",
            1,
        ),
    ],
)
def test_in_other_languages_stems_and_letters_decide(
    tmp_path: Path, small_vectors: VectorTable, text: str, query: str, answer: int
) -> None:
    with indexed(tmp_path, small_vectors, text + "\n", "a.txt") as index:
        (hit,) = index.search(query)
        assert hit.sentence_id == answer + 1, hit.sentence


def test_several_indexes_quote_as_each_does(tmp_path: Path, small_vectors: VectorTable) -> None:
    with indexed(tmp_path, small_vectors, SHIPS) as index:
        (alone,) = index.search("who baked bread?")
        (hit,) = MultiIndex({"one": index}).search("who baked bread?")
        assert (hit.sentence, hit.line) == (alone.sentence, alone.line) == ("Nobody baked bread there.", 1)


# -- explained ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("mode", ["hybrid", "dense", "lexical"])
def test_the_shares_of_the_words_sum_to_the_score_of_the_choice(
    tmp_path: Path, small_vectors: VectorTable, mode: str
) -> None:
    query = "which ships sail to the coast by night"
    with indexed(tmp_path, small_vectors, SHIPS) as index:
        (hit,) = index.search(query, mode=mode)  # type: ignore[arg-type]
        explained = hit.explain()
        quote = explained.quote
        assert quote is not None
        assert quote.sentence == hit.sentence
        assert quote.score == pytest.approx(sum(word.share for word in quote.words))
        for word in quote.words:
            assert word.share == pytest.approx(word.weight * word.similarity)
            assert (word.match in words(SHIPS)) == (word.similarity > 0)
        assert {word.word: word.match for word in quote.words}["ships"] == "ship"
        assert type(explained).from_dict(explained.to_dict()) == explained
