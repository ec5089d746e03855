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
        "SEMSEARCH_INDEXES",
        "The folder of the indexes, as `--indexes`. Without it: `indexes` in the current folder or above it, or the "
        "user's own.",
    ),
    Variable(
        "SEMSEARCH_HOME",
        "The folder in which one's own indexes are, in `indexes`, and the history of questions. Without it: the user's "
        "folder for data, on Linux "
        "`~/.local/share/semsearch`.",
    ),
    Variable(
        "XDG_DATA_HOME",
        "The user's folder for data on Linux, by default `~/.local/share`. In its `semsearch/indexes` are indexes that "
        "belong to no project. On macOS it is `~/Library/Application Support`, on Windows below `%LOCALAPPDATA%`.",
        user="platformdirs",
    ),
    Variable(
        "SEMSEARCH_SEARCH_K",
        "And likewise for each key of [the configuration](configuration.md): `SEMSEARCH_SETTINGS_METHOD`, "
        "`SEMSEARCH_ASK`, `SEMSEARCH_SERVER`, `SEMSEARCH_MODEL_KEY`, "
        "`SEMSEARCH_HISTORY_ENABLED`. Lists are written as in TOML.",
        user="semsearch's configuration",
    ),
    Variable(
        "HTTPS_PROXY",
        "The proxy by which `ask` reaches a model on another machine; `HTTP_PROXY` for plain HTTP, and `NO_PROXY` for "
        "hosts without one.",
        user="Python",
    ),
    Variable(
        "SSL_CERT_FILE", "The certificates of authorities that `ask` accepts, instead of the system's.", user="Python"
    ),
    Variable(
        "HF_HUB_OFFLINE",
        "With `0`, sentence-transformers may download the model of `--rerank` that it does not have. Otherwise nothing "
        "is downloaded for reranking.",
    ),
    Variable("SEMSEARCH_TOKEN", "The token of the server that `query --server` asks, where it needs one."),
    Variable(
        "XDG_CACHE_HOME",
        "The user's cache folder on Linux, by default `~/.cache`. In its `semsearch/` are results of experiments. "
        "On macOS it is `~/Library/Caches`, on Windows below `%LOCALAPPDATA%`.",
        user="platformdirs",
    ),
    Variable(
        "XDG_CONFIG_HOME",
        "The user's folder for settings on Linux, by default `~/.config`. In its `semsearch/` are the user's own "
        "`semsearch.toml`, the token of `serve`, what you have allowed indexes, and where those that you made are. On "
        "macOS it is `~/Library/Application Support`.",
    ),
    Variable(
        "XDG_DATA_HOME",
        "The user's folder for data on Linux, by default `~/.local/share`. In its `semsearch/` are your personal "
        "indexes, unless SEMSEARCH_HOME is set. On macOS it is `~/Library/Application Support`.",
    ),
    Variable("LOCALAPPDATA", "Likewise on Windows."),
    Variable(
        "VISUAL",
        "The editor, with options of its own, in which `query --open` opens a file: `code --wait`. The usual ones are "
        "given the line.",
    ),
    Variable("EDITOR", "Likewise, where `VISUAL` is not set. Without both, the file is shown in the pager."),
    Variable("PAGER", "The pager, with options of its own. Without it: `less`, or else `more`."),
    Variable("LESS", "Options of `less`; its `-F` is taken back."),
    Variable("DISPLAY", "With it, or `WAYLAND_DISPLAY`, there is a screen, on which the system's viewer shows a PDF."),
    Variable("WAYLAND_DISPLAY", "Likewise."),
    Variable(
        "TERM", "Paths are not links where it is `dumb` or `linux`. Where it is `dumb`, there is no interactive search."
    ),
    Variable(
        "OMP_NUM_THREADS",
        "The most threads for linear algebra. Commands that are quicker with one set it to 1 for themselves, unless it "
        "is set already.",
    ),
    Variable("OPENBLAS_NUM_THREADS", "Likewise, for NumPy's OpenBLAS."),
    Variable("MKL_NUM_THREADS", "Likewise, for a NumPy that was built with Intel's library."),
    Variable(
        "PYTHONUTF8",
        "In a locale that knows only ASCII, where files could have no other names, the command sets it to 1.",
    ),
    Variable("NO_COLOR", "If it is set, a terminal is shown no colours.", user="rich"),
    Variable("COLUMNS", "How wide the terminal is taken to be.", user="rich"),
)
OF_RESEARCH = (
    Variable(
        "OMP_NUM_THREADS",
        "The most threads for linear algebra. `bench` sets it to 1; most experiments do unless it is set already.",
    ),
    Variable("OPENBLAS_NUM_THREADS", "Likewise, for NumPy's OpenBLAS."),
    Variable("MKL_NUM_THREADS", "Likewise, for a NumPy that was built with Intel's library."),
    Variable("VECLIB_MAXIMUM_THREADS", "Likewise, for Apple's library; only `bench` sets it."),
    Variable("NUMBA_NUM_THREADS", "The threads of bm25s, which `bench` compares with; set to 1."),
    Variable("RAYON_NUM_THREADS", "The threads of tokenizers, which `bench` compares with; set to 1."),
    Variable("TOKENIZERS_PARALLELISM", "Likewise; set to false."),
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
