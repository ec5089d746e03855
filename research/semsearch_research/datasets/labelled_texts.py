"""Releases of labelled texts: the trees of the Stanford Sentiment Treebank, SNLI, IMDB."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator

from semsearch.errors import SourceError
from semsearch_research.datasets.made import Made
from semsearch_research.datasets.originals import Original

_PIECE = re.compile(r"[()]|[^\s()]+")
_LONGEST_TREE = 20_000  # characters; a phrase is kept for each of its nodes
_ESCAPED = {"-LRB-": "(", "-RRB-": ")"}


class SentimentTrees:
    """trees/train.txt, dev.txt, test.txt: `(3 (2 It) (4 (4 's) ...))`, a tree a line, each node with a label of 0 to 4.

    Below 2 is negative, above it positive, and 2 is left out. Of dev and test these are the sentences, of train all
    phrases as well, each once, as in the SIF paper's data.
    """

    _NEUTRAL = 2

    def __init__(self) -> None:
        self._made: list[Made] = []

    def wants(self, name: str) -> bool:
        """Return whether it is one of the three files."""
        return re.fullmatch(r"(.*/)?trees/(train|dev|test)\.txt", name) is not None

    def take(self, original: Original) -> None:
        """Take the phrases that have a side."""
        split = original.base.removesuffix(".txt")
        rows: dict[str, int] = {}
        for number, line in enumerate(original.lines(), 1):
            nodes = _nodes(line) if len(line) <= _LONGEST_TREE else []
            if not nodes and line.strip():
                raise SourceError(
                    f"{original.name}, line {number}: expected a tree such as (3 (2 It) (4 works)), found {line[:60]!r}"
                )
            for label, text in nodes if split == "train" else nodes[-1:]:
                if label != self._NEUTRAL:
                    rows.setdefault(text, int(label > self._NEUTRAL))
        made = tuple(f"{text}\t{label}" for text, label in rows.items())
        self._made.append(Made(f"supervised/sst.{split}.tsv", made, original.name))

    def made(self) -> Iterator[Made]:
        """Yield what was taken."""
        yield from self._made


class Snli:
    """snli_1.0_train.jsonl, _dev, _test: gold_label, sentence1, sentence2. A label "-" is no agreement, and stays."""

    def __init__(self) -> None:
        self._made: list[Made] = []

    def wants(self, name: str) -> bool:
        """Return whether it is one of the three files."""
        return re.fullmatch(r"(.*/)?snli_1\.0_(train|dev|test)\.jsonl", name) is not None

    def take(self, original: Original) -> None:
        """Take sentences and label of each line."""
        rows = []
        for number, line in enumerate(original.lines(), 1):
            try:
                found = json.loads(line)
                cells = [found[name] for name in ("sentence1", "sentence2", "gold_label")]
                rows.append("\t".join(" ".join(cell.split()) for cell in cells))
            except (ValueError, KeyError, TypeError, AttributeError, RecursionError) as error:
                raise SourceError(
                    f"{original.name}, line {number}: expected an object with sentence1, sentence2 and gold_label, "
                    f"found {line[:60]!r}"
                ) from error
        split = original.base.removeprefix("snli_1.0_").removesuffix(".jsonl")
        self._made.append(Made(f"supervised/snli.{split}.tsv", tuple(rows), original.name))

    def made(self) -> Iterator[Made]:
        """Yield what was taken."""
        yield from self._made


class Imdb:
    """aclImdb/train/pos/123_9.txt and so on: a review a file. Every tenth number of train is dev, which it has not."""

    _NAME = re.compile(r"(?:.*/)?aclImdb/(train|test)/(pos|neg)/(\d+)_\d+\.txt")
    _EVERY = 10

    def __init__(self) -> None:
        self._rows: dict[str, dict[tuple[int, str], str]] = {}
        self._origin = ""

    def wants(self, name: str) -> bool:
        """Return whether it is a labelled review."""
        return self._NAME.fullmatch(name) is not None

    def take(self, original: Original) -> None:
        """Take a review, without its line breaks."""
        match = self._NAME.fullmatch(original.name)
        assert match is not None  # or it was not wanted
        split, side, number = match[1], match[2], int(match[3])
        if split == "train" and number % self._EVERY == 0:
            split = "dev"
        text = " ".join(" ".join(original.lines()).replace("<br />", " ").split())
        self._rows.setdefault(split, {})[number, side] = f"{text}\t{side}"
        self._origin = original.name

    def made(self) -> Iterator[Made]:
        """Yield the splits, in the order of the reviews' numbers."""
        for split, rows in self._rows.items():
            yield Made(f"supervised/imdb.{split}.tsv", tuple(rows[key] for key in sorted(rows)), self._origin)


def _nodes(line: str) -> list[tuple[int, str]]:
    """The labels and phrases of a tree's nodes, the whole tree last; none if it is no tree."""
    open_nodes: list[tuple[int, list[str]]] = []
    found: list[tuple[int, str]] = []
    awaits_label = False
    for piece in _PIECE.findall(line):
        if awaits_label:
            if not re.fullmatch("[0-4]", piece):
                return []
            open_nodes.append((int(piece), []))
            awaits_label = False
        elif piece == "(":
            awaits_label = True
        elif not open_nodes:
            return []
        elif piece == ")":
            label, words = open_nodes.pop()
            found.append((label, " ".join(words)))
            if open_nodes:
                open_nodes[-1][1].extend(words)
        else:
            open_nodes[-1][1].append(_ESCAPED.get(piece, piece.replace("\\/", "/").replace("\\*", "*")))
    return [] if open_nodes or awaits_label else found
