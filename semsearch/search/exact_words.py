"""Exact words: passages that have an identifier, an error code or a quoted phrase as it is typed come first.

Meaning brings near what is alike: for `E4711` other error codes, for `Select-String` also `Select-Object`. So parts of
a query are recognised by their shape, and passages in which such a part stands literally are ranked before all others:

    code    foo_bar.baz()  std::env  --dry-run  -x  /etc/hosts  C++  0x80070005  E4711  "a phrase"  `a span`
    names   Select-String  os.path  node.js  3.11  IL-2  readBytes  ENOENT
    files   a query that is the name of a file: that file's beginning, before what mentions it
    titles  a query that is a heading: that section; the title of a document: its beginning

A natural question may have a name that is rare, and yet other passages answer it. So a name counts only if it has half
of the weight of the query, by idf; code always does. And at most a handful of passages may have the part, unless the
query is hardly more than identifiers: then all of them come first. The postings know which passages have all terms of a
part; their texts are read to see whether it stands there, and not as the piece of a longer word.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import lru_cache

import numpy as np

from semsearch import tuning
from semsearch.arrays.id_ranges import IdRanges, distinct
from semsearch.arrays.types import UInt64
from semsearch.lexical.bm25 import TermLookup
from semsearch.results.origin import ExactPart
from semsearch.search.candidates import Candidates, Query, QueryPart
from semsearch.search.index_reader import IndexView
from semsearch.storage.find_document import first_passages_of_files
from semsearch.storage.passage_rows import require_passages, with_documents
from semsearch.text.terms import question_terms
from semsearch.text.tokens import words

_POINT, _AS_TYPED = 1.0, 0.5  # of a part that a passage has, and if that is as typed
_CODE, _NAME = 0.0, 0.5  # kinds of parts: the least share of a query, by idf, that such parts must have
_ALMOST_NONE = 2  # passages that may have a name in camel case, such as readBytes, of which the query has more words
_words_of_title = lru_cache(maxsize=1 << 14)(words)  # the same titles and headings are compared again
_MOST_PARTS = 10  # of a query that are looked for: a pasted log has hundreds
_LONGEST = 200  # characters of an identifier; shapes are searched for in quadratic time
_HEADINGS = 20  # passages whose headings are compared with a query, the best by their words
_NUMBER = "0123456789. "  # of a heading, which need not be typed
_MOST_READ = 500  # passages whose texts are read for one part, the best by their words
_AT_ONCE = 32  # passages that are read at once, until there are too many

# -- Recognising -------------------------------------------------------------------------------------------------------

_UNSPACED = "\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u2e80-\u9fff\uac00-\ud7ff\uf900-\ufaff\uff00-\uffef"
_LETTER = r"[^\W\d_]"
_SPAN = re.compile(r"`([^`\n]+)`")
_PIECES = rf"[^\s{_UNSPACED}]+|[{_UNSPACED}]+"  # scripts without spaces stand directly beside others
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
_IS_OF_WORD = rf"[^\W{_UNSPACED}]"  # compiled, as _PIECES, when it is first needed: 2 ms
_IS_PROSE = re.compile(
    rf"\d+(?:[sS]|st|nd|rd|th)?|[a-z]+-(?:1\d|20)\d\ds?|(?:{_LETTER}\.)+{_LETTER}"
)  # 18th, mid-1990s, U.S


def parts_of(query: str, phrases: Sequence[str] = ()) -> tuple[QueryPart, ...]:
    """Recognise the parts of a query: `phrases` that it quotes, spans in backticks, identifiers.

    Of more than ten, those that look most like code.
    """
    spans = [" ".join(span.split()) for span in (*phrases, *_SPAN.findall(query)) if not span.isspace()]
    rest = _SPAN.sub(" ", query)
    for span in spans[: len(phrases)]:
        rest = re.sub(_spaced(span), " ", rest)
    pieces = rest.split() if rest.isascii() else re.findall(_PIECES, rest)
    pieces = [_bare(piece) for piece in pieces if len(piece) <= _LONGEST]
    is_upper = rest.isupper() and len(pieces) > 1  # capitals say nothing where there is nothing else
    parts = [*(QueryPart(span, _CODE) for span in spans), *(_part(piece, is_upper=is_upper) for piece in pieces)]
    different = {part.text: part for part in parts if part is not None and words(part.text)}
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


def _part(piece: str, *, is_upper: bool) -> QueryPart | None:
    """The part that a piece of a query is, by its shape, if any. `is_upper`: the query has no small letters."""
    if _IS_PROSE.fullmatch(piece):
        return None
    if _IS_CODE.search(piece):
        return QueryPart(piece, _CODE)
    if _IS_NAME.search(piece.lower() if is_upper else piece):
        return QueryPart(piece, _NAME, _ALMOST_NONE if _IS_CAMEL_CASE.fullmatch(piece) else 0)
    return None


# -- Finding -----------------------------------------------------------------------------------------------------------

Literal = dict[int, tuple[ExactPart, ...]]  # the parts that a passage has, by its id


def passages_with(query: Query, index: IndexView) -> Literal:
    """Find the allowed passages that have parts of a query literally, with the parts that each has.

    If the whole query is the name of a file, the first passage of that file has it, and its name besides.
    """
    if query.words is None:
        return {}
    tuned, literal, languages = tuning.TUNING, Literal(), index.reader.lexical.languages
    terms_of_parts = [[question_terms(part.text, [language]) for language in languages] for part in query.parts]
    is_only_names = _share(query.words, [terms for of_part in terms_of_parts for terms in of_part]) >= tuned.exact_alone
    for part, terms in zip(query.parts, terms_of_parts, strict=True):
        has_share = _share(query.words, terms) >= part.least
        limit = tuned.exact_passages if has_share else part.most_otherwise
        most = None if is_only_names and has_share else limit
        having = _having(query, part, terms, index, most=most) if limit else {}
        for id_, as_typed in having.items():
            literal[id_] = (*literal.get(id_, ()), ExactPart(part.text, as_typed, len(having)))
    name = query.text.strip()
    files = first_passages_of_files(index.db, name, tuned.exact_passages) if _IS_FILE.fullmatch(name) else {}
    files = {id_: file for id_, file in files.items() if query.allowed is None or query.allowed.has(np.array([id_]))[0]}
    for id_, file in files.items():
        parts = (ExactPart(text, file.endswith(name), len(files)) for text in (name, "the name of its file"))
        literal[id_] = (*literal.get(id_, ()), *parts)  # before what only mentions it
    return literal


def _share(lookup: TermLookup, terms: Sequence[UInt64]) -> float:
    """The share that some terms have of the weight of a query."""
    has = np.isin(lookup.terms, np.concatenate(terms)) if terms else np.zeros(len(lookup.terms), dtype=np.bool_)
    return float(lookup.weights[has].sum() / max(float(lookup.weights.sum()), 1e-9))


def _having(
    query: Query, part: QueryPart, terms: Sequence[UInt64], index: IndexView, *, most: int | None
) -> dict[int, bool]:
    """The allowed passages that have a part, given by its terms in each language, and whether as it is typed.

    None of them if more than `most` have it. If too many have it in any case, but not as it is typed, only the latter
    count.
    """
    ids = distinct(np.concatenate([index.reader.lexical.passages_with(of_language) for of_language in terms]))
    ids = ids if query.allowed is None else ids[query.allowed.has(ids)]
    if len(ids) > _MOST_READ:
        if most is not None or query.words is None:
            return {}
        ids = query.words.best(_MOST_READ, allowed=IdRanges.of_ids(ids))
    having: dict[int, bool] = {}
    for first in range(0, len(ids), _AT_ONCE):
        rows = require_passages(index.db, ids[first : first + _AT_ONCE].tolist()).values()
        for row, document in with_documents(index.db, rows):
            text = "\n".join((row.text, document.title, *row.headings))
            if stands_in(part.text, text, re.IGNORECASE):
                having[row.id] = stands_in(part.text, text)
        if most is not None and sum(having.values()) > most:
            return {}
    is_few = most is None or len(having) <= most
    return {id_: as_typed for id_, as_typed in having.items() if is_few or as_typed}


def stands_in(part: str, text: str, flags: re.RegexFlag = re.NOFLAG) -> bool:
    """Return whether a part stands in a text, and not as the piece of a longer word, number or option."""
    for match in re.finditer(_spaced(part), text, flags):
        start, end = match.span()
        before, after = text[max(start - 2, 0) : start][::-1], text[end : end + 2]
        if _is_edge(part[0], before) and _is_edge(part[-1], after, is_end=True):
            return True
    return False


def _spaced(part: str) -> str:
    """The pattern of a part, in which a space is any white space."""
    return r"\s+".join(map(re.escape, part.split()))


def _is_edge(character: str, beyond: str, *, is_end: bool = False) -> bool:
    """Whether a part may begin or end with a character where the two `beyond` it, the nearest first, are these."""
    nearest = beyond[:1]
    if character.isdigit() and nearest == "." and beyond[1:].isdigit():
        return False
    if character == "-" and not is_end:
        return not (nearest == "-" or re.match(_IS_OF_WORD, nearest))
    sticks = re.match(_IS_OF_WORD, character) or (character in "/.@$#~" and not is_end)
    return not (sticks and re.match(_IS_OF_WORD, nearest))


# -- The stage ---------------------------------------------------------------------------------------------------------


def exact_words(query: Query, candidates: Candidates, index: IndexView) -> Candidates:
    """A point for each part of the query that a passage has literally, and half a point if it is as typed.

    In mode lexical a point is as much as BM25 can be for the query.

    With it, each of 86 identifiers that stand in one file is found first (tests/benchmarks/quality/exact_words.py).
    """
    if query.words is None:
        return candidates
    for id_, part in _headed(query, candidates, index).items():
        candidates.literal[id_] = (*candidates.literal.get(id_, ()), part)
    if not candidates.literal:
        return candidates
    unit = query.words.most if query.options.mode == "lexical" else 1.0
    parts = (candidates.literal.get(id_, ()) for id_ in candidates.ids.tolist())
    points = [unit * sum(_POINT + _AS_TYPED * part.as_typed for part in of_passage) for of_passage in parts]
    return candidates.add("exact", np.array(points, dtype=np.float64))


def _headed(query: Query, candidates: Candidates, index: IndexView) -> dict[int, ExactPart]:
    """The passages whose own heading is what was typed, or the title of the document that they begin, if it is two
    words or more. Of 400 headings of two guides 388 are found first, without it 238."""
    asked = words(query.text)
    if query.original is None or len(asked) < 2:
        return {}
    first = np.argsort(-candidates.bm25, kind="stable")[:_HEADINGS]
    rows, headed = index.passages(candidates.ids[first].tolist()).values(), dict[int, bool]()
    documents = index.documents_of(rows)
    for row, has_before in zip(rows, candidates.spans.before[first].tolist(), strict=True):
        titles = [*row.headings[-1:], *([] if has_before else [documents[row.document_id].title])]
        bare = [title.lstrip(_NUMBER) for title in titles if title[:1].isdigit()]
        if asked in map(_words_of_title, (*titles, *bare)):
            headed[row.id] = query.text in titles
    return {id_: ExactPart(query.text, as_typed, len(headed)) for id_, as_typed in headed.items()}
