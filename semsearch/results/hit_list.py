"""The hits of an answer: a list that shows itself in notebooks and becomes a table for pandas or Arrow."""

from __future__ import annotations

from typing import TYPE_CHECKING, SupportsIndex, overload

from semsearch.results.hits import Hit

if TYPE_CHECKING:
    import pandas
    import pyarrow


class Hits(list[Hit]):
    """The hits of an answer, best first. A list in every way, of which a slice is `Hits` too."""

    __slots__ = ()

    @overload
    def __getitem__(self, index: SupportsIndex) -> Hit: ...
    @overload
    def __getitem__(self, index: slice) -> Hits: ...
    def __getitem__(self, index: SupportsIndex | slice) -> Hit | Hits:
        """One hit, or some of them as `Hits`."""
        return Hits(list.__getitem__(self, index)) if isinstance(index, slice) else list.__getitem__(self, index)

    def to_pandas(self) -> pandas.DataFrame:
        """Convert to a pandas DataFrame: a row for each hit, a column for each of its fields but `origin`.

        `duplicates` are where they stand, as text; `metadata` is a dict. Raises MissingExtra without pandas.
        """
        from semsearch.results.hit_table import to_pandas  # optional dependency

        return to_pandas(self)

    def to_arrow(self) -> pyarrow.Table:
        """Convert to an Arrow table, whose columns and their types are the same for all answers.

        Columns are those of `to_pandas`; `metadata` is JSON. Raises MissingExtra without pyarrow.
        """
        from semsearch.results.hit_table import to_arrow  # optional dependency

        return to_arrow(self)

    def _repr_html_(self) -> str:
        from semsearch.results.notebook import html_of_hits  # start-up time: only notebooks ask

        return html_of_hits(self)
