"""`semsearch list`: all indexes, or the documents of one, or how many there are by folder and date."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from semsearch.cli.index_folders import nearest
from semsearch.cli.messages import complain
from semsearch.cli.naming import INDEXES, from_here, none_in, open_index
from semsearch.cli.options import FiltersOption, IndexesOption, JsonOption
from semsearch.cli.output.formats import one_line, plain_path, to_json
from semsearch.cli.output.tables import aligned, size
from semsearch.cli.startup import use_one_thread

if TYPE_CHECKING:
    from semsearch.results.contents.documents import DocumentInfo
    from semsearch.results.contents.facets import Facets, FacetValue

_DAY = len("2025-01-31")
_VALUE = 40  # characters of a value


def list_(
    index: Annotated[
        list[str] | None,
        typer.Option("--index", "--name", "-i", metavar="NAME|PATH", help="List the documents of this index."),
    ] = None,
    documents: Annotated[
        bool, typer.Option("--documents", "-d", help="List the documents of the only index there is.")
    ] = False,
    filters: FiltersOption = None,
    facets: Annotated[
        bool, typer.Option("--facets", help="Count documents by folder, format, date and metadata, with the filters.")
    ] = False,
    indexes: IndexesOption = INDEXES,
    json: JsonOption = False,
    jsonl: Annotated[bool, typer.Option("--jsonl", help="As JSON, an object a line.")] = False,
) -> None:
    """List all indexes, or the documents of one.

    With --documents, --index or --filter, documents: path, passages, format, the day their file was changed, and title.
    With --facets how many there are by folder, format, date and each key of their metadata, each with its --filter.

    To be rid of an index, delete its folder.
    """
    use_one_thread()
    if facets:
        with open_index(index, indexes) as opened:
            _print_facets(opened.facets(filters or ()), json=json, jsonl=jsonl)
    elif documents or index or filters:
        with open_index(index, indexes) as opened:
            _print_documents(opened.documents(filters or ()), json=json, jsonl=jsonl)
    else:
        _print_indexes(indexes, json=json, jsonl=jsonl)


def _print_documents(found: Iterable[DocumentInfo], *, json: bool, jsonl: bool) -> None:
    if jsonl:
        for document in found:
            print(to_json(document.to_dict(), indent=None))
    elif json:
        print(to_json([document.to_dict() for document in found]))
    else:
        rows = [("path", "passages", "format", "date", "title"), *map(_row, found)]
        for line in aligned(rows, left=(0, 2, 3, 4)):
            print(line)
        if len(rows) == 1:
            complain("no documents")


def _row(document: DocumentInfo) -> tuple[str, ...]:
    date = (document.modified or document.indexed)[:_DAY]
    return plain_path(document.path), f"{document.passages:,}", document.format, date, one_line(document.title)


def _print_facets(found: Facets, *, json: bool, jsonl: bool) -> None:
    if json or jsonl:
        print(to_json(found.to_dict(), indent=None if jsonl else 2))
        return
    rows = [("by", "value", "documents", "filter"), *_facet_rows(found)]
    for line in aligned(rows, left=(0, 1, 3)):
        print(line)


def _facet_rows(found: Facets) -> Iterator[tuple[str, ...]]:
    yield "all", "", f"{found.documents:,}", ""
    yield from _value_rows("folder", found.folders.values, found.folders.more)
    yield from _value_rows("format", found.formats.values, found.formats.more)
    for date in found.dates:
        yield from _value_rows(date.key, date.months or date.years, date.more)
    for facet in found.metadata:
        yield from _value_rows(facet.key, facet.values, facet.more)


def _value_rows(name: str, values: Iterable[FacetValue], more: int) -> Iterator[tuple[str, ...]]:
    for each in values:
        yield name, _shortened(one_line(each.value)), f"{each.count:,}", one_line(each.filter)
    if more:
        yield name, f"… {more:,} more", "", ""


def _shortened(value: str) -> str:
    """A value in so few columns that the filters stay near; they have it whole."""
    return value if len(value) <= _VALUE else f"{value[: _VALUE - 1]}…"


def _print_indexes(indexes: Path | None, *, json: bool, jsonl: bool) -> None:
    from semsearch.maintenance.listing import IndexSummary, list_indexes  # start-up time: it imports numpy

    def rows(found: Iterable[IndexSummary]) -> Iterator[tuple[str, ...]]:
        yield "index", "documents", "sentences", "size", "of"
        for item in found:
            roots = item.problem or ", ".join(map(from_here, item.roots))
            yield item.name, f"{item.documents:,}", f"{item.sentences:,}", size(item.size_bytes), roots

    found = list_indexes(nearest(indexes))
    if jsonl:
        for item in found:
            print(to_json(asdict(item), indent=None))
    elif json:
        print(to_json([asdict(item) for item in found]))
    elif not found:
        complain(none_in(indexes))
    else:
        for line in aligned([*rows(found)], left=(0, 4)):
            print(line)
