"""`semsearch status`, `verify` and `trust`: the contents, settings, integrity and permissions of an index."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence
from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from typer import Argument, Option

from semsearch.cli.find_index import find_asked, from_here, open_index
from semsearch.cli.options import IndexesOption, IndexOption, JsonOption, VectorsOption, complete_index
from semsearch.cli.printing import PROBLEMS, aligned, complain, count, one_line, size, tell_warnings, to_json
from semsearch.errors import UsageError
from semsearch.results.omissions import endings_in_words, in_words
from semsearch.results.reports import MUCH_DRIFT
from semsearch.storage.database import IndexDatabase, check
from semsearch.storage.published import open_published

if TYPE_CHECKING:
    from semsearch.embedding.directions import Direction
    from semsearch.index import Index
    from semsearch.results.omissions import FileCoverage
    from semsearch.results.reports import Scan, Status


def status(
    index: IndexOption = None,
    indexes: IndexesOption = None,
    components: Annotated[bool, Option("--components", help="Also show the common components, as words.")] = False,
    problems: Annotated[
        bool, Option("--problems", help="List files that were not read fully, with the reason.")
    ] = False,
    coverage: Annotated[bool, Option("--coverage", help="List how much of each file is indexed.")] = False,
    vectors: VectorsOption = None,
    json: JsonOption = False,
) -> None:
    """Show the contents and settings of an index."""
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
        print()
        print(*_removed(directions), sep="\n")


def _removed(directions: Sequence[Direction]) -> Iterator[str]:
    """The removed components, a line each: share of the variance, how much is removed, and the words at both ends."""
    if not directions:
        yield "no components are removed"
        return
    rows = [("direction", "variance", "removed")]
    rows += [(f"{one.number}", f"{one.share:.1%}", f"{one.strength:.0%}") for one in directions]
    head, *lines = aligned(rows, left=())
    yield f"{head}  nearest words"
    for line, one in zip(lines, directions, strict=True):
        yield f"{line}  {', '.join(word.word for word in one.nearest)}"
        yield f"{'':{len(line)}}  – {', '.join(word.word for word in one.opposite)}"


def _print_files(opened: Index, *, problems: bool, coverage: bool, as_json: bool) -> None:
    """Print a line for each problem, and one for each file with the share that is indexed."""
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
        print("all files were read")


def covered(file: FileCoverage) -> str:
    """How much of a file is indexed, and why the rest is not."""
    parts = [count(file.sentences, "sentence")]
    if file.characters is not None:
        parts.append(f"{file.characters_taken:,} of {file.characters:,} characters")
    if file.pages is not None:
        parts.append(f"text on {file.pages_with_text:,} of {file.pages:,} pages")
    if file.words:
        parts.append(f"{file.words_known:,} of {file.words:,} words in the vocabulary")
    return "; ".join([", ".join(parts), *map(in_words, file.omissions)])


def describe(found: Status) -> dict[str, str]:
    """Describe an index in words, fact by fact."""
    source = {"vectors": "the word vectors", "corpus": "the indexed text"}.get(found.frequencies, found.frequencies)
    a = "" if found.a is None else f", a = {found.a:.4g}"
    facts = {
        "index": f"{found.path}, created {found.created[:10]}, generation {found.generation}",
        "of": ", ".join(map(from_here, found.roots)) or "texts added by programs",
        **({"about": one_line(found.description)} if found.description else {}),
        "documents": f"{found.documents:,}",
        "languages": spoken(found),
        "passages": f"{found.passages:,}",
        "sentences": f"{found.sentences:,} with {found.words:,} words",
        "vectors": f"{found.vectors:,} of {found.dimension} dimensions in {count(found.segments, 'segment')}"
        + (f", {found.removed:,} of removed documents" if found.removed else ""),
        **({} if found.store is None else {"store": kept_elsewhere(found)}),
        "search": scanned(found),
        "method": f"{found.method}{a}, {count(found.components, 'component')} removed, frequencies from {source}",
        "topics": adapted(found),
        "word vectors": f"{found.vectors_name} ({found.vectors_digest[:8]})",
        "size": size(found.size_bytes),
    }
    if found.encodings_bytes:
        facts["reranking"] = f"{size(found.encodings_bytes)} of it are passages encoded by the reranking model"
    if found.drift is not None:
        advice = "; run: semsearch refit" if found.drift > MUCH_DRIFT else ""
        facts["drift"] = f"{found.drift:.1f}° since the last fit{advice}"
    if found.stale is not None:
        stale = f"{count(found.stale, 'file')} changed; run: semsearch index"
        known = "no other changes" if found.warnings else "no: up to date"
        facts["stale"] = "; ".join([*found.warnings, stale if found.stale else known])
    if found.not_read:
        facts["not read"] = f"{endings_in_words(found.not_read)} (--problems lists them)"
    if found.not_allowed:
        facts["not allowed"] = f"to {'; to '.join(found.not_allowed)}; see: semsearch trust"
    if found.partly_read:
        facts["partly read"] = f"{count(found.partly_read, 'document')} (--problems lists them)"
    return facts


def spoken(found: Status) -> str:
    """The languages of the documents, with counts."""
    if not found.languages:
        return "all treated as English; semsearch index --rebuild detects them" if found.documents else "none"
    from semsearch.text.languages import name_of  # start-up time: other commands name none

    told = []
    for code, number in found.languages.items():
        share = found.known_words.get(code)
        known = (
            ""
            if code not in found.known_words
            else " (by words alone)"
            if share is None
            else f" ({share:.0%} of words known)"
        )
        told.append(f"{name_of(code)} {number:,}{known}")
    from semsearch.word_vectors.language_table import shipped_languages  # start-up time, as above

    lacking = [code for code in found.known_words if found.known_words[code] is None and code in shipped_languages()]
    advice = f"; for {', '.join(map(name_of, lacking))} by meaning run: semsearch refit" if lacking else ""
    return ", ".join(told) + advice


def scanned(found: Status) -> str:
    """How passages are compared with a query, and with what recall."""
    parts = [
        f"{one.vectors:,} passages in {one.factory}"
        + _searched(one)
        + f": recall@10 {one.recall:.3f}, measured with {count(one.questions, 'query')}"
        for one in found.scans
    ]
    if not parts:
        return "exact: all passages are scanned"
    rest = found.passages - sum(one.vectors for one in found.scans)
    return "; ".join([*parts, f"{count(rest, 'other')}, all scanned"] if rest > 0 else parts)


def _searched(scan: Scan) -> str:
    """How far a segment is searched: lists of an IVF index (nprobe), or candidates of codes or of a graph (ef)."""
    if scan.factory.startswith("PQ"):
        return f", {scan.probes:,} candidates for each result"
    if scan.lists:
        return f", {scan.probes:,} of {scan.lists:,} lists probed"
    return f", ef {scan.probes:,}" if scan.probes else ""


def kept_elsewhere(found: Status) -> str:
    """The external vector store, with the number of rows."""
    return f"{found.store}, {count(found.vectors, 'row')}; sentence vectors are computed when needed"


def adapted(found: Status) -> str:
    """Describe the topics that the index has learned from its own text."""
    if found.adapted is None:
        return "none; learned from about two hundred passages on, unless --no-adapt is given"
    seen = f"{count(found.adapted.terms, 'term')} in {count(found.adapted.passages, 'passage')}"
    return f"{count(found.adapted.topics, 'dimension')}, learned from {seen}"


def trust(
    index: Annotated[
        str | None, Argument(metavar="[INDEX]", help="By name or path.", autocompletion=complete_index)
    ] = None,
    indexes: IndexesOption = None,
    yes: Annotated[bool, Option("--yes", "-y", help="Allow it without asking.")] = False,
    off: Annotated[bool, Option("--off", help="Allow the index nothing any more.")] = False,
) -> None:
    """Show what an index names outside its folder, and allow it on this machine.

    An index may name folders to read, engines that keep its vectors, and files of word vectors. What you have put into
    it is allowed. An index from someone else, or from another machine, is only read until you have allowed the rest.
    """
    if yes and off:
        raise UsageError("--yes and --off exclude each other")
    from semsearch.trust import (  # start-up time: other commands need none of it
        allowed,
        forget,
        named_outside,
        not_allowed,
        record,
        trust_command,
    )

    with closing(_database_of(find_asked(index, indexes))) as database:
        name = database.shown_name
        if off:
            forget(database)
            complain(f"{name} may use nothing outside its folder any more")
            return
        with database.reading() as db:
            named = named_outside(database, db)
        lacking = not_allowed(database, named)
        if not lacking:
            print(f"{name} names nothing outside its folder that you have not allowed")
            return
        print("\n".join([f"{name} would:", *(f"  {each}" for each in lacking)]))
        from typer import confirm  # start-up time: `status` does without

        if not yes and not (sys.stdin.isatty() and confirm("Allow this?")):
            raise UsageError(f"nothing was allowed; to allow it, run: {trust_command(database, '--yes')}")
        tell_warnings()
        record(database, named & allowed(database) | {*lacking})


def _database_of(found: Path | str) -> IndexDatabase:
    if isinstance(found, str):
        return open_published(found)
    database = IndexDatabase(found)
    check(database)
    return database


def verify(index: IndexOption = None, indexes: IndexesOption = None, vectors: VectorsOption = None) -> None:
    """Check the integrity of an index.

    Checks that rows and vectors match, that all files are as written, and the checksum of each row. Exit status: 0
    without problems; 1 with problems, which are printed one per line.
    """
    with open_index(index, indexes, vectors) as opened:
        problems = opened.verify()
    for problem in problems:
        print(" ".join(problem.splitlines()))
    if problems:
        raise SystemExit(PROBLEMS)
    print(f"{opened.path}: no problems")
