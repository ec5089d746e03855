"""What an index refers to outside of its folder, and whether this user has allowed that on this machine.

An index may come from someone else. Its rows refer to folders to read, engines that keep vectors, and files of word
vectors; whoever made it has chosen them. They are used only after the user of this machine has chosen or confirmed
them: what a command or program of the user puts into an index is allowed at once, all else by `semsearch trust INDEX`,
or by the program that opens it (`Index.open(..., trust=True)`). Until then the index is only read: the files it refers
to are not opened, and no engine is connected to.

What is allowed is recorded outside of all indexes, in the user's configuration folder, as git's `safe.directory` and
direnv's `allow` are: a file for each index, by its path, with the references themselves. So another index that replaces
a known one may do no more than that one did. An index that was moved or copied must be allowed again.
"""

from __future__ import annotations

import json
import logging
import os
from collections.abc import Callable, Collection, Iterator, Sequence
from contextlib import contextmanager, suppress
from hashlib import blake2b
from pathlib import Path
from typing import TYPE_CHECKING, Literal, NamedTuple, get_args

from semsearch.errors import IndexNotTrusted, SemsearchError, StorageError, index_command
from semsearch.settings import Settings
from semsearch.sources.roots import Root, covers
from semsearch.storage.database import IndexDatabase
from semsearch.storage.known_files import get_root_addresses
from semsearch.storage.schema import get_address, get_meta
from semsearch.system.durable import write_durably
from semsearch.system.locations import config_folder, divided, shown_uri, uri_scheme
from semsearch.word_vectors.table import is_shipped, shipped

if TYPE_CHECKING:
    import sqlite3

logger = logging.getLogger(__name__)

# -- References --------------------------------------------------------------------------------------------------------

Kind = Literal["root", "store", "vectors"]
_DOES: dict[Kind, str] = {
    "root": "read {}",
    "store": "keep vectors in {}",
    "vectors": "open the word vectors {}",
}


class ExternalReference(NamedTuple):
    """A path or URI outside of an index's folder to which the index refers, and for what."""

    kind: Kind
    target: str

    def __str__(self) -> str:
        target = shown_uri(self.target)
        return _DOES[self.kind].format(target if target.isprintable() else ascii(target))


def external_references(database: IndexDatabase, db: sqlite3.Connection) -> frozenset[ExternalReference]:
    """The external references of the generation that a transaction sees.

    The roots of a published copy do not count: their files lie elsewhere.
    """
    roots, address = get_root_addresses(db), get_address(db)
    settings = Settings.from_json(get_meta(db, "settings"))
    are_shipped = is_shipped(settings.vectors) or (
        (table := shipped(settings.vectors_name)) is not None and table.digest == settings.vectors_digest
    )
    references = set() if are_shipped else {ExternalReference("vectors", settings.vectors)}
    stores = {uri for uri in (settings.store, None if address is None else address.uri) if uri}
    references |= {ExternalReference("store", uri) for uri in stores}
    if not database.is_copy:
        references |= {ExternalReference("root", root) for root in roots}
    return frozenset(references)


# -- What the user has allowed -----------------------------------------------------------------------------------------

_recorded: dict[str, frozenset[ExternalReference]] = {}  # by this process, also where no file can be written


def allowed(database: IndexDatabase) -> frozenset[ExternalReference]:
    """What this user has allowed an index on this machine, in a file or in this process."""
    key = _key(database)
    return _read(_file(key)) | _recorded.get(key, frozenset())


def _read(path: Path) -> frozenset[ExternalReference]:
    """Read a record; one that cannot be read allows nothing."""
    try:
        pairs = json.loads(path.read_text(encoding="utf-8"))["allowed"]
        return frozenset(ExternalReference(kind, str(target)) for kind, target in pairs if kind in get_args(Kind))
    except (OSError, ValueError, KeyError, TypeError, AttributeError, RecursionError):
        return frozenset()


def forget(database: IndexDatabase) -> None:
    """Allow an index nothing any more. Raises StorageError where the record cannot be removed."""
    key = _key(database)
    _recorded.pop(key, None)
    try:
        _file(key).unlink(missing_ok=True)
    except OSError as error:
        raise StorageError(f"{error.filename} cannot be removed ({error.strerror}); remove it yourself") from error


def record(database: IndexDatabase, references: Collection[ExternalReference]) -> bool:
    """Allow an index these references and no others; returns whether that was recorded for other processes, too."""
    return _write(_key(database), references)


def record_copies(uri: str, database: IndexDatabase) -> None:
    """Allow copies of an index, which its user has published at a URI, what they need: word vectors, an engine."""
    with database.reading() as db:
        references = [item for item in external_references(database, db) if item.kind in ("vectors", "store")]
    if references:
        _write(uri, references)


def last_recorded() -> int:
    """A number that changes whenever something is recorded; 0 if nothing is."""
    try:
        return _folder().stat().st_mtime_ns
    except OSError:
        return 0


def _write(key: str, references: Collection[ExternalReference]) -> bool:
    _recorded[key] = frozenset(references)
    card = {"index": key, "allowed": sorted([item.kind, item.target] for item in references)}
    file = _file(key)
    try:
        file.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        data = json.dumps(card, indent=1).encode()
        write_durably(file, lambda write: write(data))
    except OSError as error:  # a user without a home folder
        if references:
            logger.warning(
                "what %s may do could not be recorded in %s (%s), so later commands will only read it; "
                "set XDG_CONFIG_HOME to a folder that you can write",
                key,
                file.parent,
                error.strerror or error,
            )
        return False
    return True


def _key(database: IndexDatabase) -> str:
    """By what an index is known: the path of its folder, links resolved; of a published copy the URI of the store."""
    return database.shown_name if database.is_copy else os.path.realpath(database.folder)


def _file(key: str) -> Path:
    return _folder() / f"{blake2b(os.fsencode(key), digest_size=16).hexdigest()}.json"


def _folder() -> Path:
    return config_folder() / "trusted"


# -- Whether it is allowed ---------------------------------------------------------------------------------------------

IsRequested = Callable[[ExternalReference], bool]  # whether the user's command or call refers to the same


def not_allowed(
    database: IndexDatabase, references: Collection[ExternalReference], kinds: Collection[Kind] = get_args(Kind)
) -> tuple[ExternalReference, ...]:
    """The references of these kinds that the user has not allowed; none if the index was opened with trust."""
    wanted = {item for item in references if item.kind in kinds}
    return tuple(sorted(wanted - allowed(database))) if wanted and not database.is_trusted else ()


def require(database: IndexDatabase, db: sqlite3.Connection, kinds: Collection[Kind] = get_args(Kind)) -> None:
    """Check that all external references of these kinds are allowed. Raises IndexNotTrusted."""
    if refused := not_allowed(database, external_references(database, db), kinds):
        raise IndexNotTrusted(refusal(database, refused))


def refusal(database: IndexDatabase, refused: Sequence[ExternalReference]) -> str:
    """What an index would do that is not allowed, and the command that allows it."""
    return (
        f"the index {database.shown_name} {intentions(refused)}; that is not allowed here yet, and the index is only "
        f"read; if you moved or copied it, or trust whoever made it, run: {trust_command(database)}"
    )


def intentions(references: Sequence[ExternalReference]) -> str:
    """The actions that references imply, in words."""
    more = f"; and {len(references) - 3:,} more" * (len(references) > 3)
    return f"would {'; '.join(map(str, references[:3]))}{more}"


def trust_command(database: IndexDatabase, *options: str) -> str:
    """The command that allows the references of an index."""
    return index_command("trust", database.shown_name if database.is_copy else database.folder, *options)


@contextmanager
def allowed_write(database: IndexDatabase, is_requested: IsRequested) -> Iterator[None]:
    """A write by this user, in a `with` statement: the references that it adds are allowed from then on.

    Raises IndexNotTrusted, before anything is written, for a reference that is neither allowed nor requested.
    """
    with database.reading() as db:
        before, known = external_references(database, db), allowed(database)
    last_written = database.last_written()
    ours = known | {item for item in before - known if is_requested(item)}
    if (refused := before - ours) and not database.is_trusted:
        raise IndexNotTrusted(refusal(database, sorted(refused)))
    try:
        yield
    finally:  # a write that failed may have been committed
        if database.last_written() != last_written:
            with suppress(SemsearchError), database.reading_after_write() as db:
                after = external_references(database, db)
                now = after & ours | after - before
                if now != known:
                    record(database, now)


def requested_paths(paths: Sequence[str | Path], *, vectors: bool = False) -> IsRequested:
    """The test whether a root is, or lies in, one of these paths or URIs; with `vectors`, word vectors pass too."""
    locations: list[str] = []
    for path in map(str, paths):
        if uri_scheme(path):
            address, options = divided(path)
            scheme, colon, rest = address.partition(":")
            locations.append(scheme.lower() + colon + rest.rstrip("/") + options)  # as the index has the root
        else:
            locations.append(Path(os.path.realpath(path)).as_posix())

    def is_requested(item: ExternalReference) -> bool:
        if item.kind != "root":
            return vectors and item.kind == "vectors"
        if uri_scheme(item.target):
            return item.target in locations
        return any(covers(Root(-1, location), item.target) for location in locations)

    return is_requested
