"""The sentence that a hit quotes: the one whose words align best with the query's, and none that says nothing."""

from __future__ import annotations

import math
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest
from small_languages import WORDS

from semsearch.index import Index
from semsearch.multi_index import MultiIndex
from semsearch.search.index_reader import IndexReader
from semsearch.search.quote import OTHER_FORM, RECALLED
from semsearch.storage.catalogue import PassageRow, get_passages
from semsearch.text import tokens
from semsearch.text.terms import content_words, named_terms, of_question, plain, stems
from semsearch.text.tokens import WordChunk, words
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


def letters(word: str) -> set[str]:
    edged = f"-{word}-"
    return {edged[at : at + 3] for at in range(len(word))}


def similarity(asked: str, word: str, vectors: VectorTable) -> float:
    """How well a word of a sentence stands for one of the query: the literal definition."""
    if asked == word:
        return 1.0
    if stems([plain(asked)], "en") == stems([plain(word)], "en"):
        return OTHER_FORM
    ids = [vectors.id_of(each) for each in (asked, word)]
    if ids[0] >= 0:
        if ids[1] < 0:
            return 0.0
        one, other = vectors.rows(np.array(ids))
        return max(float(one @ other / np.linalg.norm(one) / np.linalg.norm(other)), 0.0) ** 2
    own, others = letters(asked), letters(word)
    return (2 * len(own & others) / (len(own) + len(others))) ** 2


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
    ["which ships sail in storms?", "captain of the boat", "Kuznetsova songs", "xyzzy bread at sea", "the of and"],
)
def test_sentences_are_scored_by_the_definition(tmp_path: Path, small_vectors: VectorTable, query: str) -> None:
    with indexed(tmp_path, small_vectors, SHIPS + "\n# Other\n\nThe judge and the jury.\n") as index:
        index.search(query)
        searcher = index._asking()

        def compare(db: object, reader: IndexReader) -> None:
            passage = get_passages(db, [1])[1]  # type: ignore[arg-type]
            asked = reader.aligner.asked(named_terms(query), None, small_vectors)
            found = reader.aligner.scored(asked, small_vectors, [passage])
            assert found.scores.tolist() == pytest.approx(scores(query, passage, reader, small_vectors), rel=1e-4)
            both = reader.aligner.scored(asked, small_vectors, [passage, passage])
            assert both.scores.tolist() == pytest.approx([*found.scores, *found.scores], rel=1e-4)
            assert both.chosen == [found.chosen[0], found.chosen[0] + len(passage.sentences)]

        searcher.in_one_generation(compare)


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


@pytest.mark.parametrize(
    "other",
    [
        "Rotate keys",
        "#rotate #keys",
        "See also: rotate keys.",
        "How do I rotate the keys?",
        "rotate | keys | rotating keys | rotated keys | more",
        "https://example.com/rotate/keys https://example.com/keys",
        "$ rotate --keys {all} > keys.txt",
    ],
)
def test_what_is_no_prose_is_not_shown_where_prose_answers(
    tmp_path: Path, small_vectors: VectorTable, other: str
) -> None:
    answer = "The keys are rotated by the night job."
    text = f"{other}\n\n{answer}\n\nThe moon is full.\n\nA rose is in the garden.\n"
    assert quoted(tmp_path, small_vectors, text, "rotate keys", name="a.txt") == answer


def test_a_heading_is_shown_where_nothing_else_answers(tmp_path: Path, small_vectors: VectorTable) -> None:
    assert (
        quoted(tmp_path, small_vectors, "Rotate keys\n\nThe moon is full.\n", "rotate keys", "a.txt") == "Rotate keys"
    )


def test_the_head_of_a_table_gives_way_to_its_rows(tmp_path: Path, small_vectors: VectorTable) -> None:
    text = "| to remove | do this |\n|---|---|\n| a folder | remove it by its name |\n| the moon | wait |\n"
    assert quoted(tmp_path, small_vectors, text, "remove").startswith("a folder")


def test_a_hit_says_where_its_quote_stands(tmp_path: Path, small_vectors: VectorTable) -> None:
    text = "The moon is full.\nThe keys are rotated\nby the night job. A rose.\n"
    with indexed(tmp_path, small_vectors, text, "a.txt") as index:
        (hit,) = index.search("who rotates keys?", context=1)
        assert text[hit.start : hit.end] == hit.sentence == "The keys are rotated\nby the night job."
        assert (hit.line, hit.sentence_id, hit.before, hit.after) == (2, 2, ("The moon is full.",), ("A rose.",))
        for mode in ("dense", "lexical"):
            assert [each.sentence for each in index.search("keys rotated", mode=mode)] in ([hit.sentence], [])


def test_two_sentences_that_the_dot_of_an_ordinal_has_parted_are_one(
    tmp_path: Path, small_vectors: VectorTable
) -> None:
    text = (
        "Nikola wurde in einem Dorf geboren, und er war ein Kind der Berge. Er starb am 7. Januar 1943 in einem Hotel, "
        "und die Stadt war für ihn da. Das ist nicht alles, was wir von ihm und mit ihm wissen.\n"
    )
    with indexed(tmp_path, small_vectors, text, "a.txt") as index:
        (hit,) = index.search("wann starb Nikola", context=1)
        assert "am 7. Januar 1943" in hit.sentence
        assert text[hit.start : hit.end] == hit.sentence
        assert hit.before[0].startswith("Nikola wurde")
        assert hit.after[0].startswith("Das ist")


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

        def best(db: object, reader: IndexReader) -> float:
            passage = get_passages(db, [hit.passage_id])[hit.passage_id]  # type: ignore[arg-type]
            vectors = None if mode == "lexical" else small_vectors
            asked = reader.aligner.asked(named_terms(query), None, vectors)
            return float(reader.aligner.scored(asked, vectors, [passage]).scores.max())

        assert index._asking().in_one_generation(best) == pytest.approx(quote.score)


# -- what is remembered ------------------------------------------------------------------------------------------------


def test_what_is_remembered_and_what_is_forgotten_again_change_no_quote(
    tmp_path: Path, small_vectors: VectorTable, monkeypatch: pytest.MonkeyPatch
) -> None:
    sentences = [f"The {one} of {two} {three}." for one, two, three in zip(WORDS, WORDS[1:], WORDS[2:], strict=False)]
    text = "\n\n".join(f"# {at}\n\n{' '.join(sentences[at : at + 6])}" for at in range(0, len(sentences), 6))
    queries = [f"{one} {two}" for one, two in zip(WORDS, WORDS[3:], strict=False)]
    indexed(tmp_path, small_vectors, text).close()

    def asked_in_one_go(asked: Sequence[str]) -> list[list[tuple[int, str]]]:
        with Index.open(tmp_path / "index", vectors=small_vectors) as index:
            return [[(hit.passage_id, hit.sentence) for hit in index.search(query)] for query in asked]

    alone = [asked_in_one_go([query])[0] for query in queries]
    assert asked_in_one_go([*queries, *queries]) == [*alone, *alone]
    monkeypatch.setattr("semsearch.search.quote._MOST_PASSAGES", 2)
    monkeypatch.setattr("semsearch.search.quote._MOST_ROWS", 3)
    monkeypatch.setattr("semsearch.search.index_reader._MOST_SPANS", 2)
    assert asked_in_one_go(queries) == alone


def test_a_page_of_hits_that_was_read_is_not_read_again(
    tmp_path: Path, small_vectors: VectorTable, monkeypatch: pytest.MonkeyPatch
) -> None:
    with indexed(tmp_path, small_vectors, "# One\n\nThe recipe. Boil it.\n\n# Two\n\nA telescope. Stars.\n") as index:
        index.search("recipe with a telescope")
        read: list[str] = []
        hash_chunk = tokens._hash_chunk

        def counted(texts: Sequence[str], *, marks: bool) -> WordChunk:
            read.extend(texts)
            return hash_chunk(texts, marks=marks)

        monkeypatch.setattr("semsearch.text.tokens._hash_chunk", counted)
        tokens._hash_short.cache_clear()
        assert index.search("a telescope and a recipe")  # all its words have vectors
    assert read
    assert not {"The recipe.", "Boil it.", "A telescope.", "Stars."} & {*read}
