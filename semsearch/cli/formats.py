"""Answers as text for other programs, and for eyes that read a pipe: lines without colours, without rich.

Each format is a function from answers to lines. What a document or a query holds of control characters never reaches
the terminal: JSON escapes it, the others write a space.
"""

from __future__ import annotations

import io
import json
import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import zip_longest
from pathlib import Path
from typing import TYPE_CHECKING, Any

from semsearch.results.context import Context
from semsearch.results.hits import Hit, Mode, Place

if TYPE_CHECKING:
    from semsearch.results.explanation import Explanation

_UNSEEN = re.compile(r"[\s\x00-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]+")  # with what turns text round
_CONTROL = re.compile(r"[\x00-\x1f\x7f-\x9f\u2028-\u202e\u2066-\u2069]")
_UNSAFE = re.compile(r"[\x7f-\x9f\ud800-\udfff]")
_FIELDS = (
    "rank",
    "score",
    "dense",
    "lexical",
    "path",
    "line",
    "page",
    "title",
    "headings",
    "sentence",
    "start",
    "end",
    "duplicates",
)
_PLACES = 3  # that are named, of those that say the same


@dataclass(frozen=True, slots=True)
class Answer:
    """A query with its hits; or what others were to be like, and then words of it mean nothing in the hits."""

    query: str
    mode: Mode
    hits: list[Hit]
    by_words: bool = True
    explanations: Sequence[Explanation] = ()  # one for each hit, or none

    def to_dict(self) -> dict[str, Any]:
        """For JSON."""
        return {"query": self.query, "mode": self.mode, "hits": self.hit_dicts()}

    def hit_dicts(self) -> list[dict[str, Any]]:
        """The hits for JSON, with their explanations, if they have any, as `explain`."""
        if not self.explanations:
            return [hit.to_dict() for hit in self.hits]
        pairs = zip(self.hits, self.explanations, strict=True)
        return [hit.to_dict() | {"explain": explanation.to_dict()} for hit, explanation in pairs]


def one_line(text: str) -> str:
    """A text with its line ends, tabs and control characters as single spaces."""
    return _UNSEEN.sub(" ", text).strip()


def path_of(hit: Hit | Place) -> str:
    """The path, letter for letter but for control characters, which become question marks as in a listing."""
    return _CONTROL.sub("?", hit.path)


def place(hit: Hit | Place) -> str:
    """`path:line`, as editors and terminals know it."""
    return f"{path_of(hit)}:{hit.line}"


def trail(hit: Hit) -> list[str]:
    """The headings that lead to a hit, the title where there are none, after the page where there are pages."""
    headings = [one_line(heading) for heading in hit.headings or (hit.title,)]
    page = [] if hit.page is None else [f"p. {hit.page}"]
    return page + [heading for heading in headings if heading]


def also_in(hit: Hit) -> str:
    """Where else it says the same: `2 more say the same: a.md:3, b.md:7`. Empty where there is no such place."""
    count = len(hit.duplicates)
    if not count:
        return ""
    places = [place(other) for other in hit.duplicates[:_PLACES]] + (["…"] if count > _PLACES else [])
    return f"{count} more {'says' if count == 1 else 'say'} the same: {', '.join(places)}"


def context_text(context: Context) -> str:
    """A context as it is, line by line, but for control characters."""
    return "\n".join(_CONTROL.sub(" ", line).rstrip() for line in context.text.splitlines())


def to_json(value: Any, *, indent: int | None = 2) -> str:
    """JSON as readable text. Control characters and lone surrogates are escaped."""
    text = json.dumps(value, ensure_ascii=False, indent=indent, default=str)
    return _UNSAFE.sub(lambda match: f"\\u{ord(match[0]):04x}", text)


def json_object(answers: Iterable[Answer]) -> Iterator[str]:
    """One object: query, mode, hits."""
    for answer in answers:
        yield to_json(answer.to_dict())


def json_list(answers: Iterable[Answer]) -> Iterator[str]:
    """A list of such objects, in the order of the queries; written as they come."""
    before = "["
    for answer in answers:
        yield before
        yield to_json(answer.to_dict())
        before = ","
    yield "]" if before == "," else "[]"


def jsonl(answers: Iterable[Answer]) -> Iterator[str]:
    """An object a line for each hit, with its query."""
    for answer in answers:
        for hit in answer.hit_dicts():
            yield to_json({"query": answer.query, "mode": answer.mode, **hit}, indent=None)


def plain(answers: Iterable[Answer]) -> Iterator[str]:
    """`path:line  score  trail`, and the sentence below, marked where there is context; then where else it is said, and
    the explanation."""
    first = True
    for answer in answers:
        for hit, explanation in zip_longest(answer.hits, answer.explanations):
            if not first:
                yield ""
            first = False
            yield "  ".join([place(hit), f"{hit.score:.3f}", " › ".join(trail(hit))]).rstrip()
            mark = "  > " if hit.before or hit.after else "    "
            yield from (f"    {one_line(text)}" for text in hit.before)
            yield mark + one_line(hit.sentence)
            yield from (f"    {one_line(text)}" for text in hit.after)
            if also := also_in(hit):
                yield f"    + {also}"
            if explanation is not None:
                from semsearch.cli.explained import lines  # start-up time: few ask for explanations

                yield from (f"    {line}" for line in lines(explanation))


def plain_batch(answers: Iterable[Answer]) -> Iterator[str]:
    """The same under a line for each query."""
    first = True
    for answer in answers:
        if not first:
            yield ""
        first = False
        yield f"? {one_line(answer.query)}"
        yield from plain([answer]) if answer.hits else ["    no hits"]


def paths(answers: Iterable[Answer]) -> Iterator[str]:
    """Each path once, the best first."""
    for answer in answers:
        yield from dict.fromkeys(map(path_of, answer.hits))


def vimgrep(answers: Iterable[Answer]) -> Iterator[str]:
    """`path:line:column:sentence`; columns count bytes from 1, as in ripgrep."""
    for answer in answers:
        for hit in answer.hits:
            yield f"{place(hit)}:{column(hit)}:{one_line(hit.sentence)}"


def csv(answers: Iterable[Answer]) -> Iterator[str]:
    """Comma-separated values under a header; a row is always one line."""
    from csv import writer  # start-up time

    row = io.StringIO()
    rows = writer(row, lineterminator="")
    rows.writerow(("query", "mode", *_FIELDS))
    for answer in answers:
        for hit in answer.hits:
            yield row.getvalue()
            row.seek(0)
            row.truncate()
            values = hit.to_dict() | {"headings": " › ".join(hit.headings), "duplicates": len(hit.duplicates)}
            cells = [answer.query, answer.mode, *(values[field] for field in _FIELDS)]
            rows.writerow(one_line(cell) if isinstance(cell, str) else cell for cell in cells)
    yield row.getvalue()


def column(hit: Hit) -> int:
    """Where the sentence begins in its line, in bytes from 1. 1 where its file does not tell: gone, changed, binary."""
    from semsearch.readers.document import line_starts  # start-up time: only vimgrep's format needs it

    source = _source(hit.path) if hit.root else None
    if source is None or hit.start > len(source):
        return 1
    starts = line_starts(source[: hit.start])
    return len(source[starts[-1] : hit.start].encode()) + 1 if len(starts) == hit.line else 1


@lru_cache(maxsize=16)
def _source(path: str) -> str | None:
    try:
        return Path(path).read_bytes().decode("utf-8-sig")
    except (OSError, ValueError):
        return None


FORMATS: dict[str, Callable[[Iterable[Answer]], Iterator[str]]] = {
    "csv": csv,
    "json": json_object,
    "jsonl": jsonl,
    "paths": paths,
    "plain": plain,
    "vimgrep": vimgrep,
}
EXPLAINING = ("table", "plain", "json", "jsonl")  # formats that have room for explanations
BATCH_FORMATS = FORMATS | {"json": json_list, "plain": plain_batch}
