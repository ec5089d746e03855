"""The sentence that a hit quotes: the one whose words align best with the query's, and none that says nothing."""

from __future__ import annotations

import math
from pathlib import Path

import numpy as np
import pytest

from semsearch.index import Index
from semsearch.multi_index import MultiIndex
from semsearch.results.options import SearchOptions
from semsearch.search.alignment import OTHER_FORM, RECALLED, read_query_words, recalled, similarities, word_weights
from semsearch.search.answer_kind import answer_kind
from semsearch.search.index_reader import IndexReader, IndexView
from semsearch.search.passage_parts import Part
from semsearch.search.prepare_query import prepare
from semsearch.storage.passage_rows import PassageRow, get_passages
from semsearch.text.terms import content_words, plain, question_terms, stems
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
        idf = reader.lexical.find(question_terms(word)).weights[0]
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

        def compare(view: IndexView) -> None:
            passage = get_passages(view.db, [1])[1]
            asked = read_query_words(prepare(query, SearchOptions(syntax="plain"), view), view)
            texts = passage.sentence_texts
            similar = recalled(similarities(asked, [tuple(texts)], ["en"]), np.arange(len(texts)))
            found = similar @ word_weights(asked, similar.sum(axis=0), np.array(len(texts)))
            assert found.tolist() == pytest.approx(scores(query, passage, view.reader, small_vectors), rel=1e-4)

        index.searcher.in_one_generation(compare)


def test_a_long_query_is_aligned_by_its_rarest_words(tmp_path: Path, small_vectors: VectorTable) -> None:
    query = " ".join(f"filler{number}" for number in range(100)) + " melody"
    with indexed(tmp_path, small_vectors, SHIPS) as index:

        def ask(view: IndexView) -> int:
            return len(read_query_words(prepare(query, SearchOptions(syntax="plain"), view), view).names)

        assert index.searcher.in_one_generation(ask) == 32


# -- what is shown -----------------------------------------------------------------------------------------------------


def test_a_word_said_in_the_sentence_before_still_counts(tmp_path: Path, small_vectors: VectorTable) -> None:
    text = "Lovelace wrote a program. She died in Marylebone. Babbage built the machine. It stands in a museum.\n"
    shown = "Lovelace wrote a program. She died in Marylebone."  # which says who "she" is
    assert quoted(tmp_path, small_vectors, text, "where did Lovelace die?") == shown


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


# -- what is asked for -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "query", "shown"),
    [
        (  # a number where one is asked
            "The server runs threads for requests. Four threads are started. The moon is here.",
            "how many threads does the server run",
            "Four threads are started.",
        ),
        (  # a time for "how long"; the question's own number is none that answers
            "The vote on proposal 7 is open to members. It lasts for two weeks on the list. The moon is here.",
            "for how long is the vote on proposal 7 open",
            "It lasts for two weeks on the list.",
        ),
        (
            "The size of the pool is set by the captain. By default, the pool has room. The moon is here.",
            "default size of the pool",
            "By default, the pool has room.",
        ),
        (  # a name where a thing is asked that has one
            "An environment variable shows the trace of a panic. The variable RUST_TRACE shows it. The moon is here.",
            "which environment variable shows the trace",
            "The variable RUST_TRACE shows it.",
        ),
        (  # a name of a protocol is no number, and what stands in the environment no default
            "The port of the ship is for IPv4 only. The port is 4711 by day. The moon is here.",
            "port of the ship",
            "The port is 4711 by day.",
        ),
        (
            "Set the size of the pool (default: $POOL_SIZE). By default the pool has room. The moon is here.",
            "default size of the pool",
            "By default the pool has room.",
        ),
    ],
)
def test_a_sentence_with_what_is_asked_for_is_preferred(
    tmp_path: Path, small_vectors: VectorTable, text: str, query: str, shown: str
) -> None:
    assert quoted(tmp_path, small_vectors, text + "\n", query).endswith(shown)  # after the one on which it leans


@pytest.mark.parametrize(
    ("question", "language", "is_number"),
    [
        ("Wann wechselt er die Schlüssel?", "de", True),
        ("¿Cuándo cambia las llaves?", "es", True),
        ("Wann wechselt er die Schlüssel?", "en", False),
        ("who changes the keys", "en", False),
        ("Quand change-t-il les clés ?", "fr", False),  # in which it was not measured
    ],
)
def test_a_number_is_asked_for_in_languages_where_that_was_measured(
    question: str, language: str, *, is_number: bool
) -> None:
    wanted = answer_kind(question, language)
    numbers = wanted.factor(Part("alle 90 Tage", 0, 0)) / wanted.factor(Part("selten", 0, 0))
    assert (numbers > 1) == is_number


@pytest.mark.parametrize(
    ("text", "query", "shown"),
    [
        (
            "Run the tests on one thread:\n\n```\n$ cargo test -- --test-threads=1\n```\n\nThe moon is here.",
            "run the tests on one thread",
            "Run the tests on one thread:\n\n$ cargo test -- --test-threads=1",
        ),
        (
            "Run the tests on one thread:\n\n```\n$ cargo test -- --test-threads=1\n```\n\nThe moon is here.",
            "cargo test",
            "Run the tests on one thread:\n\n$ cargo test -- --test-threads=1",
        ),
        (
            "These words are reserved for the future:\n\n- abstract\n- become\n\nThe moon is here.",
            "reserved words",
            "These words are reserved for the future:\n\nabstract\n\nbecome",
        ),
        (
            "| Length | Signed | Unsigned |\n|---|---|---|\n| 8-bit | i8 | u8 |\n| 16-bit | i16 | u16 |\n",
            "unsigned 16-bit",
            "Length | Signed | Unsigned\n\n8-bit | i8 | u8\n\n16-bit | i16 | u16",
        ),
    ],
)
def test_what_says_nothing_alone_is_shown_with_what_belongs_to_it_or_not_at_all(
    tmp_path: Path, small_vectors: VectorTable, text: str, query: str, shown: str
) -> None:
    with indexed(tmp_path, small_vectors, text) as index:
        (hit,) = index.search(query, context=1)
        assert hit.sentence == shown
        assert hit.sentence in hit.passage
        assert text[hit.start : hit.end].split()[-1].strip("|` ") in shown
        assert not hit.after or hit.after[0] not in hit.sentence


def test_what_a_thing_is_is_told_by_the_sentence_that_defines_it(tmp_path: Path, small_vectors: VectorTable) -> None:
    text = (
        "An anchor (of iron) is a weight that holds ships.\n\n"
        "# Use\n\nDrop the anchor at the harbour. An anchor is not thrown. Every anchor needs an anchor rope.\n"
    )
    with indexed(tmp_path, small_vectors, text) as index:
        for question in ("what is an anchor?", "What is the anchor", "what does anchor mean"):
            assert index.search(question)[0].sentence == "An anchor (of iron) is a weight that holds ships."


def test_what_a_thing_is_may_be_told_behind_a_clause() -> None:
    wanted = answer_kind("what is an anchor?", "en")
    told = Part('Like in older ships, an anchor is "a weight of iron".', 0, 0)
    assert wanted.factor(told) > wanted.factor(Part("If it is heavy, an anchor is a weight.", 0, 0)) == 1


def test_the_title_of_a_short_document_says_its_words_for_all_sentences(
    tmp_path: Path, small_vectors: VectorTable
) -> None:
    text = "# Harbour bread\n\nBread of the harbour.\n\n## Steps\n\nWait 10 ropes. Bake it for an hour.\n"
    with indexed(tmp_path, small_vectors, text) as index:
        assert "hour" in index.search("how long do I bake the harbour bread")[0].sentence


def test_what_a_thing_does_is_told_by_a_sentence_of_which_it_is_the_subject() -> None:
    does, does_not = Part('The "keel" command checks the ship.', 0, 0), Part("keel - Check the ship", 0, 0)
    wanted = answer_kind("what does keel do", "en")
    assert wanted.factor(does) > wanted.factor(does_not) == 1
    assert answer_kind("what is a keel", "en").factor(does) == 1


def test_a_sentence_that_refers_to_the_one_before_is_shown_with_it(tmp_path: Path, small_vectors: VectorTable) -> None:
    text = "Pull the anchor first. It frees the ship from the harbour. The moon is here.\n"
    shown = quoted(tmp_path, small_vectors, text, "what frees ships from harbours")
    assert shown == "Pull the anchor first. It frees the ship from the harbour."


def test_a_definition_is_looked_for_in_linear_time() -> None:
    wanted = answer_kind("what is an anchor rope", "en")
    fully = wanted.factor(Part("The anchor-rope is a line.", 0, 0))
    for text in (
        "Anchor rope: a line that holds ships.",
        "Anchor ropes are lines.",
    ):
        assert wanted.factor(Part(text, 0, 0)) == fully
    for text in (
        "The anchor-rope lets ships swing.",
        "A long anchor rope is a risk.",
        "A line that holds a ship is called an anchor rope.",
        "anchor rope | what holds",
    ):
        assert 1 < wanted.factor(Part(text, 0, 0)) < fully
    for text in (
        "The anchor rope is strong.",
        "The anchor rope knot is strong.",
        "While the anchor rope is a line, it is long.",
        "This anchor rope is a special case.",
        "--anchor-rope is the name of a line.",
        "Anchor rope: see below",
        "anchor rope | 12 | of metres",
    ):
        assert wanted.factor(Part(text, 0, 0)) == 1
    assert wanted.factor(Part("An anchor rope" + "(" * 10**6, 0, 0)) == 1
    assert wanted.factor(Part("a " * 10**6, 0, 0)) == 1


@pytest.mark.parametrize(
    ("name", "text", "query", "shown"),
    [
        (
            "ship.eml",
            "From: office@harbour.example\nTo: anna@mail.example\nSubject: Your ship"
            "\nDate: Tue, 19 Nov 2024 09:14:02 +0100\n\nDear Ms Anna,\n\nthe ship has a new anchor.\n",
            "ship harbour",
            "the ship has a new anchor.",
        ),
        (
            "port.eml",
            "From: office@port.example\nTo: anna@mail.example\nSubject: News\n\nThe ship has an anchor and a rope.\n\n"
            "Kind regards\nShip Harbour\n",
            "ship harbour",
            "The ship has an anchor and a rope.",
        ),
        (
            "guide.html",
            "<h1>Guide</h1><h2>Contents</h2><ul><li>What a harbour is</li><li>Drop an anchor rope</li></ul>"
            "<h2>Drop an anchor rope</h2><p>Let the rope of the anchor fall from the ship.</p>",
            "how do I drop an anchor rope",
            "Let the rope of the anchor fall from the ship.",
        ),
        (
            "links.md",
            "# See\n\n- [about_Anchors](anchors.md)\n- The anchors are told of by sailors of the harbour.\n",
            "anchors",
            "The anchors are told of by sailors of the harbour.",
        ),
        (
            "house.md",
            "# Ship\n\nAnchor cleaned by our Anna\n\nThe sailors see that the anchor of the ship is here.\n",
            "who cleaned the anchor",
            "Anchor cleaned by our Anna",
        ),
        ("run.md", "# Ships\n\n```\nanchor drop\n```\n\nThe ship has an anchor.\n", "drop the anchor", "anchor drop"),
    ],
)
def test_a_header_an_entry_or_a_link_is_not_shown_where_a_sentence_says_something(
    tmp_path: Path, small_vectors: VectorTable, name: str, text: str, query: str, shown: str
) -> None:
    assert quoted(tmp_path, small_vectors, text, query, name) == shown


def test_a_mail_shows_its_header_where_nothing_else_has_a_word(tmp_path: Path, small_vectors: VectorTable) -> None:
    text = "From: office@harbour.example\nTo: anna@mail.example\nSubject: Note\n\nThe moon is here.\n"
    assert "anna@mail.example" in quoted(tmp_path, small_vectors, text, "anna", "note.eml")


def test_the_first_line_of_a_text_is_a_title_and_not_the_answer(tmp_path: Path, small_vectors: VectorTable) -> None:
    text = "Height of the garage\n\nThe garage is at the harbour. The entry is limited to 1.95 metres of height.\n"
    shown = quoted(tmp_path, small_vectors, text, "height of the garage", "a.txt")
    assert shown == "The garage is at the harbour. The entry is limited to 1.95 metres of height."


@pytest.mark.parametrize(
    ("text", "query", "answer"),
    [
        ("The old harbour was built in May 1931 by sailors.", "when was the harbour built", "May 1931"),
        ("The harbour was built in 1931 and burnt in 1940.", "when was the harbour built", None),
        (
            "Ships of the harbour have many ropes, twelve anchors.",
            "how many anchors do ships of the harbour have",
            "twelve",
        ),
        ("Ships of the harbour have many anchors, nine ropes.", "how many anchors do ships of the harbour have", None),
        ("The anchor lies on nine stones.", "how many stones did the captain throw at the judge", None),
        ("The harbour was built in 1931.", "who built the harbour", None),
    ],
)
def test_a_date_or_number_is_marked_where_it_surely_answers(
    tmp_path: Path, small_vectors: VectorTable, text: str, query: str, answer: str | None
) -> None:
    with indexed(tmp_path, small_vectors, text + "\n") as index:
        (hit,) = index.search(query)
        marked = None if hit.answer_span is None else hit.sentence[slice(*hit.answer_span)]
        assert marked == answer
        assert ("answer_span" in hit.to_dict()) == (answer is not None)
        assert type(hit).from_dict(hit.to_dict()) == hit


# -- which passage of a document ---------------------------------------------------------------------------------------

CREW = "The crew meets at the harbour. The crew of the ship is the pride of the harbour. The crew sings.\n"
HARBOUR = f"""# The harbour

## The crew of the ship

{CREW}
## Voyages

The ship needs a crew of nine sailors. The coast is far.

## Weather

The storm comes from the sea.
"""


def test_the_passage_that_states_the_fact_is_shown_in_the_place_of_the_best(
    tmp_path: Path, small_vectors: VectorTable
) -> None:
    with indexed(tmp_path, small_vectors, HARBOUR, "harbour.md") as index:
        index.add([("other", "A violin and a melody.")])
        plain = index.search("crew of the ship", mode="hybrid")
        hits = index.search("how many sailors is the crew of the ship", mode="hybrid")
        assert "nine sailors" in hits[0].sentence
        assert hits[0].sentence in hits[0].passage
        assert hits[0].line == HARBOUR[: HARBOUR.index("The ship needs")].count("\n") + 1
        assert [hit.score for hit in hits] == sorted((hit.score for hit in hits), reverse=True)
        assert len({hit.passage_id for hit in hits}) == len(hits)
        for hit in (*plain, *hits):
            assert hit.origin is not None
            assert hit.score == pytest.approx(hit.origin.score) == pytest.approx(hit.explain().score)


def test_the_page_that_says_what_a_thing_is_comes_before_one_that_mentions_it(
    tmp_path: Path, small_vectors: VectorTable
) -> None:
    (tmp_path / "docs").mkdir()
    (tmp_path / "docs" / "rope.md").write_text("# The anchor\n\nDrop the anchor. Clean the anchor.\n", encoding="utf-8")
    (tmp_path / "docs" / "ships.md").write_text(
        "# Ships\n\nThe anchor is a weight that holds the ship.\n", encoding="utf-8"
    )
    (tmp_path / "docs" / "words.md").write_text(
        "# Words\n\n| word | meaning |\n|---|---|\n| keel | the beam below |\n", encoding="utf-8"
    )
    (tmp_path / "docs" / "keel.md").write_text("# The keel\n\nClean the keel. Paint the keel.\n", encoding="utf-8")
    with Index.create(tmp_path / "index", vectors=small_vectors) as index:
        index.sync(tmp_path / "docs")
        assert index.search("drop the anchor")[0].document == "rope.md"
        assert index.search("anchor")[0].document == "ships.md"  # a name alone asks what it is
        hits = index.search("what is an anchor")
        assert (hits[0].document, hits[1].document) == ("ships.md", "rope.md")
        assert [hit.score for hit in hits] == sorted((hit.score for hit in hits), reverse=True)
        assert all(hit.score == pytest.approx(hit.explain().score) for hit in hits)
        assert index.search("what is a keel")[0].document == "words.md"
        (hit,) = index.search("what is an anchor", k=1)
        assert (hit.document, hit.rank) == ("ships.md", 1)


# -- explained ---------------------------------------------------------------------------------------------------------


def test_a_passage_that_changes_places_shows_a_sentence_of_its_own(tmp_path: Path, small_vectors: VectorTable) -> None:
    filler = (
        "The cables are red. Painters like bright colours. The river flows past old villages. Bread is baked early."
    )
    text = (
        "# Server\n\nIt has several parts.\n\n## What is the default timeout in seconds\n\nzzqx 0x8f3a 0x771b.\n\n"
        f"## Connections\n\nConnections are kept open. {filler} In the end it gives up after 30 seconds.\n\n"
        "## Logging\n\nLogs are written to a folder.\n\n## Backups\n\nBackups run at night.\n"
    )
    with indexed(tmp_path, small_vectors, text) as index:
        for query in ("What is the default timeout", "How many seconds is the default timeout?"):
            hits = index.search(query)
            assert len(hits) == len({hit.passage_id for hit in hits}) == 5
            assert all(hit.sentence in hit.passage for hit in hits)


@pytest.mark.parametrize("mode", ["hybrid", "dense", "lexical"])
def test_an_explanation_says_for_which_words_a_sentence_is_quoted(
    tmp_path: Path, small_vectors: VectorTable, mode: str
) -> None:
    with indexed(tmp_path, small_vectors, SHIPS) as index:
        (hit,) = index.search("which ships sail to the coast by night", mode=mode)  # type: ignore[arg-type]
        explained = hit.explain()
        assert explained.quoted_for["ships"] == "ship"
        assert {*explained.quoted_for.values()} <= {*words(hit.sentence)}
        assert type(explained).from_dict(explained.to_dict()) == explained
