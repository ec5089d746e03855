"""What goes wrong with a server of PostgreSQL, as the errors that users see: by SQLSTATE, whatever its language."""

from __future__ import annotations

from typing import TYPE_CHECKING

from semsearch.errors import StorageError

if TYPE_CHECKING:
    from semsearch.stores.postgres.address import Address

NO_TABLE = "42P01"
NO_RIGHT = "42501"
_LATE = ("57014", "55P03")  # query_canceled by statement_timeout, lock_not_available
_LOST = ("08", "57P")  # connection exceptions; the server stops, crashed or starts
_FULL = ("53",)  # no disk, memory or connection left
_REFUSED = ("28", "3D", NO_RIGHT)  # password, role, database, right


def sqlstate(error: BaseException) -> str:
    """The SQLSTATE of an error; empty if it is not the server's."""
    return str(getattr(error, "sqlstate", None) or "")


def is_lost(error: BaseException) -> bool:
    """Return whether a connection was broken, or could not be made."""
    if isinstance(error, TimeoutError):  # which is an OSError
        return False
    is_client = type(error).__module__.startswith("asyncpg") and not sqlstate(error)  # such as InterfaceError
    return isinstance(error, OSError) or is_client or sqlstate(error).startswith(_LOST)


def unheard(address: Address) -> StorageError:
    """The error of a server that has lost the work that it was given."""
    return StorageError(
        f"{address.server} has lost a connection while it worked for the index; see its log, and write again"
    )


def storage_error(error: BaseException, address: Address) -> StorageError | None:
    """The error that says what to do; None for one that is not the server's, or that says something of names in SQL."""
    state = sqlstate(error)
    if isinstance(error, TimeoutError) or state in _LATE:
        return StorageError(
            f"{address.server} took longer than {address.seconds:g} seconds; see whether it is busy, or give its "
            f"address more time: ?timeout={6 * address.seconds:g}"
        )
    if state.startswith(_FULL):
        return StorageError(f"{address.server} has no room left: {_said(error)}")
    if state.startswith(_REFUSED):
        return StorageError(
            f"{address.server} refuses: {_said(error)}; see user and database of the address, and the password in "
            "PGPASSWORD or ~/.pgpass"
        )
    if is_lost(error):
        return StorageError(f"{address.server} cannot be reached: {_said(error)}; see that it runs there")
    return None


def _said(error: BaseException) -> str:
    return " ".join(str(error).split()) or type(error).__name__
