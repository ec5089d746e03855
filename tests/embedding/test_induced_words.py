"""Unknown words get vectors by their pieces and contexts, in an embedder and in an index."""

from __future__ import annotations

import json
import sqlite3
from contextlib import closing
from pathlib import Path

import numpy as np
import pytest
from references import unknown_words as reference
from small import TOPICS, article, sentence

import semsearch.embedding.induced_words as contexts
from semsearch import Index, SentenceEmbedder, Text
from semsearch.embedding.induced_words import InducedWords, learn_map
from semsearch.embedding.methods import METHODS, Unknown
from semsearch.embedding.oov import WordMemory
from semsearch.embedding.weighted_sums import average, average_few
from semsearch.embedding.weights import STRANGER
from semsearch.errors import FitError, UsageError
from semsearch.indexing.spool import Spool, SpoolWriter
from semsearch.storage.checksums import update_digests
from semsearch.text.ragged import OovWords, Ragged
from semsearch.text.tokens import words
from semsearch.word_vectors.table import VectorTable
from semsearch_research.train.piece_vectors import add_pieces

COINED = {"sea": "zzq", "kitchen": "breadmaker", "night": "moonlet"}  # the first has no piece that is known
TEXTS = [sentence(topic, number, words=9) for topic in TOPICS for number in range(40)]
TEXTS += [
    sentence(topic, 100 + number).replace(".", f" {word}.") for topic, word in COINED.items() for number in range(9)
]


@pytest.fixture(scope="module")
def open_vectors(small_vectors: VectorTable, tmp_path_factory: pytest.TempPathFactory) -> VectorTable:
    return add_pieces(small_vectors, tmp_path_factory.mktemp("pieces") / "open", number=200)


@pytest.fixture
def few_teachers(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let the small world's few words be enough to learn from."""
    monkeypatch.setattr(contexts, "_FEWEST", 20)
    monkeypatch.setattr(contexts, "_RARE", 1.0)


def test_by_default_unknown_words_are_left_out(open_vectors: VectorTable) -> None:
    embedder = SentenceEmbedder(open_vectors).fit(TEXTS)
    assert embedder.unknown == "skip"
    assert (embedder.tokenize(["harbours zzq"]).ids >= 0).all()
    assert not embedder.transform(["harbours", "zzq"]).any()
    assert np.array_equal(embedder.transform(["the ship harbours"]), embedder.transform(["the ship"]))


def test_a_choice_that_there_is_not_is_refused(open_vectors: VectorTable) -> None:
    with pytest.raises(UsageError, match="skip, pieces, contexts"):
        SentenceEmbedder(open_vectors, unknown="guess").fit(TEXTS)  # type: ignore[arg-type]


def test_each_word_is_known_or_comes_with_the_texts(open_vectors: VectorTable) -> None:
    texts = ["The Harbours' ship", "", "Naïveté zzq harbours 中文", "ship " * 60_000 + "ZZQ"]  # more than a chunk
    ragged = SentenceEmbedder(open_vectors, unknown="pieces").tokenize(texts)
    known, strange = open_vectors.words, ragged.unknown_words.words
    read = [known[number] if number >= 0 else strange[-1 - number] for number in ragged.ids.tolist()]
    assert [read[first:last] for first, last in zip(ragged.indptr, ragged.indptr[1:], strict=False)] == [
        words(text) for text in texts
    ]
    assert len(set(strange)) == len(strange) == 5


def test_ragged_rows_keep_their_unknown_words(open_vectors: VectorTable) -> None:
    ragged = SentenceEmbedder(open_vectors, unknown="pieces").tokenize(["harbours zzq", "the ship", "zzq zzq the"])
    table = open_vectors.rows(np.arange(len(open_vectors)))
    rows = np.random.default_rng(0).standard_normal((2, open_vectors.dimension)).astype(np.float32)

    def mean(texts: Ragged, extra: np.ndarray = rows) -> np.ndarray:
        each = np.where(
            (texts.ids < 0)[:, None], extra[-1 - np.minimum(texts.ids, -1)], table[np.maximum(texts.ids, 0)]
        )
        assert average(texts, table, extra) == pytest.approx(average_few(texts, each), abs=1e-6)
        return average(texts, table, extra)

    whole = mean(ragged)
    assert mean(ragged.take(np.array([2, 0]))) == pytest.approx(whole[[2, 0]], abs=1e-6)
    assert mean(ragged.part(1, 3)) == pytest.approx(whole[1:], abs=1e-6)
    assert mean(ragged.joined(np.array([0, 1, 3])))[0] == pytest.approx(whole[0], abs=1e-6)
    twice = mean(Ragged.concatenate([ragged, ragged]), np.concatenate([rows, rows]))
    assert twice == pytest.approx(np.concatenate([whole, whole]), abs=1e-6)
    assert ragged.without_repetitions().lengths.tolist() == [2, 2, 2]
    assert sorted(ragged.without_repetitions().ids[-2:].tolist()) == sorted(set(ragged.part(2, 3).ids.tolist()))


def test_a_spool_gives_unknown_words_back(open_vectors: VectorTable, tmp_path: Path) -> None:
    embedder = SentenceEmbedder(open_vectors, unknown="pieces")
    with Spool(tmp_path) as spool:
        writer = SpoolWriter(spool, embedder.tokenize, batch=2)
        writer.add(1, 10, "the harbours", ["zzq moonlets", "the tide"])
        writer.add(2, 12, "", ["a ship", "breadmaker zzq naïveté"])
        writer.flush()
        for _ in range(2):
            batches = list(spool)
            read = [[batch.words.unknown_words.words[-1 - i] for i in batch.words.ids if i < 0] for batch in batches]
            assert read == [["harbours", "zzq", "moonlets"], ["breadmaker", "zzq", "naïveté"]]


@pytest.mark.parametrize("method", METHODS)
def test_an_unknown_word_counts_as_its_guess_and_twice_as_much_as_the_rarest(
    open_vectors: VectorTable, method: str
) -> None:
    embedder = SentenceEmbedder(open_vectors, method=method, unknown="pieces").fit(TEXTS)
    weight = 1.0 if method == "mean" else STRANGER * embedder.weights_.of(slice(None)).max()
    assert embedder.weights_.of_unknown_words == pytest.approx(weight)
    if method != "usif":
        guess = open_vectors.guess(OovWords.of(["harbours"])).astype(np.float16).astype(np.float32)
        ship = open_vectors.id_of("ship")
        known = embedder.weights_.of(np.array([ship])) * open_vectors.rows(np.array([ship]))
        both = embedder.raw(embedder.tokenize(["harbours ship"]))
        assert both == pytest.approx((weight * guess + known) / 2, abs=1e-5)


@pytest.mark.parametrize("unknown", ["pieces", "contexts"])
def test_words_that_nothing_is_known_of_are_as_if_they_did_not_stand_there(
    open_vectors: VectorTable, unknown: Unknown
) -> None:
    with_them, without = [text.replace(" ", " ццц ", 1) for text in TEXTS[:40]], TEXTS[:40]
    one = SentenceEmbedder(open_vectors, unknown=unknown).fit(with_them)
    other = SentenceEmbedder(open_vectors, unknown=unknown).fit(without)
    assert one.statistics_.words == other.statistics_.words
    assert one.statistics_.gram == pytest.approx(other.statistics_.gram, rel=1e-6, abs=1e-9)
    assert one.transform(with_them) == pytest.approx(other.transform(without), abs=1e-5)
    assert not one.transform(["ццц"]).any()


@pytest.mark.usefixtures("few_teachers")
@pytest.mark.parametrize("method", METHODS)
def test_few_texts_and_many_get_the_same_vectors(open_vectors: VectorTable, method: str) -> None:
    embedder = SentenceEmbedder(open_vectors, method=method, components=2, unknown="contexts").fit(TEXTS)
    asked = ["harbours at sea", "zzq", "the breadmaker and the moonlet", "ship", "ццц", ""]
    some = SentenceEmbedder.from_bytes(embedder.to_bytes(), open_vectors).transform(asked * 300)  # before any table
    many = embedder.transform(asked * 3000)
    for number, text in enumerate(asked):
        alone = embedder.transform([text])[0]
        assert some[number] == pytest.approx(alone, abs=3e-6)
        assert many[number] == pytest.approx(alone, abs=3e-6)
    assert (np.linalg.norm(many[:6], axis=1) > 0.5).tolist() == [True, True, True, True, False, False]


@pytest.mark.usefixtures("few_teachers")
@pytest.mark.parametrize("pieces", [True, False])
def test_contexts_give_the_vectors_that_the_formula_says(
    open_vectors: VectorTable, small_vectors: VectorTable, pieces: bool
) -> None:
    table = open_vectors if pieces else small_vectors
    embedder = SentenceEmbedder(table, unknown="contexts").fit(TEXTS)
    sentences = [words(text) for text in TEXTS]
    everything = sorted({word for sentence in sentences for word in sentence})
    strange = [word for word in everything if table.id_of(word) < 0]
    guesses = dict(zip(strange, table.guess(OovWords.of(strange)).astype(np.float64), strict=True))
    vectors = {word: guess for word, guess in guesses.items() if guess.any()}
    weights = dict.fromkeys(vectors, embedder.weights_.of_unknown_words)
    for word in set(everything) - set(strange):
        number = np.array([table.id_of(word)])
        vectors[word], weights[word] = table.rows(number)[0].astype(np.float64), float(embedder.weights_.of(number)[0])
    counts = {word: sum(sentence.count(word) for sentence in sentences) for word in everything}
    teachers = [word for word in everything if word not in strange and counts[word] >= contexts.OCCURRENCES]
    seen = {word: reference.contexts(word, sentences, vectors, weights, least=contexts._CONTEXT)
            for word in [*teachers, *COINED.values()]}  # fmt: skip
    left = np.array([vectors[word] - table.guess_known(np.array([table.id_of(word)]))[0] for word in teachers])
    matrix = reference.context_map(
        np.array([seen[word][0] for word in teachers]), left, [seen[word][1] for word in teachers],
        contexts._LAMBDA, contexts._MOST,
    )  # fmt: skip
    assert embedder.induced_ is not None
    for word in COINED.values():
        expected = guesses[word] + matrix @ seen[word][0]
        found = np.zeros((1, table.dimension), dtype=np.float32)
        embedder.induced_.put(OovWords.of([word]), found)
        assert found[0] == pytest.approx(expected, abs=4e-3)


def test_the_map_of_contexts_is_drawn_to_a_multiple_of_the_identity() -> None:
    generator = np.random.default_rng(0)
    means = generator.standard_normal((4, 6))
    left = (3 * means).astype(np.float32)
    assert learn_map(means, left, np.full(4, 5.0)) == pytest.approx(3 * np.eye(6), abs=1e-5)
    assert np.isfinite(learn_map(np.zeros((4, 6)), left, np.full(4, 5.0))).all()


@pytest.mark.usefixtures("few_teachers")
def test_a_word_means_what_the_words_around_it_mean(small_vectors: VectorTable) -> None:
    embedder = SentenceEmbedder(small_vectors, unknown="contexts", components=0, prior=0).fit(TEXTS)
    coined = embedder.transform(list(COINED.values()))
    topics = embedder.transform([TOPICS[topic] for topic in TOPICS])
    assert (coined @ topics.T).argmax(axis=1).tolist() == [list(TOPICS).index(topic) for topic in COINED]


@pytest.mark.usefixtures("few_teachers")
def test_rare_words_and_small_texts_induce_nothing(small_vectors: VectorTable, monkeypatch: pytest.MonkeyPatch) -> None:
    rare = [text for text in TEXTS if "zzq" not in text] + [text for text in TEXTS if "zzq" in text][:4]
    embedder = SentenceEmbedder(small_vectors, unknown="contexts").fit(rare)
    assert embedder.card()["induced words"] == len({"again", *COINED.values()}) - 1
    assert not embedder.transform(["zzq"]).any()
    assert SentenceEmbedder(small_vectors, unknown="contexts").fit(TEXTS[:3]).induced_ is None
    assert SentenceEmbedder(small_vectors, unknown="contexts").fit([]).induced_ is None
    monkeypatch.setattr(contexts, "_MOST_WORDS", 2)  # "again" is one
    embedder = SentenceEmbedder(small_vectors, unknown="contexts").fit([*TEXTS, "the moonlet", "a moonlet"])
    assert embedder.transform(["moonlet", "zzq", "breadmaker"]).any(axis=1).tolist() == [True, False, False]


@pytest.mark.usefixtures("few_teachers")
def test_of_many_texts_only_some_are_read_for_contexts(
    small_vectors: VectorTable, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(contexts, "_SENTENCES", len(TEXTS))
    once = SentenceEmbedder(small_vectors, unknown="contexts").fit(TEXTS)
    mixed = [text for each in TEXTS for text in (each, "here it is never read for its contexts")]
    often = SentenceEmbedder(small_vectors, unknown="contexts").fit(mixed)  # every second is read
    assert once.induced_ is not None
    assert often.induced_ is not None
    assert np.array_equal(often.induced_.hashes, once.induced_.hashes)
    assert often.induced_.vectors.astype(float) == pytest.approx(once.induced_.vectors.astype(float), abs=2e-3)


@pytest.mark.usefixtures("few_teachers")
def test_contexts_do_not_depend_on_how_texts_are_cut_into_batches(
    small_vectors: VectorTable, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(contexts, "_SENTENCES", len(TEXTS) // 3)
    found = []
    for size in (len(TEXTS), 7):
        embedder = SentenceEmbedder(small_vectors, unknown="contexts")
        batches = [embedder.tokenize(TEXTS[first : first + size]) for first in range(0, len(TEXTS), size)]
        found.append(embedder.fit_ragged(lambda batches=batches: batches).induced_)
    assert found[0] is not None
    assert found[1] is not None
    assert found[0].vectors.astype(float) == pytest.approx(found[1].vectors.astype(float), abs=2e-3)


@pytest.mark.usefixtures("few_teachers")
def test_a_saved_embedder_knows_the_words_it_has_induced(open_vectors: VectorTable) -> None:
    embedder = SentenceEmbedder(open_vectors, unknown="contexts").fit(TEXTS)
    again = SentenceEmbedder.from_bytes(embedder.to_bytes(), open_vectors)
    asked = ["zzq", "harbours", "the breadmaker"]
    assert np.array_equal(again.transform(asked), embedder.transform(asked))
    assert again.transform(asked).any(axis=1).all()
    assert again.weights_digest == embedder.weights_digest
    assert again.unknown == "contexts"
    assert embedder.card()["induced words"] == len({"again", *COINED.values()})


def test_what_was_fitted_before_there_was_a_choice_skips_unknown_words(open_vectors: VectorTable) -> None:
    embedder = SentenceEmbedder(open_vectors).fit(TEXTS)
    old = embedder.to_bytes().replace(b'"unknown"', b'"unknowm"')
    with pytest.raises(FitError):  # the archive has a checksum
        SentenceEmbedder.from_bytes(old, open_vectors)
    card = embedder.card()
    del card["unknown"], card["induced words"]
    embedder.card = lambda: card  # type: ignore[method-assign]
    assert SentenceEmbedder.from_bytes(embedder.to_bytes(), open_vectors).unknown == "skip"


@pytest.mark.usefixtures("few_teachers")
def test_later_texts_change_no_word_and_sums_subtract(open_vectors: VectorTable) -> None:
    embedder = SentenceEmbedder(open_vectors, unknown="contexts", components=0).fit(TEXTS)
    before, induced = embedder.transform(["zzq", "harbours"]), embedder.induced_
    later = embedder.tokenize(["zzq in the kitchen with bread and flour and a newword"] * 20)
    more = embedder.statistics_ + embedder.statistics_of(later)
    less = more - embedder.statistics_of(later)
    assert less.gram == pytest.approx(embedder.statistics_.gram, abs=1e-9)
    assert (less.words, less.sentences) == (embedder.statistics_.words, embedder.statistics_.sentences)
    embedder.partial_fit(["zzq in the kitchen with bread and flour"] * 20)
    assert embedder.induced_ is induced
    assert np.array_equal(embedder.transform(["zzq", "harbours"]), before)


@pytest.mark.usefixtures("few_teachers")
def test_partial_fits_and_merges_equal_one_fit_with_pieces(open_vectors: VectorTable) -> None:
    whole = SentenceEmbedder(open_vectors, unknown="pieces").fit(TEXTS)
    parts = SentenceEmbedder(open_vectors, unknown="pieces").partial_fit(TEXTS[:50]).partial_fit(TEXTS[50:])
    merged = SentenceEmbedder(open_vectors, unknown="pieces").fit(TEXTS[:90])
    merged.merge(SentenceEmbedder(open_vectors, unknown="pieces").fit(TEXTS[90:]))
    for other in (parts, merged):
        assert other.statistics_.gram == pytest.approx(whole.statistics_.gram, rel=1e-5, abs=1e-6)


@pytest.mark.usefixtures("few_teachers")
def test_embedders_that_have_induced_other_words_do_not_merge(open_vectors: VectorTable) -> None:
    one, other = (SentenceEmbedder(open_vectors, unknown="contexts").fit(texts) for texts in (TEXTS, TEXTS[::-1][:200]))
    same = SentenceEmbedder.from_bytes(one.to_bytes(), open_vectors).partial_fit(TEXTS[:10])
    one.merge(same)
    for unlike in (
        other,
        SentenceEmbedder(open_vectors).fit(TEXTS),
        SentenceEmbedder(open_vectors, unknown="pieces").fit(TEXTS),
    ):
        with pytest.raises(FitError, match="weigh words differently"):
            one.merge(unlike)


def test_texts_with_unknown_words_mean_the_same_to_one_who_skips_them(open_vectors: VectorTable) -> None:
    skips, keeps = (SentenceEmbedder(open_vectors, unknown=unknown).fit(TEXTS) for unknown in ("skip", "pieces"))
    with_unknown_words = keeps.tokenize(TEXTS)
    assert (with_unknown_words.ids < 0).any()
    assert np.array_equal(skips.transform_ragged(with_unknown_words), skips.transform(TEXTS))
    assert skips.statistics_of(with_unknown_words).words == skips.statistics_.words


def test_nothing_was_induced_that_nothing_can_be_looked_up_in() -> None:
    rows = np.ones((2, 3), dtype=np.float32)
    InducedWords(np.zeros(0, dtype=np.uint64), np.zeros((0, 3), dtype=np.float16)).put(OovWords.of(["a", "b"]), rows)
    assert rows.all()


@pytest.mark.usefixtures("few_teachers")
def test_an_index_finds_unknown_words_by_meaning_and_verifies(open_vectors: VectorTable, tmp_path: Path) -> None:
    coined = Text(
        "sea/new", "The zzq sails from the harbour. " * 3 + " ".join(f"{text}" for text in TEXTS if "zzq" in text)
    )
    documents = [Text(f"{topic}/{number}", article(topic, number)) for topic in TOPICS for number in range(4)]
    with Index.create(tmp_path / "i", vectors=open_vectors, adapt=False) as index:
        assert index.settings.unknown == "contexts"
        index.add([*documents, coined])
        assert index.search("zzq", 1, mode="dense")[0].document == "sea/new"
        assert index.search("harbours", 3, mode="dense")[0].document.startswith("sea/")
        assert index.verify() == []
        before = index.search("harbours", 5, mode="dense")
        index.add([Text("more", "Moonlets are small. The zzq is on the moon.")])
        index.remove("more")
        after = index.search("harbours", 5, mode="dense")
        assert [(hit.document, hit.score) for hit in after] == [(hit.document, hit.score) for hit in before]
        assert index.verify() == []
    with Index.open(tmp_path / "i", vectors=open_vectors) as index:
        again = index.search("harbours", 5, mode="dense")
        assert [(hit.document, hit.score) for hit in again] == [(hit.document, hit.score) for hit in before]


def test_an_index_of_an_earlier_version_opens_and_its_next_fit_decides(
    open_vectors: VectorTable, tmp_path: Path
) -> None:
    Index.create(tmp_path / "i", vectors=open_vectors, adapt=False).close()
    with closing(sqlite3.connect(tmp_path / "i" / "index.sqlite")) as db, db:
        (text,) = db.execute("SELECT value FROM meta WHERE key = 'settings'").fetchone()
        settings = {**json.loads(text), "unknown": "skip"}
        db.execute("UPDATE meta SET value = ? WHERE key = 'settings'", (json.dumps(settings),))
        update_digests(db)
    documents = [Text(f"{topic}/{number}", article(topic, number)) for topic in TOPICS for number in range(4)]
    with Index.open(tmp_path / "i", vectors=open_vectors) as index:
        index.add(documents)
        assert index.search("harbours", 1, mode="dense") == []
    with closing(sqlite3.connect(tmp_path / "i" / "index.sqlite")) as db, db:
        del settings["unknown"]
        db.execute("UPDATE meta SET value = ? WHERE key = 'settings'", (json.dumps(settings),))
        update_digests(db)
    with Index.open(tmp_path / "i", vectors=open_vectors) as index:
        assert index.search("harbours", 1, mode="dense") == []
        index.add([Text("sea/more", "The harbours are full.")])
        assert index.verify() == []
        index.refit()
        assert index.search("harbours", 1, mode="dense") != []
        assert index.verify() == []


def test_the_choice_is_kept_with_an_index_and_changed_by_a_rebuild(open_vectors: VectorTable, tmp_path: Path) -> None:
    documents = [Text(f"{topic}/{number}", article(topic, number)) for topic in TOPICS for number in range(4)]
    with Index.create(tmp_path / "i", vectors=open_vectors, adapt=False, unknown="skip") as index:
        index.add(documents)
        assert index.search("harbours", 1, mode="dense") == []
        index.rebuild(unknown="pieces")
        assert index.settings.unknown == "pieces"
        assert index.search("harbours", 1, mode="dense") != []
        index.rebuild()
        assert index.settings.unknown == "pieces"
        with pytest.raises(UsageError, match="skip, pieces, contexts"):
            index.rebuild(unknown="all")  # type: ignore[arg-type]


def test_a_memory_gives_what_the_function_gives_and_asks_it_once() -> None:
    asked: list[str] = []

    def lengths(unknown_words: OovWords) -> np.ndarray:
        asked.extend(unknown_words.words)
        return np.array([[len(word), 1 / 3] for word in unknown_words.words], dtype=np.float32).reshape(-1, 2)

    memory = WordMemory(lengths, 2, most=3)
    for _ in range(2):
        for some in (["a", "bb", "a"], ["bb", "ccc", "dddd", "eeeee"], []):
            expected = lengths(OovWords.of(some)).astype(np.float16)
            del asked[len(asked) - len(some) :]
            assert np.array_equal(memory(OovWords.of(some)), expected)
    assert sorted(asked[:5]) == ["a", "bb", "ccc", "dddd", "eeeee"]
    assert len(asked) == 5 + 2  # only three are remembered
