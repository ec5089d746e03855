"""Word vectors that an experiment trained, kept in the user's cache folder: a second run need not train again.

They are found by a digest of what they were trained on and how, and of the program text that reads and trains. A NumPy
archive without pickles each; all of them can be deleted.
"""

from __future__ import annotations

import hashlib
import json
import logging
import os
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from semsearch.evaluate.cache import digest_of
from semsearch.system.user_folders import cache_folder

_PACKAGE = Path(__file__).parents[2]
_MODULES = (  # what decides the vectors: change one, and all are trained anew
    "evaluate/cbos/gensim_vectors.py evaluate/cbos/stemmed.py train/cbos.py train/corpus.py train/counts.py "
    "train/neighbourhood.py readers/text.py text/ragged.py text/sentences.py text/tokens.py word_vectors/averages.py"
)
_log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Trained:
    """Vectors (V, d) of words (V), how many sentences and running words they are from, and how long it took."""

    words: list[str]
    vectors: npt.NDArray[np.float32]
    sentences: int
    running_words: int
    seconds: float


def kept(name: str, inputs: Mapping[str, Any], train: Callable[[], Trained], *, fresh: bool = False) -> Trained:
    """What `train` gives, from the last time that it had this name and these inputs (JSON); `fresh`: trained anew.

    What is damaged is trained anew; where nothing can be written, nothing is kept.
    """
    program = digest_of(_PACKAGE / module for module in _MODULES.split())
    key = hashlib.blake2b(json.dumps([name, inputs, program], sort_keys=True).encode(), digest_size=16).hexdigest()
    path = cache_folder("trained") / f"{name}-{key}.npz"
    if not fresh and (found := _read(path)) is not None:
        _log.info("%s: taken from %s", name, path)
        return found
    trained = train()
    _write(path, trained)
    return trained


def _read(path: Path) -> Trained | None:
    try:
        with path.open("rb") as file, np.load(file, allow_pickle=False) as arrays:
            words = arrays["words"].tobytes().decode().split("\n")
            vectors: npt.NDArray[np.float32] = arrays["vectors"]
            sentences, running_words, seconds = arrays["numbers"].tolist()
    except FileNotFoundError:
        return None
    except Exception as error:  # whatever zipfile and NumPy make of damaged bytes
        _log.info("%s is damaged (%s); it is trained anew", path, error)
        return None
    if vectors.shape[:1] != (len(words),):
        return None
    return Trained(words, vectors, int(sentences), int(running_words), seconds)


def _write(path: Path, trained: Trained) -> None:
    """Write under a name of the own process, then rename. Where that fails, it is only not kept."""
    arrays: dict[str, npt.NDArray[Any]] = {
        "words": np.frombuffer("\n".join(trained.words).encode(), dtype=np.uint8),
        "vectors": trained.vectors,
        "numbers": np.array([trained.sentences, trained.running_words, trained.seconds], dtype=np.float64),
    }
    temporary = path.with_name(f"{path.name}.{os.getpid()}")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with temporary.open("wb") as file:
            np.savez(file, **arrays)  # type: ignore[arg-type]  # stubs see allow_pickle among the names
        temporary.replace(path)
    except OSError as error:
        _log.info("%s cannot be written: %s", path, error)
    finally:
        with suppress(OSError):
            temporary.unlink(missing_ok=True)
