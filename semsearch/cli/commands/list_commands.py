"""`semsearch list`: all indexes, the documents of one, or counts by folder, format and date."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from typer import Argument, Option

from semsearch.cli.find_index import all_indexes, from_here, none_in, open_index, shown
from semsearch.cli.options import FiltersOption, IndexesOption, JsonOption, complete_index
from semsearch.cli.printing import aligned, complain, one_line, plain_path, size, to_json

if TYPE_CHECKING:
    from semsearch.maintenance.listing import IndexSummary
    from semsearch.results.documents import DocumentInfo, Facets, FacetValue

# -- All indexes -------------------------------------------------------------------------------------------------------

_MINUTE = len("2025-01-31T12:30")


def _print_indexes(indexes: Path | None, *, json: bool, jsonl: bool) -> None:
    from semsearch.maintenance.listing import summarize  # start-up time: it imports numpy

    found = [each for folder in all_indexes(indexes) if (each := summarize(folder)) is not None]
    if jsonl:
        for item in found:
            print(to_json(asdict(item), indent=None))
    elif json:
        print(to_json([asdict(each) for each in found]))
    elif not found:
        complain(none_in(indexes))
    else:
        for line in aligned([*_rows(found)], left=(0, 4, 5, 6)):
            print(line)


def _rows(found: Iterable[IndexSummary]) -> Iterator[tuple[str, ...]]:
    yield "index", "documents", "sentences", "size", "updated", "in", "of"
    for each in found:
        roots = each.problem or ", ".join(from_here(root) for root in each.roots)
        when = each.updated[:_MINUTE].replace("T", " ")
        counts = f"{each.documents:,}", f"{each.sentences:,}", size(each.size_bytes)
        of = f"{roots}: {one_line(each.description)}" if each.description else roots
        yield each.name, *counts, when, plain_path(shown(Path(each.path).parent)), plain_path(of)


# -- list --------------------------------------------------------------------------------------------------------------

_DAY = len("2025-01-31")
_VALUE = 40  # characters of a value


def list_(
    name: Annotated[
        str | None,
        Argument(metavar="[INDEX]", help="List the documents of this index.", autocompletion=complete_index),
    ] = None,
    index: Annotated[
        list[str] | None,
        Option("--index", "--name", "-i", metavar="NAME|PATH", help="The same.", hidden=True),
    ] = None,
    documents: Annotated[bool, Option("--documents", "-d", help="List the documents of the only index.")] = False,
    filters: FiltersOption = None,
    facets: Annotated[
        bool, Option("--facets", help="Count documents by folder, format, date and metadata, with filters.")
    ] = False,
    indexes: IndexesOption = None,
    json: JsonOption = False,
    jsonl: Annotated[bool, Option("--jsonl", help="Print JSON, an object per line.")] = False,
) -> None:
    """List all indexes, or the documents of one.

    Indexes of this folder come first, then those of folders above, your personal ones, and those that you have made
    elsewhere. If two have the same name, the name means the first; use the path of the other.

    With INDEX, --documents or --filter: documents, with path, passages, format, date of the file, and title. With
    --facets: counts by folder, format, date and metadata, each with its --filter.
    """
    index = [*filter(None, [name]), *(index or [])] or None
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
    """A value, shortened; its filter has it whole."""
    return value if len(value) <= _VALUE else f"{value[: _VALUE - 1]}…"
