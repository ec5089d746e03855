"""Paragraph vectors of several data sets: trained once for all, when they are first wanted, and kept."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict
from itertools import chain
from pathlib import Path
from typing import Any

import numpy as np

from semsearch.evaluate.cache import cached, digest_of, versions
from semsearch.evaluate.paraphrase.groups import ParaphraseGroups
from semsearch.evaluate.paraphrase.paragraph_vectors import (
    ParagraphModel,
    ParagraphSettings,
    Report,
    paragraph_vectors,
    training_sentences,
)
from semsearch.evaluate.paraphrase.sentence_models import Float

_PACKAGE = Path(__file__).parents[2]
_MODULES = (  # what decides the vectors: training takes minutes, and need not follow every change of the program
    "evaluate/paraphrase/paragraph_vectors.py evaluate/paraphrase/bags.py train/corpus.py readers/text.py "
    "text/sentences.py text/tokens.py"
)


class KeptParagraphs:
    """`sentences` is how many were trained on, 0 before any vectors were asked for; `inputs` is for the cache."""

    def __init__(
        self,
        data: Sequence[ParaphraseGroups],
        files: list[Path],
        settings: ParagraphSettings,
        fresh: bool,
        progress: Report | None,
    ) -> None:
        self._texts = {groups.name: groups.texts for groups in data}
        self._files = files
        self._settings = settings
        self._fresh = fresh
        self._progress = progress
        self._training: list[str] | None = None
        self._vectors: dict[str, dict[str, Float]] = {}
        self.sentences = 0
        self.inputs = {
            "text": digest_of(files),
            **asdict(settings),
            "versions": versions("gensim", "sentencex"),
        }

    def of(self, name: str, model: ParagraphModel) -> Float:
        """Those of a data set. (n, d)"""
        if model not in self._vectors:
            self._vectors[model] = self._made(model)
        return self._vectors[model][name]

    def _made(self, model: ParagraphModel) -> dict[str, Float]:
        texts = list(chain.from_iterable(self._texts.values()))

        def compute() -> dict[str, Any]:
            if self._training is None:
                self._training = training_sentences(self._files, self._settings, progress=self._progress)
            rows = paragraph_vectors(model, self._training, texts, self._settings, progress=self._progress)
            return {"sentences": len(self._training), "rows": rows.tolist()}

        inputs = {"model": model, "texts": texts, **self.inputs}
        program = digest_of(_PACKAGE / module for module in _MODULES.split())
        kept = cached("paragraph-vectors", inputs, compute, fresh=self._fresh, program=program)
        self.sentences = kept["sentences"]
        ends = np.cumsum([len(texts) for texts in self._texts.values()])[:-1]
        rows = np.array(kept["rows"], dtype=np.float32).astype(np.float64)
        return dict(zip(self._texts, np.split(rows, ends), strict=True))
