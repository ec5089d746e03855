"""Write the report as Markdown: an index with a page for each paper.

The text does not depend on when, where or how fast it was made: the same results and notes give the same text.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping

from semsearch_research.evaluate.table import Table, prose
from semsearch_research.papers import notes
from semsearch_research.papers.chapters import CHAPTERS, Chapter, sections_of
from semsearch_research.papers.opening import TITLE, opening
from semsearch_research.papers_report import PapersReport

INDEX = "README.md"  # of a folder: what is shown first of it
PAGES = (*(f"{chapter.name}.md" for chapter in CHAPTERS), INDEX)
NOTHING = "Nothing of this paper was run this time."
_OPENING = "opening"  # the note of the beginning


def pages(report: PapersReport, written: Mapping[str, str], *, earlier: Collection[str] = ()) -> dict[str, str]:
    """Write a page for each paper, and an index, which is the last: texts by the names of files.

    `written` are the notes by name. `earlier` are the names of pages that are there from an earlier run: that of a
    paper of which nothing was run this time stays as it is, and is left out. Each paper has its page in any case, so
    that its notes have a place.
    """
    texts = {
        f"{chapter.name}.md": _text(_page(chapter, report, written))
        for chapter in CHAPTERS
        if chapter.there(report) or f"{chapter.name}.md" not in earlier
    }
    placed = {_OPENING, *(name for chapter in CHAPTERS for name in chapter.notes)}
    lines = [*opening(report), *_contents(report, earlier).markdown(), *notes.passage(_OPENING, written)]
    lines += _rest((name for name in written if name not in placed), written)
    return {**texts, INDEX: _text(lines)}


def _page(chapter: Chapter, report: PapersReport, written: Mapping[str, str]) -> Iterator[str]:
    yield f"# {chapter.heading}"
    yield ""
    yield from prose(
        f"A page of [{TITLE}]({INDEX}), which says with what word vectors and data, what was not run, and what "
        '"holds", "reversed" and "no difference shown" mean. Notes between marks are by hand.'
    )
    sections = chapter.there(report)
    if not sections:
        yield from prose(NOTHING)
    yield from sections_of(chapter, report, written)
    placed = {section.note for section in sections}
    yield from _rest((name for name in chapter.notes if name not in placed), written)


def _contents(report: PapersReport, earlier: Collection[str]) -> Table:
    """The table of contents: each paper's page, and its sections."""
    rows = []
    for chapter in CHAPTERS:
        titles = [section.title for section in chapter.there(report) if section.title]
        kept = "; the page is of an earlier run" * (f"{chapter.name}.md" in earlier)
        rows.append([f"[{chapter.heading}]({chapter.name}.md)", "; ".join(titles) or f"not run this time{kept}"])
    return Table(["paper", "what is there"], rows)


def _rest(names: Iterable[str], written: Mapping[str, str]) -> Iterator[str]:
    """The lines of the notes on what was not run."""
    lines = [line for name in names if written.get(name) for line in notes.passage(name, written)]
    if lines:
        yield from ("## Notes on what was not run this time", "")
        yield from lines


def _text(lines: Iterable[str]) -> str:
    return "\n".join(lines).rstrip("\n") + "\n"
