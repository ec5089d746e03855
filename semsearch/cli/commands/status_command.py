"""`semsearch status`: what an index holds, and how it embeds."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from semsearch.cli.formats import to_json
from semsearch.cli.naming import INDEXES, from_here, open_index
from semsearch.cli.options import IndexesOption, IndexOption, JsonOption, VectorsOption
from semsearch.cli.startup import use_one_thread
from semsearch.cli.tables import count, print_blocks, size

if TYPE_CHECKING:
    from semsearch.results.reports import Status

_MUCH = 15.0  # degrees between the components in use and today's


def status(
    index: IndexOption = None,
    indexes: IndexesOption = INDEXES,
    components: Annotated[
        bool, typer.Option("--components", help="Also the words nearest to what is taken away from every sentence.")
    ] = False,
    vectors: VectorsOption = None,
    json: JsonOption = False,
) -> None:
    """Show what an index holds and how it embeds."""
    use_one_thread()
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
        from semsearch.evaluate.experiments.components_experiment import directions as table_of  # start-up time

        print()
        print_blocks([table_of([("", directions)]) if directions else "nothing is taken away from its sentences"])


def describe(found: Status) -> dict[str, str]:
    """An index in words."""
    source = {"vectors": "the word vectors", "corpus": "the indexed text"}.get(found.frequencies, found.frequencies)
    a = "" if found.a is None else f", a = {found.a:.4g}"
    facts = {
        "index": f"{found.path}, made {found.created[:10]}, generation {found.generation}",
        "of": ", ".join(map(from_here, found.roots)) or "texts added by programs",
        "documents": f"{found.documents:,}",
        "passages": f"{found.passages:,}",
        "sentences": f"{found.sentences:,} with {found.words:,} words",
        "vectors": f"{found.vectors:,} of {found.dimension} dimensions in {count(found.segments, 'segment')}"
        + (f", {found.removed:,} of them of removed documents" if found.removed else ""),
        "search": scanned(found),
        "method": f"{found.method}{a}, {count(found.components, 'component')} removed, frequencies from {source}",
        "topics": adapted(found),
        "word vectors": f"{found.vectors_name} ({found.vectors_digest[:8]})",
        "size": size(found.size_bytes),
    }
    if found.drift is not None:
        advice = "; semsearch refit fits it anew" if found.drift > _MUCH else ""
        facts["drift"] = f"{found.drift:.1f}° since it was fitted{advice}"
    if found.stale is not None:
        stale = f"{count(found.stale, 'file')} changed; semsearch index brings it up to date"
        facts["stale"] = stale if found.stale else "nothing: it is up to date"
    return facts


def scanned(found: Status) -> str:
    """How its passages are compared with a question, and what that finds."""
    parts = [
        f"{one.vectors:,} passages in {one.factory}"
        + (f", {one.probes:,} of {one.lists:,} lists looked into" if one.lists else "")
        + f": recall {one.recall:.3f} of the ten best, measured on {count(one.questions, 'question')}"
        for one in found.scans
    ]
    if not parts:
        return "exact: every passage is compared"
    rest = found.passages - sum(one.vectors for one in found.scans)
    return "; ".join([*parts, f"{count(rest, 'other')}, all compared"] if rest > 0 else parts)


def adapted(found: Status) -> str:
    """What it has learned from its own text."""
    if found.adapted is None:
        return "none; an index learns topics from about two hundred passages on, unless --no-adapt was given"
    seen = f"{count(found.adapted.terms, 'term')} in {count(found.adapted.passages, 'passage')}"
    return f"{count(found.adapted.topics, 'dimension')}, learned from {seen}"
