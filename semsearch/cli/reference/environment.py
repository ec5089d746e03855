"""The environment variables that change what semsearch does. A test finds every one that the code reads or sets."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Variable:
    """An environment variable. `reader` is the program or library that looks at it."""

    name: str
    meaning: str  # as Markdown
    reader: str = "semsearch"


VARIABLES = (
    Variable(
        "SEMSEARCH_INDEXES", "The folder of the indexes, as `--indexes`. Without it: `indexes` in the current folder."
    ),
    Variable(
        "XDG_CACHE_HOME",
        "The user's cache folder on Linux, by default `~/.cache`. In its `semsearch/` are results of experiments, and "
        "converted word vectors where there is no writing beside them. (On macOS: `~/Library/Caches`.)",
    ),
    Variable("LOCALAPPDATA", "The same on Windows."),
    Variable("TERM", "Paths are not links where it is `dumb` or `linux`."),
    Variable(
        "OMP_NUM_THREADS",
        "The most threads for linear algebra. Commands that are quicker with one set it to 1 for themselves, unless it "
        "is set already; `bench` always does.",
    ),
    Variable("OPENBLAS_NUM_THREADS", "Likewise, for NumPy's OpenBLAS."),
    Variable("MKL_NUM_THREADS", "Likewise, for a NumPy that was built with Intel's library."),
    Variable("NO_COLOR", "If it is set, a terminal is shown no colours.", reader="rich"),
    Variable("COLUMNS", "How wide the terminal is taken to be.", reader="rich"),
    Variable(
        "TMPDIR",
        "Where `bench` and `evaluate retrieval` make their temporary indexes. On Windows: `TEMP`.",
        reader="Python",
    ),
    Variable(
        "HF_HOME",
        "Where `vectors distill` and the peer minilm keep models that they download.",
        reader="huggingface_hub",
    ),
)
