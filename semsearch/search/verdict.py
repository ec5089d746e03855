"""Whether an index answers a query: one score of the query, from which follow three verdicts.

    score    = b + r · logit(relevance) + c · coverage + n · log(1 + passages) + m · log(words) + f · foreign

    relevance  the largest of any candidate (semsearch.search.scoring)
    coverage   how much of the query one of the three best passages says, the geometric mean of its words:
               exp(Σ_i w_i log max(A_i, ε) / Σ_i w_i), A_i how well the passage, a heading, the document's title or its
               file's name has the i-th word (semsearch.search.alignment), w_i = √idf_i · a / (a + p_i) (Arora et al.
               2017): a word counts that is rare both in the index, where one that it lacks is the rarest, and in
               general text
    passages   of the index: in a large one something is near any query
    words      of the query: a single word is met by chance
    foreign    1 if no document is in the query's language: its words are compared by their vectors alone

From 0 on the index answers, and below `verdict_not_here` it does not; between them it does perhaps. The numbers do not
depend on the language. On guides, languages and folders on which they were not chosen, of questions with a right first
hit .89 are told "answers" and .01 "not here"; of questions about something else .02 and .95, of near ones .21 and .40.
Fitted anew without one of these, at equal shares of mistakes, the first and the fourth of these shares are .84 and .92
without relevance, .84 and .80 without coverage, .84 and .85 without passages, .85 and .89 without words, .92 and .88
without foreign: docs/research/measurements.md, "Verdicts".
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from semsearch import tuning
from semsearch.arrays.types import Float64
from semsearch.results.hits import Verdict
from semsearch.search.alignment import AskedWords, similarities
from semsearch.search.candidates import HitRows, Query, Ranking
from semsearch.search.index_reader import IndexView
from semsearch.search.make_hits import rows_of
from semsearch.text.languages import RULES
from semsearch.text.tokens import with_parts

_BEST = 3  # passages whose words are compared
_LEAST = 0.05  # ε
_COMMON = 0.1  # times a: p of words that are not named as missing


@dataclass(frozen=True, slots=True)
class Judgement:
    """What is told of a query as a whole, with what it follows from."""

    verdict: Verdict
    missing: tuple[str, ...]  # its words that no passage has
    features: tuple[float, ...]  # 1, logit of the relevance, coverage, log of passages, log of words, foreign


def judge(query: Query, asked: AskedWords | None, ranking: Ranking, index: IndexView) -> Judgement | None:
    """Say whether the index answers a query; None for passages that stand for one, which has no words to align."""
    relevance = ranking.candidates.relevance
    if query.original is None or asked is None:
        return None
    missing = _missing(query, asked, index)
    if relevance is None or not ranking.order:
        return Judgement("not here", missing, ())
    tuned, reader, candidates = tuning.TUNING, index.reader, ranking.candidates
    best = np.argsort(-candidates.scores, kind="stable")[:_BEST].tolist()  # however many hits are asked for
    largest = float(np.clip(np.fmax.reduce(relevance.probability), 1e-4, 1 - 1e-4))
    features = (
        1.0,
        float(np.log(largest / (1 - largest))),
        _coverage(asked, rows_of(replace(ranking, order=best, near_duplicates={}), index)),
        float(np.log1p(reader.lexical.passages)),
        float(np.log(max(query.word_count, 1))),
        float(query.language is not None and query.language not in reader.languages),
    )
    score = float(np.dot(features, tuned.verdict))
    if any(id_ in candidates.literal for id_ in candidates.ids[best].tolist()):
        score = max(score, tuned.verdict_not_here)  # an exact part of the query is there
    verdict: Verdict = "answers" if score >= 0 else "perhaps" if score >= tuned.verdict_not_here else "not here"
    return Judgement(verdict, missing, features)


def _coverage(asked: AskedWords, rows: HitRows) -> float:
    """The largest share of a query that one of some passages says, 0 to 1."""
    weights = asked.weights * _rarity(asked)
    if not weights.sum():
        return 0.0
    texts, starts = list[str](), list[int]()
    for row in rows.hits:
        document = rows.documents[row.document_id]
        around = (*row.headings, document.title, document.path.rpartition("/")[2])
        starts.append(len(texts))
        texts += [with_parts(text, document.format) for text in (*row.sentence_texts, *around)]
    languages = np.repeat(rows.languages, np.diff([*starts, len(texts)])).tolist()
    similar = np.maximum.reduceat(similarities(asked, texts, languages), starts, axis=0)  # of each hit (h, q)
    return float(np.exp(np.log(np.maximum(similar, _LEAST)) @ (weights / weights.sum())).max())


def _rarity(asked: AskedWords) -> Float64:
    """a / (a + p) of each word. (q,)"""
    a = tuning.TUNING.verdict_a
    return np.asarray(a / (a + asked.frequencies))


def _missing(query: Query, asked: AskedWords, index: IndexView) -> tuple[str, ...]:
    """The words of a query that no passage has, but for such as are frequent in general; none of single characters."""
    reader = index.reader
    if query.language is not None:
        rules = RULES[query.language]
        if query.language not in reader.languages or rules.pairs or rules.sequences:
            return ()
    are_telling = ~asked.are_held & (_rarity(asked) >= 0.5)
    return tuple(name for name, is_missing in zip(asked.names, are_telling.tolist(), strict=True) if is_missing)
