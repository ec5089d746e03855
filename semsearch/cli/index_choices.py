"""The settings of an index that the user gave on the command line."""

from __future__ import annotations

from dataclasses import dataclass, fields
from pathlib import Path
from typing import TYPE_CHECKING, Any

from semsearch.errors import UsageError, rebuild_command

if TYPE_CHECKING:
    from semsearch.index import Index


@dataclass(frozen=True, slots=True)
class IndexChoices:
    """The settings that the user has given for an index; None for those not given."""

    vectors: str | None = None
    method: str | None = None
    a: float | None = None
    components: int | None = None
    frequencies: str | None = None
    adapt: bool | None = None
    unknown: str | None = None
    exact: bool | None = None
    target_recall: float | None = None
    store: str | None = None
    sentence_vectors: bool | None = None

    def given(self) -> dict[str, Any]:
        """The settings that are given, as arguments of `Index.create` and `Index.rebuild`."""
        return {field.name: value for field in fields(self) if (value := getattr(self, field.name)) is not None}

    def check(self, index: Index) -> None:
        """Check an index against these: raises UsageError if it has other settings, which only a rebuild changes."""
        for name, value in self.given().items():
            built = getattr(index.settings, name)
            if name == "frequencies" and value not in ("vectors", "corpus", "mixed"):
                value = str(Path(value).resolve())
            if name == "store":
                from semsearch.dense.engines import complete  # start-up time: it brings NumPy

                value = complete(value, index.path.absolute().name)
            if name != "vectors" and value != built:
                built = ("faiss:" if name == "store" else "its default") if built is None else built
                value = "faiss:" if value is None else value
                raise UsageError(
                    f"{index.path} was built with {name} {built}, not {value}; to change that: "
                    + rebuild_command(index.path, *_option(name, value))
                )


def _option(name: str, value: object) -> list[str]:
    """A setting as an option of the command line."""
    option = name.replace("_", "-")
    return [f"--{option}" if value else f"--no-{option}"] if isinstance(value, bool) else [f"--{option}", str(value)]
