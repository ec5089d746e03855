"""Make word vectors: from counts, from neighbouring sentences, or from a teacher, which needs the extra `train`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from semsearch import load_public, public_names

if TYPE_CHECKING:  # the same names for whoever checks types
    from semsearch.train.adam import Adam as Adam
    from semsearch.train.cbos import (
        LONGEST as LONGEST,
        CbosSettings as CbosSettings,
        Sentences as Sentences,
        parts_of as parts_of,
        start as start,
        train_round as train_round,
    )
    from semsearch.train.corpus import (
        Skipped as Skipped,
        Stages as Stages,
        check_settings as check_settings,
        each_file as each_file,
        paragraphs_of as paragraphs_of,
    )

__all__ = sorted(public_names(__name__))


def __getattr__(name: str) -> Any:
    return load_public(__name__, name)
