"""What an index names outside of its folder, and whether this user has allowed it on this machine.

An index may come from someone else. Its rows name folders to read, engines that keep vectors, and
files of word vectors; whoever made it has chosen them. They are used only after the user of this machine has
chosen or confirmed them: what a command or program of the user puts into an index is allowed at once, all else by
`semsearch trust INDEX`, or by the program that opens it (`Index.open(..., trust=True)`). Until then the index is only
read: its files are not looked at, and nothing is connected to.

What is allowed is recorded outside of all indexes, in the user's configuration folder, as git's `safe.directory` and
direnv's `allow` are: a file for each index, by its path, with the names themselves. So another index that is put in the
place of a known one may do no more than that one did. An index that was moved, or copied, is asked for again.
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

# -- What an index names -----------------------------------------------------------------------------------------------

Kind = Literal["root", "store", "vectors"]
_DOES: dict[Kind, str] = {
    "root": "read {}",
    "store": "keep vectors in {}",
    "vectors": "open the word vectors {}",
}


class OutsideName(NamedTuple):
    """A path or URI outside of an index's folder that the index names, and for what."""

    kind: Kind
    place: str

    def __str__(self) -> str:
        place = shown_uri(self.place)
        return _DOES[self.kind].format(place if place.isprintable() else ascii(place))


def named_outside(database: IndexDatabase, db: sqlite3.Connection) -> frozenset[OutsideName]:
    """What the generation that a transaction sees names outside of the index's folder.

    Of a published copy its roots do not count, whose files lie elsewhere.
    """
    places, address = get_root_addresses(db), get_address(db)
    settings = Settings.from_json(get_meta(db, "settings"))
    are_shipped = is_shipped(settings.vectors) or (
        (table := shipped(settings.vectors_name)) is not None and table.digest == settings.vectors_digest
    )
    names = set() if are_shipped else {OutsideName("vectors", settings.vectors)}
    stores = {uri for uri in (settings.store, None if address is None else address.uri) if uri}
    if database.is_copy:
        return frozenset(names | {OutsideName("store", uri) for uri in stores})
    names |= {OutsideName("root", place) for place in places}
    names |= {OutsideName("store", uri) for uri in stores}
    return frozenset(names)


# -- What the user has allowed -----------------------------------------------------------------------------------------

_remembered: dict[str, frozenset[OutsideName]] = {}  # by this process, also where nothing can be recorded


def allowed(database: IndexDatabase) -> frozenset[OutsideName]:
    """What this user has allowed an index on this machine: recorded, or remembered by this process."""
    key = _key(database)
    return _read(_file(key)) | _remembered.get(key, frozenset())


def _read(path: Path) -> frozenset[OutsideName]:
    """Read a record; one that cannot be read allows nothing."""
    try:
        names = json.loads(path.read_text(encoding="utf-8"))["allowed"]
        return frozenset(OutsideName(kind, str(place)) for kind, place in names if kind in get_args(Kind))
    except (OSError, ValueError, KeyError, TypeError, AttributeError, RecursionError):
        return frozenset()


def forget(database: IndexDatabase) -> None:
    """Allow an index nothing any more. Raises StorageError where the record cannot be removed."""
    key = _key(database)
    _remembered.pop(key, None)
    try:
        _file(key).unlink(missing_ok=True)
    except OSError as error:
        raise StorageError(f"{error.filename} cannot be removed ({error.strerror}); remove it yourself") from error


def record(database: IndexDatabase, names: Collection[OutsideName]) -> bool:
    """Allow an index these names and no others; returns whether that was recorded for other processes, too."""
    return _write(_key(database), names)


def record_copies(uri: str, database: IndexDatabase) -> None:
    """Allow copies of an index, which its user has published at a URI, what they need: word vectors, an engine."""
    with database.reading() as db:
        names = [name for name in named_outside(database, db) if name.kind in ("vectors", "store")]
    if names:
        _write(uri, names)


def last_recorded() -> int:
    """A number that changes whenever something is recorded; 0 if nothing is."""
    try:
        return _folder().stat().st_mtime_ns
    except OSError:
        return 0


def _write(key: str, names: Collection[OutsideName]) -> bool:
    _remembered[key] = frozenset(names)
    card = {"index": key, "allowed": sorted([name.kind, name.place] for name in names)}
    file = _file(key)
    try:
        file.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        data = json.dumps(card, indent=1).encode()
        write_durably(file, lambda write: write(data))
    except OSError as error:  # a user without a home folder
        if names:
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

IsGiven = Callable[[OutsideName], bool]  # whether the user names the same on the command line or in the call


def not_allowed(
    database: IndexDatabase, names: Collection[OutsideName], kinds: Collection[Kind] = get_args(Kind)
) -> tuple[OutsideName, ...]:
    """Those of some names, of these kinds, that the user has not allowed; none if the index was opened with trust."""
    wanted = {name for name in names if name.kind in kinds}
    return tuple(sorted(wanted - allowed(database))) if wanted and not database.is_trusted else ()


def require(database: IndexDatabase, db: sqlite3.Connection, kinds: Collection[Kind] = get_args(Kind)) -> None:
    """Raises IndexNotTrusted unless all that an index names of these kinds is allowed."""
    if lacking := not_allowed(database, named_outside(database, db), kinds):
        raise IndexNotTrusted(refusal(database, lacking))


def refusal(database: IndexDatabase, lacking: Sequence[OutsideName]) -> str:
    """What an index would do that is not allowed, and the command that allows it."""
    return (
        f"the index {database.shown_name} {intentions(lacking)}; that is not allowed here yet, and the index is only "
        f"read; if you moved or copied it, or trust whoever made it, run: {trust_command(database)}"
    )


def intentions(lacking: Sequence[OutsideName]) -> str:
    """What an index would do, in words."""
    return "would " + "; ".join(map(str, lacking[:3])) + (f"; and {len(lacking) - 3:,} more" * (len(lacking) > 3))


def trust_command(database: IndexDatabase, *options: str) -> str:
    """The command that allows what an index names."""
    return index_command("trust", database.shown_name if database.is_copy else database.folder, *options)


@contextmanager
def allowed_write(database: IndexDatabase, is_given: IsGiven) -> Iterator[None]:
    """A write by this user, in a `with` statement: what it adds to an index is allowed from then on.

    Raises IndexNotTrusted before anything is written, if the index names what was neither allowed nor given.
    """
    with database.reading() as db:
        before, known = named_outside(database, db), allowed(database)
    last_written = database.last_written()
    ours = known | {name for name in before - known if is_given(name)}
    if (lacking := before - ours) and not database.is_trusted:
        raise IndexNotTrusted(refusal(database, sorted(lacking)))
    try:
        yield
    finally:  # a write that failed may have been committed
        if database.last_written() != last_written:
            with suppress(SemsearchError), database.reading_after_write() as db:
                after = named_outside(database, db)
                now = after & ours | after - before
                if now != known:
                    record(database, now)


def given_paths(paths: Sequence[str | Path], *, vectors: bool = False) -> IsGiven:
    """Whether what an index names is, or lies in, one of these paths or URIs; with `vectors`, also word vectors."""
    places: list[str] = []
    for path in map(str, paths):
        if uri_scheme(path):
            address, options = divided(path)
            scheme, colon, rest = address.partition(":")
            places.append(scheme.lower() + colon + rest.rstrip("/") + options)  # as the index has the root
        else:
            places.append(Path(os.path.realpath(path)).as_posix())

    def is_given(name: OutsideName) -> bool:
        if name.kind != "root":
            return vectors and name.kind == "vectors"
        if uri_scheme(name.place):
            return name.place in places
        return any(covers(Root(-1, place), name.place) for place in places)

    return is_given
