"""Both ways to a passage's postings must agree: by its sentences, and by its text as a whole."""

import numpy as np
import pytest

from semsearch.lexical.postings import GatheredPostings, PostingsBuilder
from semsearch.lexical.postings_writer import gather
from semsearch.readers.document import Block, Document
from semsearch.text.passage_records import each_record, find_words
from semsearch.text.terms import Lexicon
from semsearch.tuning import TUNING

TEXTS = [
    "Plain prose. It has two sentences, and utf-8 in it.",
    "Nothing lies between.This and that!But they do not touch here. read_bytes(x)",
    "一つの文。もう一つの文。 Third one.",
    "x" * 2500 + "'s end. Next",
    "ΟΔΟΣ. \u0301Καφέ’s naïve\u2028Æsop. İstanbul!\x1cNot so?\tYes.",
    "Line\n\nbreaks.\n- and dashes -\nbetween. 3.11 is a number.",
]


def postings_of(builder: PostingsBuilder) -> tuple[list[tuple[int, int, int]], list[float]]:
    found: GatheredPostings = builder.gathered()
    terms = found.terms[found.numbers].tolist()
    rows = sorted(zip(terms, found.rows.tolist(), found.counts.tolist(), strict=True))
    return rows, found.lengths.tolist()


@pytest.mark.parametrize("texts", [TEXTS, TEXTS[:1], TEXTS[1:2], []])
def test_a_passage_has_the_words_of_its_sentences_and_those_that_lie_across(texts: list[str]) -> None:
    documents = [Document(text, [Block("A title", 0, level=1), Block(text, 0)], title="Name") for text in texts]
    records = [record for document in documents for record in each_record(document)]
    by_sentences, by_text = PostingsBuilder(Lexicon()), PostingsBuilder(Lexicon())
    words = find_words(records)
    pairs = [text for record in records for text in (record.above, record.text)]
    if records:
        gather(by_sentences, words)
        by_text.add(pairs, np.repeat(np.arange(len(records)), 2), np.tile([TUNING.heading_weight, 1], len(records)))
    assert postings_of(by_sentences) == postings_of(by_text)
    assert words.sentence_counts.tolist() == [record.sentences for record in records]
