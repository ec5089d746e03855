"""`semsearch status` and `semsearch verify`: the contents, settings and soundness of an index.

status. `semsearch status`: the contents and settings of an index.

verify. `semsearch verify`: check that an index is sound.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from semsearch.cli.answer_formats import to_json
from semsearch.cli.command_options import IndexesOption, IndexOption, JsonOption, VectorsOption
from semsearch.cli.find_index import INDEXES, from_here, open_index
from semsearch.cli.messages import PROBLEMS, use_one_thread
from semsearch.cli.tables import count, print_blocks, size
from semsearch.errors import rebuild_command
from semsearch.results.omissions import endings_in_words, in_words
from semsearch.results.reports import MUCH_DRIFT

if TYPE_CHECKING:
    from semsearch.index import Index
    from semsearch.results.omissions import FileCoverage
    from semsearch.results.reports import PublicationStatus, Status
    from semsearch.results.scan import Scan

# -- status ------------------------------------------------------------------------------------------------------------


def status(
    index: IndexOption = None,
    indexes: IndexesOption = INDEXES,
    components: Annotated[
        bool, typer.Option("--components", help="Also the words nearest to what is taken away from every sentence.")
    ] = False,
    problems: Annotated[
        bool, typer.Option("--problems", help="Instead, each file that was not read, or not wholly, and why.")
    ] = False,
    coverage: Annotated[
        bool, typer.Option("--coverage", help="Instead, how much of each file was taken in, and why not the rest.")
    ] = False,
    vectors: VectorsOption = None,
    json: JsonOption = False,
) -> None:
    """Show what an index holds and how it embeds."""
    use_one_thread()
    if problems or coverage:
        with open_index(index, indexes, vectors) as opened:
            _print_files(opened, problems=problems, coverage=coverage, as_json=json)
        return
    with open_index(index, indexes, vectors) as opened:
        found = opened.status()
        directions = opened.directions() if components else ()
    if json:
        removed = {"directions": [direction.to_dict() for direction in directions]} if components else {}
        print(to_json(found.to_dict() | removed))
        return
    facts = describe(found)
    width = max(map(len, facts))
    for name, fact in facts.items():
        print(f"{name:<{width}}  {fact}")
    if components:
        from semsearch.evaluate.table import directions as table_of  # start-up time

        print()
        print_blocks([table_of([("", directions)]) if directions else "nothing is taken away from its sentences"])


def _print_files(opened: Index, *, problems: bool, coverage: bool, as_json: bool) -> None:
    """Print a line for each problem, and one for each file with how much of it was read."""
    found = opened.problems() if problems else ()
    files = opened.coverage() if coverage else ()
    if as_json:
        parts = {"problems": [each.to_dict() for each in found]} if problems else {}
        print(to_json(parts | ({"coverage": [each.to_dict() for each in files]} if coverage else {})))
        return
    for problem in found:
        print(f"{from_here(problem.path)}: {problem.kind}: {problem.reason}")
    for file in files:
        print(f"{from_here(file.path)}: {covered(file)}")
    if problems and not found:
        print("every file was read")


def covered(file: FileCoverage) -> str:
    """Say how much of a file was taken in, and why the rest was not."""
    parts = [count(file.sentences, "sentence")]
    if file.characters is not None:
        parts.append(f"{file.characters_taken:,} of {file.characters:,} characters")
    if file.pages is not None:
        parts.append(f"text on {file.pages_with_text:,} of {file.pages:,} pages")
    if file.words:
        parts.append(f"{file.words_known:,} of {file.words:,} words known")
    return "; ".join([", ".join(parts), *map(in_words, file.omissions)])


def describe(found: Status) -> dict[str, str]:
    """Describe an index in words, fact by fact."""
    source = {"vectors": "the word vectors", "corpus": "the indexed text"}.get(found.frequencies, found.frequencies)
    a = "" if found.a is None else f", a = {found.a:.4g}"
    facts = {
        "index": f"{found.path}, made {found.created[:10]}, generation {found.generation}",
        "of": ", ".join(map(from_here, found.roots)) or "texts added by programs",
        "documents": f"{found.documents:,}",
        "languages": spoken(found),
        "passages": f"{found.passages:,}",
        "sentences": f"{found.sentences:,} with {found.words:,} words",
        "vectors": f"{found.vectors:,} of {found.dimension} dimensions in {count(found.segments, 'segment')}"
        + (f", {found.removed:,} of them of removed documents" if found.removed else ""),
        **({} if found.store is None else {"store": kept_elsewhere(found)}),
        "search": scanned(found),
        "method": f"{found.method}{a}, {count(found.components, 'component')} removed, frequencies from {source}",
        "topics": adapted(found),
        "word vectors": f"{found.vectors_name} ({found.vectors_digest[:8]})",
        "size": size(found.size_bytes),
    }
    if found.encodings_bytes:
        facts["reranking"] = f"{size(found.encodings_bytes)} of it, passages as a model has encoded them"
    if found.published is not None:
        facts["published"] = where_published(found.published)
    if found.drift is not None:
        advice = "; semsearch refit fits it anew" if found.drift > MUCH_DRIFT else ""
        facts["drift"] = f"{found.drift:.1f}° since it was fitted{advice}"
    if found.stale is not None:
        stale = f"{count(found.stale, 'file')} changed; semsearch index brings it up to date"
        known = "nothing else" if found.warnings else "nothing: it is up to date"
        facts["stale"] = "; ".join([*found.warnings, stale if found.stale else known])
    if found.not_read:
        facts["not read"] = f"{endings_in_words(found.not_read)} (--problems lists them)"
    if found.partly_read:
        facts["partly read"] = f"{count(found.partly_read, 'document')} (--problems says of what)"
    return facts


def where_published(found: PublicationStatus) -> str:
    """Say where an index is published, or of a copy where it is written, and what is wrong with that."""
    generation = "nothing yet" if found.generation is None else f"generation {found.generation}"
    said = f"{generation} at {found.place}" + (f", written at {found.written_at}" if found.written_at else "")
    return f"{said}; {found.failure}" if found.failure else said


def spoken(found: Status) -> str:
    """Name the languages of the documents, with how many there are of each."""
    if not found.languages:
        return "all taken for English; semsearch index --rebuild finds them" if found.documents else "none yet"
    from semsearch.text.languages import name_of  # start-up time: other commands name none

    return ", ".join(f"{name_of(code)} {number:,}" for code, number in found.languages.items())


def scanned(found: Status) -> str:
    """Describe how passages are compared with a query, and the recall of that."""
    parts = [
        f"{one.vectors:,} passages in {one.factory}"
        + _searched(one)
        + f": recall {one.recall:.3f} of the ten best, measured on {count(one.questions, 'question')}"
        for one in found.scans
    ]
    if not parts:
        return "exact: every passage is compared"
    rest = found.passages - sum(one.vectors for one in found.scans)
    return "; ".join([*parts, f"{count(rest, 'other')}, all compared"] if rest > 0 else parts)


def _searched(scan: Scan) -> str:
    """How far a segment's index is searched: lists that are looked into, or the candidates that a graph keeps."""
    if scan.lists:
        return f", {scan.probes:,} of {scan.lists:,} lists looked into"
    return f", ef {scan.probes:,}" if scan.probes else ""


def kept_elsewhere(found: Status) -> str:
    """Say where an engine keeps the vectors, and how many."""
    return f"{found.store}, {count(found.vectors, 'row')}; sentences' vectors are made when they are needed"


def adapted(found: Status) -> str:
    """Describe the topics that the index has learned from its own text."""
    if found.adapted is None:
        return "none; an index learns topics from about two hundred passages on, unless --no-adapt was given"
    seen = f"{count(found.adapted.terms, 'term')} in {count(found.adapted.passages, 'passage')}"
    return f"{count(found.adapted.topics, 'dimension')}, learned from {seen}"


# -- verify ------------------------------------------------------------------------------------------------------------


def verify(index: IndexOption = None, indexes: IndexesOption = INDEXES, vectors: VectorsOption = None) -> None:
    """Check that an index is sound.

    Every row has its vector, every vector its row, and all files are as they were written.
    Rows are compared with their checksums; it says how many have none, in an index of an earlier version.
    Exit status: 0 when all is well, 1 with problems, a line each.
    """
    use_one_thread()
    with open_index(index, indexes, vectors) as opened:
        problems = opened.verify()
        without = opened.rows_without_checksums()
    for problem in problems:
        print(" ".join(problem.splitlines()))
    if problems:
        raise typer.Exit(PROBLEMS)
    print(f"{opened.path}: no problems")
    if without:
        cure = rebuild_command(opened.path)
        print(f"{without:,} rows of an earlier version have no checksum; they get one from: {cure}")
