"""Exact words: passages that have an identifier, an error code or a quoted phrase as it is typed come first.

Meaning brings near what is alike: for `E4711` other error codes, for `Select-String` also `Select-Object`. So parts of
a query are recognised by their shape, and passages in which such a part stands literally are ranked before all others:

    code    foo_bar.baz()  std::env  --dry-run  -x  /etc/hosts  C++  0x80070005  E4711  "a phrase"  `a span`
    names   Select-String  os.path  node.js  3.11  IL-2  readBytes  ENOENT
    words   any other that the word vectors do not know; in any case and form
    files   a query that is the name of a file: that file's beginning, before what mentions it

A natural question may have a name that is rare, and yet other passages answer it. So a name counts only if it has half
of the weight of the query, by idf, and a word only if it is all of it but for stop words; code always does. And at most
a handful of passages may have the part, unless the query is hardly more than identifiers: then all of them come first.

The postings know which passages have all terms of a part; their texts are read to see whether it stands there: as it is
typed, or at least in other case, in the text, the title or a heading above, and not as the piece of a longer word.

Scores keep the order: passages with exact words get the points that bring the least of them just above the best of the
others. They keep their own order, but what has more of the parts, or has them as typed, comes before. The points are
given last, after boosts and after a reranker, and anew where the answers of several indexes become one.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import lru_cache
from typing import TYPE_CHECKING

import numpy as np

from semsearch.arrays.id_ranges import IdRanges, distinct
from semsearch.arrays.types import Float64, Int64
from semsearch.lexical.bm25 import TermLookup
from semsearch.results.hits import Hit
from semsearch.results.options import ExactPart, ExactWords
from semsearch.search.candidates import Candidates, IndexView, Query, QueryPart
from semsearch.storage.catalogue import get_titled_texts
from semsearch.text.terms import of_question
from semsearch.text.tokens import words

if TYPE_CHECKING:
    import sqlite3

HANDFUL = 10  # passages; "Exact words" of docs/research/measurements.md, as for the shares
_CODE, _NAME, _WORD = 0.0, 0.5, 0.999  # least share of a query, by idf, that such parts must have
_ALMOST_NONE = 2  # passages that may have a name in camel case, such as readBytes, of which the query has more words
_RARE = 0.1  # of all passages, at most, may have a word
_NEARLY_ALL = 0.75  # of a query that is hardly more than its identifiers
_MOST_PARTS = 10  # of a query that are looked for: a pasted log has hundreds
_LONGEST = 200  # characters of an identifier; shapes are searched for in quadratic time
_MOST_READ = 500  # passages whose texts are read for one part, the best by their words
_AT_FIRST = 16  # of them, and then twice as many each time, until there are too many
_MARGIN = 0.01  # points between the least passage with exact words and the best without

# -- Recognising -------------------------------------------------------------------------------------------------------

_UNSPACED = "\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u2e80-\u9fff\uac00-\ud7ff\uf900-\ufaff\uff00-\uffef"
_LETTER = r"[^\W\d_]"
_SPAN = re.compile(r"`([^`\n]+)`")
_PIECES = re.compile(rf"[^\s{_UNSPACED}]+|[{_UNSPACED}]+")  # scripts without spaces stand directly beside others
_OPENING, _CLOSING = "([{<\"'“‘«„", ")]}>\"'”’»“.,;:?!"
_GENITIVE = re.compile(r"['’]s$")
_IS_CODE = re.compile(
    rf"\w_|_\w|::|://|->|\(\)|\\|\w=|\w\+\+$|^{_LETTER}#$|^--{_LETTER}|^-{_LETTER}$|^-[A-Z]"
    rf"|^[/.@$#~]{_LETTER}|^#\d|/\w+/\w|{_LETTER}.*\d\d\d|^0[xX][\da-fA-F]+$"
)
_IS_NAME = re.compile(
    rf"\w.*[A-Z]|^-{_LETTER}|{_LETTER}\d|{_LETTER}-\d|^v?\d+(?:\.\d+)+$|[^\W_]\.{_LETTER}{{2}}|[^\W_]{{2}}\.[^\W_]"
)
_IS_CAMEL_CASE = re.compile(r"[A-Z]?[a-z]{2,}(?:[A-Z][a-z]{2,})+")
_IS_FILE = re.compile(r"(?:\S+ ){0,5}\S{1,200}\.[A-Za-z]\w{0,9}")
_IS_PROSE = re.compile(r"\d+(?:[sS]|st|nd|rd|th)?|[a-z]+-(?:1\d|20)\d\ds?|(?:\w\.)+\w")  # 18th, mid-1990s, U.S


def parts_of(query: str, phrases: Sequence[str] = (), *, with_words: bool = True) -> tuple[QueryPart, ...]:
    """Recognise the parts of a query: `phrases` that it quotes, spans in backticks, identifiers, `with_words` words.

    Of more than ten, those that look most like code.
    """
    spans = [" ".join(span.split()) for span in (*phrases, *_SPAN.findall(query)) if not span.isspace()]
    rest = _SPAN.sub(" ", query)
    for span in spans[: len(phrases)]:
        rest = re.sub(_pattern(span), " ", rest)
    found = [QueryPart(span, _CODE) for span in spans]
    pieces = [_bare(piece) for piece in _PIECES.findall(rest) if len(piece) <= _LONGEST]
    is_upper = rest.isupper() and len(pieces) > 1  # capitals say nothing where there is nothing else
    found += [_part(piece, is_upper=is_upper) for piece in pieces]
    counted = [(part, len(words(part.text))) for part in found]
    different = {part.text: part for part, n in counted if n and (part.least < _WORD or (with_words and n == 1))}
    return tuple(sorted(different.values(), key=lambda part: part.least)[:_MOST_PARTS])


def _bare(piece: str) -> str:
    """A piece of a query without the punctuation around it. Brackets that close what it opens stay."""
    piece = piece.lstrip(_OPENING)
    while piece and piece[-1] in _CLOSING:
        opening = {")": "(", "]": "[", "}": "{", ">": "<"}.get(piece[-1])
        if opening and piece.count(opening) >= piece.count(piece[-1]):
            break
        piece = piece[:-1]
    return _GENITIVE.sub("", piece)


def _part(piece: str, *, is_upper: bool) -> QueryPart:
    """The part that a piece of a query is, by its shape. `is_upper`: the query has no small letters."""
    if _IS_PROSE.fullmatch(piece):
        return QueryPart(piece, _WORD)
    if _IS_CODE.search(piece):
        return QueryPart(piece, _CODE)
    if _IS_NAME.search(piece.lower() if is_upper else piece):
        return QueryPart(piece, _NAME, _ALMOST_NONE if _IS_CAMEL_CASE.fullmatch(piece) else 0)
    return QueryPart(piece, _WORD)


# -- Finding -----------------------------------------------------------------------------------------------------------

Found = Mapping[int, tuple[ExactPart, ...]]  # the parts that a passage has, by its id


def passages_with(query: Query, index: IndexView) -> Found:
    """Find the allowed passages that have parts of a query literally, with the parts that each has.

    If the whole query is the name of a file, the first passage of that file has it, and its name besides.
    """
    if query.words is None:
        return {}
    lexical, parts, allowed = index.reader.lexical, query.parts, query.allowed
    terms = [[of_question(part.text, [language]) for language in lexical.languages] for part in parts]
    of_parts = [{term for each in own for term in each.tolist()} for own in terms]
    of_names = set[int]().union(*(own for part, own in zip(parts, of_parts, strict=True) if part.least < _WORD))
    *shares, share_of_names = _shares(query.words.lookup, [*of_parts, of_names])
    found: dict[int, tuple[ExactPart, ...]] = {}
    for part, share, own in zip(parts, shares, terms, strict=True):
        limit = HANDFUL if share >= part.least else part.most_otherwise
        if not share or not limit:
            continue
        is_all = part.least < _WORD and share >= part.least and share_of_names >= _NEARLY_ALL
        ids = distinct(np.concatenate([lexical.having(each) for each in own]))
        ids = ids if allowed is None else ids[allowed.has(ids)]
        if part.least == _WORD:
            is_rare = len(ids) <= min(limit, int(_RARE * len(lexical.ids)))  # in a small index no word is
            having = dict.fromkeys(ids.tolist() if is_rare else (), True)
        else:
            if len(ids) > _MOST_READ:
                ids = query.words.best(_MOST_READ, allowed=IdRanges.of_ids(ids)) if is_all else ids[:0]
            having = _having(index.db, ids, part.text, most=None if is_all else limit)
        for id_, as_typed in having.items():
            found[id_] = (*found.get(id_, ()), ExactPart(part.text, as_typed, len(having)))
    name = query.text.strip()
    files = _beginnings_of(index.db, name, allowed)
    for id_, as_typed in files.items():
        named = (ExactPart(name, as_typed, len(files)), ExactPart("the name of its file", as_typed, len(files)))
        found[id_] = (*found.get(id_, ()), *named)  # before what only mentions it
    return found


def _beginnings_of(db: sqlite3.Connection, name: str, allowed: IdRanges | None) -> dict[int, bool]:
    """The first passages of the documents with a file name, or the end of a path, and whether it is as typed."""
    if not _IS_FILE.fullmatch(name):
        return {}
    of_like = re.sub(r"([%_\\])", r"\\\1", name)
    rows = db.execute(
        "SELECT first_passage, path FROM documents WHERE passages > 0 AND (path = ? COLLATE NOCASE OR path LIKE ? "
        "ESCAPE '\\') ORDER BY path LIMIT ?",
        (name, f"%/{of_like}", HANDFUL + 1),
    ).fetchall()
    found = {int(id_): path.endswith(name) for id_, path in rows} if len(rows) <= HANDFUL else {}
    allowed_ids = np.array([*found], dtype=np.int64)
    kept = allowed_ids if allowed is None else allowed_ids[allowed.has(allowed_ids)]
    return {id_: found[id_] for id_ in kept.tolist()}


def _shares(lookup: TermLookup, terms: Sequence[set[int]]) -> list[float]:
    """The share that each of n sets of terms has of the weight of a query."""
    has = np.array([[term in each for each in terms] for term in lookup.terms.tolist()], dtype=np.bool_)
    found: list[float] = lookup.share_of(has.reshape(-1, len(terms))).tolist()
    return found


def _having(db: sqlite3.Connection, ids: Int64, part: str, *, most: int | None) -> dict[int, bool]:
    """Those of the passages that have a part, and whether as it is typed; none if more than `most` have it.

    If too many have it in any case, but not as it is typed, only the latter count.
    """
    typed, other = _finder(part), _finder(part, re.IGNORECASE)
    found: dict[int, bool] = {}
    first, size = 0, _AT_FIRST if most is not None else _MOST_READ
    while first < len(ids):
        for row in get_titled_texts(db, ids[first : first + size].tolist()):
            text = "\n".join((row.text, row.title, *row.headings))
            if other(text):
                found[row.passage_id] = typed(text)
        if most is not None and sum(found.values()) > most:
            return {}
        first, size = first + size, 2 * size
    if most is None or len(found) <= most:
        return found
    return {id_: True for id_, as_typed in found.items() if as_typed}


def _finder(part: str, flags: re.RegexFlag = re.NOFLAG) -> Callable[[str], bool]:
    """Whether a text has a part where `_pattern` matches it. Its ends, slow to compile, are those of most parts."""
    before, literal, after = _pattern_of(part)
    find, begins, ends = re.compile(literal, flags).search, _edge(before).match, _edge(after).match

    def stands_in(text: str) -> bool:
        found = find(text)
        while found is not None and not (begins(text, found.start()) and ends(text, found.end())):
            found = find(text, found.start() + 1)
        return found is not None

    return stands_in


@lru_cache(maxsize=64)
def _edge(pattern: str) -> re.Pattern[str]:
    return re.compile(pattern)


def _pattern(part: str) -> str:
    """Matches a part where it is not a piece of a longer word, number or option; a space is any white space."""
    return "".join(_pattern_of(part))


def _pattern_of(part: str) -> tuple[str, str, str]:
    """What has to be before a part, itself, and what has to be after it."""
    of_word = rf"[^\W{_UNSPACED}]"
    before = (
        rf"(?<!{of_word})" if re.match(rf"{of_word}|[/.@$#~]", part[0]) else r"(?<![\w-])" if part[0] == "-" else ""
    )
    before += r"(?<!\d\.)" if part[0].isdigit() else ""
    after = rf"(?!{of_word})" if re.match(of_word, part[-1]) else ""
    after += r"(?!\.\d)" if part[-1].isdigit() else ""
    return before, r"\s+".join(map(re.escape, part.split())), after


# -- Ordering ----------------------------------------------------------------------------------------------------------

_Rank = tuple[int, int]  # how many parts a passage has, and how many as they are typed
_NONE = 0, 0


def _rank_of(parts: Sequence[ExactPart]) -> _Rank:
    return len(parts), sum(part.as_typed for part in parts)


def points_of(scores: Float64, ranks: Sequence[_Rank]) -> dict[_Rank, float]:
    """The points for passages of each rank, so that every higher rank is above every lower one. (n,), n ranks"""
    of_rank: dict[_Rank, list[float]] = {}
    for score, rank in zip(scores.tolist(), ranks, strict=True):
        if score == score:  # not NaN
            of_rank.setdefault(rank, []).append(score)
    points: dict[_Rank, float] = {}
    highest = -np.inf
    for rank, own in sorted(of_rank.items()):
        points[rank] = 0.0 if rank == _NONE else float(max(0.0, highest + _MARGIN - min(own)))
        highest = max(own) + points[rank]
    return points


def exact_words(_: Query, candidates: Candidates, __: IndexView) -> Candidates:
    """Bring passages that have parts of the query literally before all others.

    With it, each of 86 identifiers that stand in one file is found first (tests/benchmarks/quality/exact_words.py).
    """
    literal = candidates.literal
    if not literal:
        return candidates
    ids = candidates.ids.tolist()
    points = points_of(candidates.scores, [_rank_of(literal.get(id_, ())) for id_ in ids])
    return candidates.add("exact", np.array([points[_rank_of(literal[id_])] if id_ in literal else 0.0 for id_ in ids]))


def without_points(hit: Hit) -> float:
    """The score of a hit without the points for exact words."""
    return hit.score - (hit.origin.exact.points if hit.origin is not None and hit.origin.exact else 0.0)


def exact_first(hits: Sequence[Hit]) -> list[Hit]:
    """Order hits by their scores, in which the points for exact words are given anew, from these hits' scores."""
    parts = [hit.origin.exact.parts if hit.origin is not None and hit.origin.exact else () for hit in hits]
    if any(parts):
        scores, ranks = np.array([without_points(hit) for hit in hits]), [_rank_of(each) for each in parts]
        points = points_of(scores, ranks)
        hits = [_with(hit, points[rank], own) for hit, rank, own in zip(hits, ranks, parts, strict=True)]
    return sorted(hits, key=lambda hit: -hit.score)


def _with(hit: Hit, points: float, parts: tuple[ExactPart, ...]) -> Hit:
    """A hit with other points for exact words."""
    if hit.origin is None or not parts:
        return hit
    origin = replace(hit.origin.with_points(exact=points), exact=ExactWords(points, parts))
    return replace(hit, score=without_points(hit) + points, origin=origin)
