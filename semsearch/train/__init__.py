"""Make word vectors: from counts, from neighbouring sentences, or from a teacher, which needs the extra `train`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from semsearch import load_public, public_names

if TYPE_CHECKING:  # the same names for whoever checks types
    from semsearch.train.adam import Adam as Adam
    from semsearch.train.cbos import CbosSettings as CbosSettings
    from semsearch.train.cbos import start as start
    from semsearch.train.cbos import train_round as train_round
    from semsearch.train.corpus import (
        Skipped as Skipped,
    )
    from semsearch.train.corpus import (
        Stages as Stages,
    )
    from semsearch.train.corpus import (
        check_settings as check_settings,
    )
    from semsearch.train.corpus import (
        paragraphs_of as paragraphs_of,
    )
    from semsearch.train.counts import each_file as each_file
    from semsearch.train.neighbourhood import LONGEST as LONGEST
    from semsearch.train.neighbourhood import Sentences as Sentences
    from semsearch.train.neighbourhood import parts_of as parts_of

__all__ = sorted(public_names(__name__))


def __getattr__(name: str) -> Any:
    return load_public(__name__, name)
