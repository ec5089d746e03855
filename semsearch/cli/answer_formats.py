"""Answers as text for pipes and other programs: plain lines, JSON, paths and the like.

Each format is a function from an answer to lines. Control characters of a document or a query never reach the terminal:
JSON escapes them, the other formats write a space. Paths are printed as short as one would write them here.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from itertools import zip_longest
from typing import TYPE_CHECKING, Any, NamedTuple

from semsearch.cli.printing import one_line, plain_path, relative_path, to_json
from semsearch.errors import INVISIBLE
from semsearch.results.hits import (
    LINELESS,
    DuplicatePassage,
    Hit,
    Hits,
    Verdict,
    heading_of,
    location,
    nothing_answers,
    own_terms,
)
from semsearch.results.options import Mode
from semsearch.text.languages import name_of

if TYPE_CHECKING:
    from semsearch.results.explanation import Explanation, TermScore

# -- Safe texts --------------------------------------------------------------------------------------------------------

_SYMBOL = re.compile(r"[{}()\[\]<>=;$\\|&*_\"`/^~+]")
_CODE_SYMBOLS = 0.1  # share of symbols above which lines are code
_COLUMNS = re.compile(r"\S {3,}\S")  # in a line of code or output that is aligned with others
_APART = re.compile(  # in one block: a prompt or a comment first; an indented line, not of prose; statements; a list
    r"(?s)(?!.*\n\n)(?:(?:[$#%]|>>>) .*\n|.*\n[ \t]+\S.*[^.!?\s]\s*\Z|.*[;{)]\n.*[;{})]\s*\Z|([-*•] |\[[ x]\] ).*\n\1)"
)
_RECORDS = ("jsonl", "table")
_FIELD = re.compile(r"\n(?=[^\n:]{1,60}: )")
# by terminals; not line ends and tabs
CONTROL_CHARACTERS = re.compile(rf"[\x00-\x08\x0b-\x1f\x7f-\x9f\u2028\u2029{INVISIBLE}]")


def code_lines(sentence: str) -> list[str]:
    """The lines of a sentence that is code or a list, safe to print, with their indentation; none of what is prose."""
    lines = [line for line in sentence.splitlines() if line.strip()]
    has_symbols = len(_SYMBOL.findall(sentence)) > _CODE_SYMBOLS * len(sentence)
    is_code = has_symbols or len(_COLUMNS.findall(sentence)) > 1 or _APART.match(sentence) is not None
    return [safe_line(line) for line in lines] if is_code and len(lines) > 1 else []


def sentence_line(text: str, format: str) -> str:
    """A sentence on one line; in formats of records the fields stand apart: `name: Ada · born: 1815`."""
    fields = _FIELD.split(text) if format in _RECORDS else [text]
    return " · ".join(map(one_line, fields))


def safe_line(line: str) -> str:
    """A line without characters that a terminal would obey; its indentation stays."""
    return CONTROL_CHARACTERS.sub(" ", line.expandtabs(4).rstrip())


# -- Explanations ------------------------------------------------------------------------------------------------------


def explanation_lines(explanation: Explanation) -> Iterator[str]:
    """The lines on the score as a sum, on its parts and on words without a vector."""
    points, weights, is_hybrid = explanation.points, explanation.weights, explanation.mode == "hybrid"
    if len(points) != 1:
        parts = " + ".join(f"{stage} {value:.3f}" for stage, value in points.items())
        yield f"{parts or 'nothing'} = {explanation.score:.3f}"
    if explanation.terms:
        bm25 = sum(term.score for term in explanation.terms)
        share = f"{weights.lexical:.2g}×{bm25:.2f}/{weights.best:.2f}" if is_hybrid else f"{bm25:.3f}"
        yield f"lexical {share}: {_terms(explanation.terms)}"
    if explanation.cosines:
        cosine = sum(part.weight * part.cosine for part in explanation.cosines)
        cosines = " + ".join(f"{part.of} {part.cosine:.3f}×{part.weight:.2g}" for part in explanation.cosines)
        yield f"dense   {f'{weights.dense:.2g}×' if is_hybrid else ''}{cosine:.3f}: {cosines}"
    for boost in explanation.boosts or ():
        yield f"boost   {boost.weight:.3g}×{boost.share:.3f}: {boost.boost}"
    if rerank := explanation.rerank:
        by = f" by {rerank.model}" if rerank.model else ""
        by += "" if rerank.alone is None else f": cosine {rerank.alone:.3f}, and passages like it"
        unread = ", not reranked in time: set to the lowest" if rerank.unread else ""
        yield f"rerank  {rerank.weight:.2g}×({rerank.said:.3g} - {rerank.mean:.3g})/{rerank.deviation:.3g}{by}{unread}"
    if explanation.exact:
        literal = (
            f"{part.text}{'' if part.as_typed else ' in other case'}, in {part.passages:,} "
            f"passage{'s' if part.passages > 1 else ''}"
            for part in explanation.exact.parts
        )
        yield f"exact   {', '.join(literal)}: before all other passages"
    if explanation.fused:
        yield f"alone   {explanation.fused.alone:.3f} before it was compared with the others"
    if likely := explanation.relevance:
        yield f"answers {likely.probability:.0%} likely: {likely.share:.0%} of the best score"
    if explanation.quoted_for:
        words = (word if word == there else f"{word}→{there}" for word, there in explanation.quoted_for.items())
        yield f"quote   {', '.join(words)}"
    if explanation.unknown:
        yield f"unknown {', '.join(explanation.unknown)}"


def _terms(terms: Sequence[TermScore]) -> str:
    """The terms with their scores; "(beside)" where a word occurs in the adjacent passages only."""
    there = " + ".join(
        f"{term.word if term.count else f'{term.word} (beside)'} {term.score:.2f}" for term in terms if term.score
    )
    absent = ", ".join(term.word for term in terms if not term.score)
    return f"{there}; absent: {absent}" if absent else there


# -- Formats -----------------------------------------------------------------------------------------------------------

_DUPLICATES = 3  # near-duplicates that are named


class Answer(NamedTuple):
    """A query with its hits; or the subject of `similar` with its hits, in which no words are marked.

    Where nothing answers (the verdict says so), the hits are the nearest passages.
    """

    query: str
    mode: Mode
    hits: Hits
    marks_words: bool = True  # the words of the query are set off in the hits
    explanations: Sequence[Explanation] = ()  # one for each of the hits, or none
    weak: int = 0  # the number of hits below the relevance threshold, or that do not answer, which were left out
    show_all: bool = False  # no hit is left out

    def to_dict(self) -> dict[str, Any]:
        """Convert to a plain dict, as for JSON."""
        weak = {"weak": self.weak} if self.weak else {}
        return {"query": self.query, "mode": self.mode, **self.hits.to_dict(), "hits": self.hit_dicts(), **weak}

    @property
    def verdict(self) -> dict[str, Any]:
        """The verdict on the query, as for JSON; empty for `similar`."""
        hits = self.hits
        return {} if hits.verdict is None else {"verdict": hits.verdict, "answered": hits.answered}

    @property
    def usable(self) -> Hits:
        """The hits for formats without a verdict: none where nothing answers, unless all are wanted."""
        return self.hits if self.hits.answered or self.show_all else Hits()

    @property
    def corrected_query(self) -> str:
        """The query that was searched for, its misspelt words corrected."""
        origin = self.hits[0].origin if self.hits else None
        return origin.text if origin is not None and self.hits.corrected and origin.text is not None else self.query

    @property
    def heading(self) -> str:
        """The line above the hits: the verdict if it is not "answers", or the number of occurrences; else ""."""
        if (total := self.hits.total) is not None and self.hits:
            shown = "" if total.passages == len(self.hits) else f"; the first {len(self.hits):,} (-k shows more)"
            return f"{total}{shown}:"
        return heading_of(self.hits.verdict, self.hits.missing) if self.hits else ""

    @property
    def no_hits_message(self) -> str:
        """The message in place of hits."""
        count = self.weak + len(self.hits)
        return f"{nothing_answers(self.hits.missing)}; {self.left_out(count)}" if count else "no hits"

    @staticmethod
    def left_out(count: int) -> str:
        """The message that weak hits were left out, and how to see them."""
        return f"{count} weak hits left out (--all shows them)" if count > 1 else "1 weak hit left out (--all shows it)"

    def hit_dicts(self) -> list[dict[str, Any]]:
        """The hits as plain dicts, with their explanations, if there are any, as `explain`."""
        if not self.explanations:
            return [hit.to_dict() for hit in self.hits]
        pairs = zip(self.hits, self.explanations, strict=True)
        return [hit.to_dict() | {"explain": explanation.to_dict()} for hit, explanation in pairs]


def score_of(hit: Hit, verdict: Verdict | None = None) -> str:
    """The score of a hit; in mode exact the number of its occurrences, `3×`; where nothing answers, `4% likely`."""
    if verdict == "not here" and hit.relevance is not None:
        return f"{hit.relevance:.0%} likely"
    return f"{hit.score:.3f}" if hit.occurrences is None else f"{hit.occurrences:,}×"


def path_of(hit: Hit | DuplicatePassage) -> str:
    """The path of a hit, safe to print."""
    return plain_path(relative_path(hit.path) if hit.root else hit.path)


def path_and_position(hit: Hit | DuplicatePassage) -> str:
    """`path:line`, as editors and terminals know it; `path p. 3`, `path slide 3` for files without lines."""
    return path_of(hit) + position_of(hit)


def position_of(hit: Hit | DuplicatePassage) -> str:
    """The position of a hit, to follow its path: `:42`, ` p. 3`, ` slide 3`."""
    return plain_path(location("", hit.format, hit.position))


def breadcrumb(hit: Hit) -> list[str]:
    """The title of a hit's document and the headings above it: `Handbook › Keys › Rotation`.

    A title that only repeats the file's name or a heading is left out. Page and place come first if the hit is cited by
    lines: `p. 3 › Ships`; but not if the heading has the place, as that of a function has its name.
    """
    headings = [heading for heading in map(one_line, hit.headings) if heading]
    title, file_name = one_line(hit.title), hit.path[hit.path.rfind("/") + 1 :]
    if title and title not in (*headings, file_name, file_name.rpartition(".")[0]):
        headings = [title, *headings]
    if hit.format in LINELESS or (hit.place and headings and hit.place.rpartition(".")[2] in headings[-1]):
        return headings
    return [*filter(None, [one_line(own_terms(hit.position))]), *headings]


def near_duplicates(hit: Hit) -> str:
    """The near-duplicates of a hit: `2 near-duplicates: a.md:3, b.md:7`. Empty if there are none."""
    count = len(hit.duplicates)
    if not count:
        return ""
    places = [path_and_position(other) for other in hit.duplicates[:_DUPLICATES]]
    separator = "; " if any(", " in place for place in places) else ", "
    places += ["…"] if count > _DUPLICATES else []
    return f"{count} near-duplicate{'' if count == 1 else 's'}: {separator.join(places)}"


def stale_mark(hit: Hit) -> str:
    """The mark of a hit whose file has changed or is gone; empty for others."""
    return f"{'deleted' if hit.deleted else 'changed'} since it was indexed" if hit.stale else ""


def marks(hit: Hit) -> list[str]:
    """The index of a hit, `[notes]`, if several were searched, and its language, if it is not the question's."""
    index = [f"[{plain_path(hit.index)}]"] if hit.index else []
    return [*index, f"in {name_of(hit.language)}"] if hit.language else index


def json_object(answer: Answer) -> Iterator[str]:
    """An answer as one JSON object: query, mode, hits."""
    yield to_json(answer.to_dict())


def jsonl(answer: Answer) -> Iterator[str]:
    """An answer as JSON Lines: an object for each hit, with its query and the verdict on it."""
    for hit in answer.hit_dicts():
        yield to_json({"query": answer.query, "mode": answer.mode, **answer.verdict, **hit}, indent=None)


def plain(answer: Answer) -> Iterator[str]:
    """An answer as plain lines: `path:line  score  breadcrumb`; the sentence below, marked if there is context.

    Near-duplicates and the explanation follow.
    """
    if answer.hits.verdict == "not here" or answer.hits.total is not None:
        yield from filter(None, [answer.heading])
    for hit, explanation in zip_longest(answer.hits, answer.explanations):
        if hit is not answer.hits[0]:
            yield ""
        parts = [path_and_position(hit), score_of(hit, answer.hits.verdict), *marks(hit), " › ".join(breadcrumb(hit))]
        yield "  ".join(filter(None, parts))
        yield from (f"    {sentence_line(text, hit.format)}".rstrip() for text in hit.before)
        yield f"  {'>' if hit.before or hit.after else ' '} {sentence_line(hit.sentence, hit.format)}".rstrip()
        yield from (f"    {sentence_line(text, hit.format)}".rstrip() for text in hit.after)
        if also := near_duplicates(hit):
            yield f"    + {also}"
        if stale := stale_mark(hit):
            yield f"    ! {stale}"
        if explanation is not None:
            yield from (f"    {line}" for line in explanation_lines(explanation))


def paths(answer: Answer) -> Iterator[str]:
    """The paths of the hits, each once, the best first."""
    yield from dict.fromkeys(map(path_of, answer.usable))


def null(answer: Answer) -> Iterator[str]:
    """The paths of the hits as they are, for `xargs -0`: each once and ended by a null, whatever characters it has."""
    yield from (f"{path}\0" for path in dict.fromkeys(hit.path for hit in answer.usable))


def vimgrep(answer: Answer) -> Iterator[str]:
    """Hits as `path:line:1:sentence`, as editors read them; the column is always the first."""
    for hit in answer.usable:
        yield f"{path_of(hit)}:{hit.line}:1:{sentence_line(hit.sentence, hit.format)}"


FORMATS: dict[str, Callable[[Answer], Iterator[str]]] = {
    "json": json_object,
    "jsonl": jsonl,
    "null": null,
    "paths": paths,
    "plain": plain,
    "vimgrep": vimgrep,
}
EXPLAINING = ("table", "plain", "json", "jsonl")  # formats that have room for explanations
