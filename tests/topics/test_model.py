"""Topics: learned as the literal decomposition says, the same for text and postings, kept in a file."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
from references.lsa import lsa
from small import TOPICS, gathered, sentence

from semsearch.arrays.id_ranges import IdRanges
from semsearch.lexical.postings import LexicalSegment, WordsWriter
from semsearch.text.terms import Lexicon, question_terms
from semsearch.topics import topic_fit
from semsearch.topics.topic_fit import TopicVectors, fit_topics
from semsearch.topics.topic_model import Topics, open_topics, write_topics

COUNT = 60
TEXTS = [" ".join(sentence(topic, n, words=9 + n % 5) for n in range(3 * i, 3 * i + 3))
         for i, topic in enumerate([*TOPICS] * (COUNT // len(TOPICS)))]  # fmt: skip
HEADINGS = [f"About {text.split()[0]}" for text in TEXTS]


def written(folder: Path, numbers: list[int], *, largest: int = 1000, texts: list[str] = TEXTS) -> list[LexicalSegment]:
    """Segments of some of the passages, number i under the id i + 1."""
    writer = WordsWriter(folder, generation=1, largest=largest)
    for number in numbers:
        writer.take(np.array([number + 1]), gathered([HEADINGS[number]], [texts[number]]))
    return [LexicalSegment(folder / segment.file, segment) for segment in writer.finish()]


def terms_of(number: int) -> list[int]:
    """The terms of a passage, those of headings twice."""
    lexicon = Lexicon()
    above, below = (lexicon.of([text]).numbers for text in (HEADINGS[number], TEXTS[number]))
    return lexicon.terms[np.concatenate((above, above, below))].tolist()


@pytest.fixture(scope="module")
def words(tmp_path_factory: pytest.TempPathFactory) -> list[LexicalSegment]:
    return written(tmp_path_factory.mktemp("words"), list(range(COUNT)))


@pytest.fixture(scope="module", autouse=True)
def _six_topics() -> Iterator[None]:
    """Six topics are learned, of ten passages or more."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(topic_fit, "LEAST", 10)
        patch.setattr(topic_fit, "DIMENSION", 6)
        yield


@pytest.fixture(scope="module")
def topics(words: list[LexicalSegment]) -> Topics:
    found = fit_topics(words, IdRanges.of(()))
    assert found is not None
    return found


def _loadings(topics: Topics) -> np.ndarray:
    return topics.rows(np.arange(len(topics.terms)))


def same(one: Topics | None, other: Topics | None) -> bool:
    assert one is not None
    assert other is not None
    same_terms = np.array_equal(one.terms, other.terms) and np.array_equal(one.idf, other.idf)
    return same_terms and np.allclose(_loadings(one), _loadings(other), atol=1e-3)


# -- learning ------------------------------------------------------------------------------------------------------


def test_topics_are_those_of_the_literal_decomposition(topics: Topics) -> None:
    literal = lsa([terms_of(number) for number in range(COUNT)], 6)
    assert literal.values[5] > 1.05 * literal.values[6]  # so that six are well defined
    assert topics.terms.tolist() == literal.terms
    assert topics.idf == pytest.approx([literal.idf[term] for term in literal.terms])
    ours = _loadings(topics)
    np.testing.assert_allclose(ours @ ours.T, literal.loadings @ literal.loadings.T, atol=2e-3)


def test_a_fit_is_the_same_each_time_and_in_whichever_segments_the_passages_lie(
    words: list[LexicalSegment], topics: Topics, tmp_path: Path
) -> None:
    again = fit_topics(words, IdRanges.of(()))
    assert again is not None
    assert np.array_equal(again.loadings, topics.loadings)
    small = written(tmp_path, [*range(0, COUNT, 2)], largest=7) + written(tmp_path, [*range(1, COUNT, 2)])
    assert len(small) > 4
    assert same(fit_topics(small, IdRanges.of(())), topics)


def test_removed_passages_count_for_nothing(words: list[LexicalSegment], tmp_path: Path) -> None:
    left = [number for number in range(COUNT) if not 10 <= number < 25]
    fewer = fit_topics(written(tmp_path, left), IdRanges.of(()))
    assert same(fit_topics(words, IdRanges.of([(11, 15)])), fewer)


def test_few_passages_or_passages_that_do_not_differ_teach_nothing(words: list[LexicalSegment], tmp_path: Path) -> None:
    assert fit_topics(words, IdRanges.of([(1, 51)])) is None
    assert fit_topics([], IdRanges.of(())) is None
    writer = WordsWriter(tmp_path, generation=1)
    writer.take(np.arange(1, 31), gathered([""] * 30, ["The same ship."] * 30))
    alike = [LexicalSegment(tmp_path / segment.file, segment) for segment in writer.finish()]
    assert fit_topics(alike, IdRanges.of(())) is None


# -- vectors -------------------------------------------------------------------------------------------------------


def test_a_passage_has_the_same_topics_by_its_text_by_its_postings_and_literally(
    words: list[LexicalSegment], topics: Topics, tmp_path: Path
) -> None:
    literal = lsa([terms_of(number) for number in range(COUNT)], 6)
    kept = TopicVectors(topics, words, tmp_path).of(np.arange(1, COUNT + 1))
    by_text = np.array([topics.of_passage(HEADINGS[number], TEXTS[number]) for number in range(COUNT)])
    by_formula = np.array([literal.vector(terms_of(number)) for number in range(COUNT)])
    np.testing.assert_allclose(np.concatenate([*topics.of_postings(words[0].postings)]), by_text, atol=1e-5)
    np.testing.assert_allclose(kept, by_text, atol=1e-3)
    np.testing.assert_allclose(by_text @ by_text.T, by_formula @ by_formula.T, atol=5e-3)


def test_a_question_is_near_passages_of_its_topic_that_have_none_of_its_words(
    words: list[LexicalSegment], topics: Topics
) -> None:
    question = topics.of_terms(question_terms("Where is the telescope?"))
    cosines = np.concatenate([*topics.of_postings(words[0].postings)]) @ question
    without = [number for number, text in enumerate(TEXTS) if "telescope" not in text.lower()]
    night = [cosines[number] for number in without if number % 6 == 2]
    others = [cosines[number] for number in without if number % 6 != 2]
    assert min(night) > max(others)


# -- the file ------------------------------------------------------------------------------------------------------


def test_a_file_gives_back_what_was_written(topics: Topics, tmp_path: Path) -> None:
    segment = write_topics(topics, tmp_path, generation=7)
    assert segment.kind == "topics"
    assert segment.file.startswith("topics-00000007-")
    found = open_topics(tmp_path / segment.file, segment.sums)
    assert same(found, topics)
    assert found.passages == COUNT
    assert (tmp_path / segment.file).stat().st_size == segment.size == 40 + len(topics.terms) * (8 + 4 + 4 + 6)
