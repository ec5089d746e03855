"""Whether an index answers a query: one score of the query, from which follow three verdicts.

    score    = b + r · logit(relevance) + c · coverage + n · log(1 + passages) + m · log(words) + f · foreign

    relevance  of the best passage (semsearch.search.scoring)
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

from dataclasses import dataclass

import numpy as np

from semsearch import tuning
from semsearch.arrays.types import Float64
from semsearch.results.hits import Verdict
from semsearch.search.alignment import AlignedPassages, AskedWords
from semsearch.search.candidates import Query, Ranking
from semsearch.search.index_reader import IndexView
from semsearch.search.quote import BEST, Compared
from semsearch.text.languages import RULES

_LEAST = 0.05  # ε
_TELLING = 0.1  # a / (a + p) that one word of another language needs: "wat", Dutch for what, says nothing by itself


@dataclass(frozen=True, slots=True)
class Judgement:
    """What is told of a query as a whole, with what it follows from."""

    verdict: Verdict
    missing: tuple[str, ...]  # its words that no passage has
    features: tuple[float, ...]  # 1, logit of the relevance, coverage, log of passages, log of words, foreign


def judge(query: Query, compared: Compared | None, ranking: Ranking, index: IndexView) -> Judgement | None:
    """Say whether the index answers a query; None for passages that stand for one, which has no words to align."""
    candidates, tuned = ranking.candidates, tuning.TUNING
    if query.original is None or compared is None:
        return None
    missing = _missing(query, compared.aligned.asked, index)
    if candidates.relevance is None or not ranking.order:
        return Judgement("not here", missing, ())
    is_foreign = query.language is not None and query.language not in index.reader.languages
    says_nothing = is_foreign and _rarity(compared.aligned.asked).max(initial=0) < _TELLING
    features = (
        1.0,
        min(max(candidates.relevance.level, -9.0), 9.0),
        0.0 if says_nothing else _coverage(compared.aligned),
        float(np.log1p(index.reader.lexical.passages)),
        float(np.log(max(query.word_count, 1))),
        float(is_foreign),
    )
    score = float(np.dot(features, tuned.verdict))
    if any(id_ in candidates.literal for id_ in [*compared.aligned.number_of][:BEST]):
        score = max(score, tuned.verdict_not_here)  # an exact part of the query is there
    verdict: Verdict = "answers" if score >= 0 else "perhaps" if score >= tuned.verdict_not_here else "not here"
    return Judgement(verdict, missing, features)


def _coverage(aligned: AlignedPassages) -> float:
    """The largest share of a query that one of the best passages says, with what is around it, 0 to 1."""
    weights = aligned.asked.weights * _rarity(aligned.asked)
    if not weights.sum():
        return 0.0
    sentences = [aligned.alone[rows].max(axis=0) for rows in aligned.slices[: len(aligned.around)]]
    similar = np.maximum(sentences, aligned.around)
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
