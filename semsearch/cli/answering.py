"""What the commands that ask have in common: how answers are shown."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING

from semsearch.cli.formats import BATCH_FORMATS, FORMATS, Answer
from semsearch.cli.messages import warn
from semsearch.cli.naming import shown
from semsearch.cli.options import Format
from semsearch.errors import UsageError

if TYPE_CHECKING:
    from semsearch.index import Index

NONE_FOUND = 1  # the exit status


def choose_format(named: Format | None, *, json: bool, jsonl: bool) -> Format:
    """The one format that is asked for; or what suits where the output goes."""
    asked: list[Format] = [named] if named else []
    asked += ["json"] if json else []
    asked += ["jsonl"] if jsonl else []
    if len(set(asked)) > 1:
        raise UsageError(f"an answer has one format, not {' and '.join(asked)}; choose one")
    return asked[0] if asked else "table" if sys.stdout.isatty() else "plain"


def show(answers: Iterable[Answer], wanted: Format, *, batch: bool = False) -> int:
    """Write answers as they come; how many hits there were in all."""
    found = 0

    def counted() -> Iterator[Answer]:
        nonlocal found
        for answer in answers:
            found += len(answer.hits)
            yield answer

    if wanted == "table":
        from semsearch.cli.terminal import print_answers  # start-up time: it imports rich

        print_answers(counted(), batch=batch)
    else:
        for line in (BATCH_FORMATS if batch else FORMATS)[wanted](counted()):
            print(line)
    return found


def tell_if_empty(opened: Index) -> None:
    """Say why there are no hits, where it is the index that has nothing."""
    if not opened.status(drift=False, stale=False).documents:
        warn(f"the index {opened.path} is empty; run: semsearch index PATH --name {shown(opened.path)}")
