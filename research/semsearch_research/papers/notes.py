"""Hand-written passages of a report, which stay when the command writes it anew.

    <!-- note: similarity -->
    Why ours differ ...
    <!-- end -->

Why a figure differs is prose about these data and these word vectors, which no command can write. So it is kept where
it belongs, in the report that it explains, and not in the package, whose next user has other vectors. A section that
has no passage yet gets an empty one to write in; a passage whose section is not run this time goes to the end.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path

from semsearch.errors import SourceError, UsageError

_BEGIN = re.compile(r"<!-- note: (\S+) -->")
_END = "<!-- end -->"


def read_notes(report: Path) -> dict[str, str]:
    """Read the passages of an earlier report by their names; none if there is no such file.

    Raises UsageError if one is not ended, or occurs twice; SourceError for a file that cannot be read.
    """
    try:
        text = report.read_text(encoding="utf-8")
    except FileNotFoundError:
        return {}
    except (OSError, UnicodeDecodeError) as error:
        raise SourceError(f"{report} cannot be read: {error}; choose another place for the report") from error
    return dict(_passages(text, str(report)))


def read_notes_of(files: Iterable[Path]) -> dict[str, str]:
    """Read the passages of several pages, those of them that are there. Raises as `read_notes` does."""
    found: dict[str, str] = {}
    homes: dict[str, Path] = {}
    for file in files:
        for name, text in read_notes(file).items():
            if name in homes:
                raise UsageError(f"{homes[name]} and {file} both have a note {name!r}; join them")
            homes[name], found[name] = file, text
    return found


def passage(name: str, notes: Mapping[str, str]) -> Iterator[str]:
    """The lines of a passage with its marks, and an empty line."""
    yield f"<!-- note: {name} -->"
    if text := notes.get(name):
        yield text
    yield _END
    yield ""


def _passages(text: str, report: str) -> Iterator[tuple[str, str]]:
    names: set[str] = set()
    name, begun, lines = "", 0, list[str]()
    for number, line in enumerate(text.splitlines(), 1):
        mark = _BEGIN.fullmatch(line.strip())
        if mark and name:
            raise UsageError(f"{report}:{begun}: the note {name!r} is not ended; expected {_END} before line {number}")
        if mark:
            name, begun, lines = mark[1], number, []
            if name in names:
                raise UsageError(f"{report}:{number}: there are two notes {name!r}; join them")
            names.add(name)
        elif name and line.strip() == _END:
            yield name, "\n".join(lines).strip("\n")
            name = ""
        else:
            lines.append(line)
    if name:
        raise UsageError(f"{report}:{begun}: the note {name!r} is not ended; expected {_END}")
