"""A test collection in BEIR's layout (Thakur et al. 2021):

    corpus.jsonl      _id, title, text
    queries.jsonl     _id, text
    qrels/test.tsv    a header, then query-id TAB corpus-id TAB score

Only queries with at least one relevant document (a score above zero) are judged; the others are not run.
"""

from __future__ import annotations

import json
import logging
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path

from semsearch.errors import SourceError
from semsearch.readers.document import Text
from semsearch_research.evaluate.file_lines import FileLine, as_number, numbered_lines

logger = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Collection:
    """Documents, the judged queries (id -> text), and for each of these the gains of documents (id -> id -> gain)."""

    name: str
    documents: list[Text]
    queries: Mapping[str, str]
    relevant: Mapping[str, Mapping[str, int]]


def collection_folders(paths: Iterable[Path]) -> list[Path]:
    """The folders of collections: of a folder of data those in its retrieval/, and other folders themselves."""
    inside = {path: sorted((path / "retrieval").glob("*/corpus.jsonl")) for path in paths}
    return [folder for path, files in inside.items() for folder in [file.parent for file in files] or [path]]


def read_collection(folder: Path) -> Collection:
    """A collection, called like its folder.

    Raises SourceError naming the file, and the line, that is missing or broken: an id twice, a judged query that has
    no text. Relevant documents that are not in the corpus stay in the ideal ranking, with a logged warning.
    """
    for name in ("corpus.jsonl", "queries.jsonl", "qrels/test.tsv"):
        if not (folder / name).is_file():
            raise SourceError(
                f"{folder} has no {name}; expected a folder with corpus.jsonl, queries.jsonl and qrels/test.tsv"
            )
    documents = [
        Text(key, _text(line, "text"), title=_text(line, "title"))
        for key, line in _records(folder / "corpus.jsonl").items()
    ]
    texts = {key: _text(line, "text") for key, line in _records(folder / "queries.jsonl").items()}
    relevant = _judgements(folder / "qrels" / "test.tsv", texts)
    known = {document.id for document in documents}
    missing = {doc for gains in relevant.values() for doc, gain in gains.items() if gain and doc not in known}
    if missing:
        logger.warning(
            "%s: %d relevant documents (%s, …) are not in corpus.jsonl and can never be found",
            folder,
            len(missing),
            min(missing),
        )
    return Collection(folder.resolve().name, documents, {query: texts[query] for query in relevant}, relevant)


def _records(path: Path) -> dict[str, FileLine]:
    """The objects of a file of JSON lines, by id."""
    records: dict[str, FileLine] = {}
    for line in numbered_lines(path):
        key = line.values.get("_id")
        if isinstance(key, bool) or not isinstance(key, str | int) or not str(key).strip():
            raise line.wrong("an object with an _id")
        if str(key) in records:
            first = records[str(key)].number
            raise SourceError(
                f"{path}, line {line.number}: the _id {str(key)!r} is that of line {first}; ids are unique"
            )
        records[str(key)] = line
    if not records:
        raise SourceError(f"{path} is empty; expected a JSON object a line, with an _id and a text")
    return records


def _text(line: FileLine, name: str) -> str:
    """A field's text; empty where there is none."""
    value = line.values.get(name)
    if value is not None and not isinstance(value, str):
        raise line.wrong(f"a string as {name}", json.dumps(value, ensure_ascii=False))
    return value or ""


def _judgements(path: Path, queries: Mapping[str, str]) -> dict[str, dict[str, int]]:
    """The gains of each query that has a relevant document. A score below zero, as some have it, is no gain."""
    judged: dict[str, dict[str, int]] = {}
    columns = "query-id, corpus-id and a whole number, between tabs"
    for line in numbered_lines(path):
        if len(line.cells) != 3:
            raise line.wrong(columns)
        query, document, score = line.cells
        gain = as_number(score)
        is_whole = gain is not None and gain.is_integer()
        if line.number == 1 and not is_whole:
            continue  # the header
        if line.number == 1:
            raise line.wrong("the header query-id, corpus-id, score")
        if not is_whole:
            raise line.wrong(columns)
        if query not in queries:
            raise SourceError(
                f"{path}, line {line.number}: queries.jsonl has no query {query!r}; add it, or remove the line"
            )
        judged.setdefault(query, {})[document] = max(int(gain or 0), 0)
    relevant = {query: gains for query, gains in judged.items() if any(gains.values())}
    if not relevant:
        raise SourceError(f"{path} names no relevant document; expected at least one score above zero")
    return relevant
