"""Save the state of a training run after each round, so that a run that was stopped can go on where it was.

The file is a NumPy archive without pickles, written durably, and carries a stamp of the text and the settings.
"""

from __future__ import annotations

import io
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from semsearch.errors import StorageError, VectorsError
from semsearch.system.durable import write_durably

Float32 = npt.NDArray[np.float32]


@dataclass(slots=True)
class TrainingState:
    """The state of a run: word vectors, sums of their squared gradients (V, d), and the mean loss of each round."""

    vectors: Float32
    squares: Float32
    losses: list[float] = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class Checkpoint:
    """A file that holds the state of a run. `stamp` distinguishes the run from others."""

    path: Path
    stamp: str

    def load(self, shape: tuple[int, int]) -> TrainingState | None:
        """Read the state, None if there is no file. Raises VectorsError if it is damaged or of another run."""
        cure = f"to begin anew, remove {self.path}"
        try:
            data = self.path.read_bytes()
        except FileNotFoundError:
            return None
        except OSError as error:
            raise VectorsError(
                f"the checkpoint of an earlier run cannot be read ({error.strerror or error}); {cure}"
            ) from error
        try:
            with np.load(io.BytesIO(data), allow_pickle=False) as arrays:
                stamp = arrays["stamp"].tobytes().decode()
                state = TrainingState(arrays["vectors"], arrays["squares"], arrays["losses"].tolist())
        except Exception as error:  # whatever zipfile and NumPy make of damaged bytes
            raise VectorsError(f"the checkpoint of an earlier run is damaged ({error}); {cure}") from error
        if stamp != self.stamp or state.vectors.shape != shape:
            raise VectorsError(
                f"there is a checkpoint of a run with other texts or settings; to finish that, give the same; {cure}"
            )
        return state

    def save(self, state: TrainingState) -> None:
        """Write a state to the file, in place of an earlier one. Raises StorageError."""
        arrays: dict[str, npt.NDArray[Any]] = {
            "stamp": np.frombuffer(self.stamp.encode(), dtype=np.uint8),
            "vectors": state.vectors,
            "squares": state.squares,
            "losses": np.array(state.losses, dtype=np.float64),
        }
        buffer = io.BytesIO()
        np.savez(buffer, **arrays)  # type: ignore[arg-type]  # stubs see allow_pickle among the names
        try:
            write_durably(self.path, lambda write: write(buffer.getvalue()))
        except OSError as error:
            raise StorageError(
                f"{self.path} cannot be written: {error.strerror or error}; free space or choose another place"
            ) from error

    def remove(self) -> None:
        """Delete the file, if there is one: the run is over."""
        self.path.unlink(missing_ok=True)
