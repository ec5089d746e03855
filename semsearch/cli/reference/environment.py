"""The environment variables that change what semsearch does. A test finds every one that the code reads or sets."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Variable:
    """An environment variable. `user` is who reads it, or sets it for others."""

    name: str
    meaning: str
    user: str = "semsearch"


VARIABLES = (
    Variable(
        "SEMSEARCH_INDEXES", "The folder of the indexes, as `--indexes`. Without it: `indexes` in the current folder."
    ),
    Variable(
        "XDG_CACHE_HOME",
        "The user's cache folder on Linux, by default `~/.cache`. In its `semsearch/` are results of experiments, and "
        "converted word vectors where there is no writing beside them. On macOS it is `~/Library/Caches`, on Windows "
        "below `%LOCALAPPDATA%`.",
        user="platformdirs",
    ),
    Variable("TERM", "Paths are not links where it is `dumb` or `linux`."),
    Variable(
        "OMP_NUM_THREADS",
        "The most threads for linear algebra. Commands that are quicker with one set it to 1 for themselves, unless it "
        "is set already; `bench` always does.",
    ),
    Variable("OPENBLAS_NUM_THREADS", "Likewise, for NumPy's OpenBLAS."),
    Variable("MKL_NUM_THREADS", "Likewise, for a NumPy that was built with Intel's library."),
    Variable("VECLIB_MAXIMUM_THREADS", "Likewise, for Apple's library; only `bench` sets it."),
    Variable("NUMBA_NUM_THREADS", "The threads of bm25s, which `bench` compares with; set to 1."),
    Variable("RAYON_NUM_THREADS", "The threads of tokenizers, which `bench` compares with; set to 1."),
    Variable("TOKENIZERS_PARALLELISM", "Likewise; set to false."),
    Variable("NO_COLOR", "If it is set, a terminal is shown no colours.", user="rich"),
    Variable("COLUMNS", "How wide the terminal is taken to be.", user="rich"),
    Variable(
        "TMPDIR",
        "Where `bench` and `evaluate retrieval` make their temporary indexes. On Windows: `TEMP`.",
        user="Python",
    ),
    Variable(
        "HF_HOME",
        "Where `vectors distill` and the peer minilm keep models that they download.",
        user="huggingface_hub",
    ),
)
