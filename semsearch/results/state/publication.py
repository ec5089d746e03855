"""What was published of an index, and how its readers elsewhere stand. Plain frozen data."""

from __future__ import annotations

from dataclasses import dataclass

from semsearch.results.codec import Record


@dataclass(frozen=True, slots=True)
class PublishReport(Record):
    """The report of a publication."""

    place: str  # its URI
    generation: int
    sent_blocks: int  # that were not there yet
    blocks: int  # that the generation consists of
    sent_bytes: int
    bytes: int
    seconds: float
    is_new: bool  # False: this generation was published before


@dataclass(frozen=True, slots=True)
class PublicationStatus(Record):
    """Where an index is published; or, of one that is read from there, where it comes from."""

    place: str  # the URI
    generation: int | None  # that is published, or read; None: none yet
    failure: str = ""  # why the newest is not published, or was not looked for; empty if all is well
    written_at: str = ""  # of one that is read: the machine and folder where it is written
