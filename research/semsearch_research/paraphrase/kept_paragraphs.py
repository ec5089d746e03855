"""Paragraph vectors of several data sets: trained once for all, when they are first needed, and cached."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass, field
from functools import cached_property
from itertools import chain
from pathlib import Path
from typing import Any

import numpy as np

from semsearch.readers import text as plain_text
from semsearch.text.sentences import sentence_spans
from semsearch.text.tokens import words
from semsearch_research import reread
from semsearch_research.evaluate.cache import cached, digest_of, versions
from semsearch_research.evaluate.inputs import Progress
from semsearch_research.paraphrase import bags, paragraph_vectors as trained_here
from semsearch_research.paraphrase.groups import ParaphraseGroups
from semsearch_research.paraphrase.paragraph_vectors import (
    ParagraphModel,
    ParagraphSettings,
    paragraph_vectors,
    training_sentences,
)
from semsearch_research.paraphrase.sentence_models import Float
from semsearch_research.train.corpus import paragraphs_of

# what decides the vectors: training takes minutes, and need not follow every change of the program
DECISIVE = (trained_here, reread, bags, paragraphs_of, plain_text.read, sentence_spans, words)


@dataclass
class KeptParagraphs:
    """Trains and caches paragraph vectors. `sentences`: how many were trained on, 0 before; `inputs`: for the cache."""

    data: Sequence[ParaphraseGroups]
    files: Sequence[Path]
    settings: ParagraphSettings
    fresh: bool
    progress: Progress | None
    sentences: int = 0
    inputs: dict[str, Any] = field(init=False)
    _made: dict[str, dict[str, Float]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        text = {"text": digest_of(self.files), "versions": versions("gensim", "sentencex")}
        self.inputs = {**text, **asdict(self.settings)}

    def of(self, name: str, model: ParagraphModel) -> Float:
        """The vectors of a data set by a model. (n, d)"""
        if model not in self._made:
            self._made[model] = self._of_all(model)
        return self._made[model][name]

    def _of_all(self, model: ParagraphModel) -> dict[str, Float]:
        texts = list(chain.from_iterable(groups.texts for groups in self.data))

        def compute() -> dict[str, Any]:
            rows = paragraph_vectors(model, self._training, texts, self.settings, progress=self.progress)
            return {"sentences": len(self._training), "rows": rows}

        inputs = {"model": model, "texts": texts, **self.inputs}
        kept = cached("paragraph-vectors", inputs, compute, fresh=self.fresh, modules=DECISIVE)
        self.sentences = kept["sentences"]
        ends = np.cumsum([len(groups.texts) for groups in self.data])[:-1]
        parts = np.split(kept["rows"].astype(np.float64), ends)
        return {groups.name: rows for groups, rows in zip(self.data, parts, strict=True)}

    @cached_property
    def _training(self) -> list[str]:
        return training_sentences(self.files, self.settings, progress=self.progress)
