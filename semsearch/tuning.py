"""The numbers of the ranking that measurements have chosen: what each one is, and where it was measured.

A benchmark or a test can change them for the whole process:

    tuning.TUNING = tuning.TUNING._replace(near_weight=0.1)

A query reads them when it begins, but for those of BM25, which an index reads when it is opened. Constants of a single
method, such as those of the alignment of words, stand with it. `heading_weight`, and `topics_share` in relation to
`passage_share`, also shape what an index stores: an index that was made with other values has to be rebuilt.
"Measurements" is docs/research/measurements.md.
"""

from __future__ import annotations

from typing import NamedTuple


class Tuning(NamedTuple):
    """Parameters of the ranking: how a score is put together, and how many passages are considered."""

    # one score of meaning and words; Measurements, "Fusion and feedback"
    dense_weight: float = 0.7  # weight of the cosine; the rest is that of BM25, divided by the best one for the query
    dense_weight_unknown: float = 0.4  # weight of the cosine where few words of a question have vectors; "Languages"
    known_least: float = 0.6  # share of known words from which the weight rises to `dense_weight`
    stray_language: float = 0.01  # share of documents below which a language changes nothing for questions in others
    words_across: float = 0.5  # share of BM25's weight that counts for passages in other languages; "Languages"
    aligned_across: float = 1.6  # weight of the alignment of words for these, beside 1 of the cosines; "Languages"
    across_nearest: int = 10  # passages in the question's language by which those in others are weighted
    across_ridge: float = 1.0  # squared cosines that speak for all weight, in the regression of that weight
    across_most: float = 2.0  # largest weight of the cosines of passages in other languages
    across_aligned: int = 30  # passages whose words are aligned with the question's
    across_aligned_beyond: int = 5  # passages beyond k whose words are aligned, where that is more
    near_weight: float = 0.2  # weight of pseudo-relevance feedback, where both retrievers score passages

    # support of a passage by its document; Measurements, "Questions over documentation"
    support_weight: float = 0.5  # factor of the mean by which its next best passages are above half of the best score
    support_passages: int = 2  # next best passages of a document
    support_least: float = 0.4  # distance of the best score from its maximum below which support counts in proportion
    length_weight: float = 0.12  # points taken off for each power of ten of a document's passages above `length_from`
    length_from: int = 40  # passages; most pages of a guide have fewer
    length_most: float = 0.5  # powers of ten that count at most, so that a long book is not behind everything else
    short_weight: float = 0.1  # points taken off for a section without words, in proportion for a short one
    short_from: int = 3  # passages of a document from which its short sections lose points; shorter ones are notes
    short_words: int = 40  # words from which a passage is not short, as BM25 counts them; "First hits"
    proximity_weight: float = 0.1  # points for a passage where all words of a query stand side by side; "First hits"
    proximity_words: int = 3  # largest distance of two words, in words
    proximity_passages: int = 5  # first passages in which words are looked for, whatever k is
    crowding_weight: float = 0.1  # points taken off for each passage of a document beyond its best ones; "First hits"
    crowding_from: int = 3  # best passages of a document that lose nothing

    # the dense score; Measurements, "Topics of the corpus"
    topics_share: float = 4  # parts of the score that are the cosine of the topics
    passage_share: float = 3  # parts of the score that are the passage's cosine
    sentence_share: float = 3  # parts of the score that are the best sentence's cosine
    title_share: float = 1  # parts of the score that are the cosine of the document's title; Measurements, "Titles"

    # BM25; Robertson and Zaragoza 2009
    k1: float = 1.2  # how soon more of the same word stops counting; a usual value, not varied
    b: float = 0.75  # how much a passage's length counts against it; a usual value, not varied
    neighbour_weight: float = 0.5  # weight of a word in the passage before or after; "Fusion and feedback"
    heading_weight: int = 2  # how often a word of title or headings counts, 1 to 3; not varied

    # exact words: passages that have parts of a query literally come first; Measurements, "Exact words"
    exact_passages: int = 10  # most passages that may have a part, unless the query is hardly more than its identifiers
    exact_alone: float = 0.75  # share of a query's weight in identifiers from which it is hardly more than these

    # how likely a hit answers, the logistic function of a sum; Measurements, "Relevance"
    relevance: tuple[float, ...] = (-3.81, 5.25, 2.65, 1.25)  # bias; times cosine, words, unknown, of the best passage
    relevance_without_words: tuple[float, ...] = (-3.32, 7.28, 0.0, 0.0)  # these four where words are not compared
    relevance_aligned: tuple[float, ...] = (-5.97, 18.85, 0.0, 0.0)  # these four where words are aligned
    relevance_without_vectors: tuple[float, ...] = (-2.4, 0.0, 3.91, 0.0)  # these four where the question has no vector
    relevance_fall: float = 5.0  # factor of the share of the best score by which a passage falls behind
    relevance_of_small: float = 0.5  # addition to the bias in an index without topics, whose cosines are lower
    usual_spread: float = 0.1  # spread of a question's cosines in an index from which on they count less
    spread_prior: int = 30  # passages with the usual spread that are added to those of the index

    # whether an index answers a query; Measurements, "Verdicts"
    verdict: tuple[float, ...] = (-3.35, 1.33, 10.3, -0.415, 1.56, 1.78)  # bias; times what search/relevance.py says
    verdict_not_here: float = -2.4  # score below which nothing answers; from 0 on the index does
    verdict_a: float = 3e-4  # a of the words' weights: a word as frequent as this in general text counts half

    # the sentence that is shown; Measurements, "The sentence that states the fact"
    quote_passages: int = 6  # passages of a document whose sentences are compared, its best; a short one has no more
    quote_other: float = 0.7  # factor of the score of a sentence of another passage than the document's best
    quote_near: float = 0.7  # share of the best passage's score below which another one does not change places with it
    quote_documents: int = 3  # first documents of an answer of which several passages are compared
    quote_longest: int = 300  # characters that are shown of a line that ends in a colon with what follows it
    quote_number: float = 1.5  # factor of the score of a sentence with a number, where one is asked for
    quote_measure: float = 1.5  # factor where the number is of the kind: time for "how long", or of the things counted
    quote_name: float = 1.5  # factor of a name such as `--quiet`, where an option, a file, a function is asked for
    quote_command: float = 1.5  # factor of code, where something to do is asked for
    quote_definition: float = 3.0  # factor of a sentence that says what a thing is, where this is asked for
    quote_default: float = 2.5  # factor of a sentence that says "default", where one is asked for
    quote_sure: float = 0.6  # share of the question's idf that a sentence must have for the answer in it to be marked
    quote_alone: float = 0.46  # factor of a title, an entry, a mail's header: above what is only said before (RECALLED)

    # how many passages are considered
    depth: int = 50  # passages of each retriever, to be scored by both; 300 gave the same ranking
    depth_per_hit: int = 5  # passages of each retriever for each hit that is asked for, where that is more
    deeper: int = 8  # factor of the depth where near-duplicates leave fewer than k
    deeper_for_boosts: int = 4  # factor of the depth with boosts, which may bring forward a passage from far down
    deepest: int = 3000  # passages of each retriever from which on no deeper search is made
    few_allowed: int = 2000  # passages left by filters up to which all are scored, without a scan
    beyond: int = 20  # passages beyond the first k that are compared for near-duplicates too, or a quarter of k
    of_several: int = 20  # hits beyond k that each of several indexes is asked for, or a quarter of k
    characteristic_terms: int = 20  # that stand for a passage or document in `similar`
    reranked: int = 50  # first hits that a reranker reads, or as many as are asked for


TUNING = Tuning()
