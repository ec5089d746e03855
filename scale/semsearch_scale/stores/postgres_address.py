"""The address of a schema in PostgreSQL: its URI parsed, checked and completed. Pure."""

from __future__ import annotations

import re
from dataclasses import dataclass
from urllib.parse import parse_qsl, quote, unquote, urlencode, urlsplit

from semsearch.errors import UsageError

SCHEMES = ("postgres", "postgresql")
SECONDS = 10.0  # that a query may take
_PORT = 5432
_SSL_MODES = ("disable", "allow", "prefer", "require", "verify-ca", "verify-full")
_LONGEST = 63  # bytes of a name in PostgreSQL, which cuts longer ones
_FORM = "postgres://[user@]host[:port]/database[?schema=NAME&timeout=SECONDS&sslmode=MODE]"


@dataclass(frozen=True, slots=True)
class Address:
    """The address of an index's schema in a database, and the seconds that a query there may take."""

    host: str
    port: int
    user: str | None  # None: PGUSER, or the name of the user
    database: str
    schema: str
    seconds: float = SECONDS
    sslmode: str | None = None

    @property
    def place(self) -> str:
        """The schema as messages name it."""
        return f"the schema {self.schema} of {self.server}"

    @property
    def server(self) -> str:
        """The database as messages name it."""
        return f"PostgreSQL at {self.host}:{self.port}/{self.database}"

    @property
    def uri(self) -> str:
        """The URI in full."""
        user = f"{quote(self.user, safe='')}@" if self.user else ""
        host = f"[{self.host}]" if ":" in self.host else self.host
        options = {"schema": self.schema}
        if self.seconds != SECONDS:
            options["timeout"] = f"{self.seconds:g}"
        if self.sslmode is not None:
            options["sslmode"] = self.sslmode
        return f"postgres://{user}{host}:{self.port}/{quote(self.database, safe='')}?{urlencode(options)}"


def located(uri: str, name: str) -> str:
    """Complete the URI of a store for an index of some name. Raises UsageError if it is invalid."""
    return parsed(uri, default=f"semsearch_{re.sub(r'[^a-z0-9]+', '_', name.lower()).strip('_') or 'index'}").uri


def parsed(uri: str, *, default: str = "semsearch") -> Address:
    """Parse a URI; `default` is the schema if it names none. Raises UsageError."""
    try:
        parts = urlsplit(uri)
        port = parts.port or _PORT
    except ValueError as error:
        raise UsageError(f"{uri!r} is not a valid address: {error}; give {_FORM}") from error
    database = unquote(parts.path.removeprefix("/"))
    if parts.password is not None:
        raise UsageError(
            "the address of a PostgreSQL database must not contain a password, which the index would store; set it in "
            "PGPASSWORD or ~/.pgpass"
        )
    if parts.scheme not in SCHEMES or not parts.hostname or not database or "/" in database or parts.fragment:
        raise UsageError(f"{uri!r} is not the address of a PostgreSQL database; give {_FORM}")
    options = dict(parse_qsl(parts.query, keep_blank_values=True))
    if unknown := options.keys() - {"schema", "timeout", "sslmode"}:
        raise UsageError(
            f"{uri!r} has the unknown option {', '.join(sorted(unknown))}; the options are schema, timeout and sslmode"
        )
    return Address(
        parts.hostname,
        port,
        unquote(parts.username) if parts.username else None,
        database,
        _schema(options["schema"]) if "schema" in options else default[:_LONGEST],
        _seconds(options.get("timeout", f"{SECONDS:g}")),
        _sslmode(options.get("sslmode")),
    )


def _schema(name: str) -> str:
    if not name or "\0" in name or len(name.encode()) > _LONGEST or name.startswith("pg_"):
        raise UsageError(
            f"{name!r} cannot be the name of a schema; give 1 to {_LONGEST} letters that do not begin with pg_"
        )
    return name


def _seconds(text: str) -> float:
    try:
        seconds = float(text)
    except ValueError:
        seconds = 0.0
    if not 0.001 <= seconds <= 86_400:
        raise UsageError(f"timeout must be a number of seconds above 0, such as {SECONDS:g}, not {text!r}")
    return seconds


def _sslmode(mode: str | None) -> str | None:
    if mode is not None and mode not in _SSL_MODES:
        raise UsageError(f"sslmode must be one of {', '.join(_SSL_MODES)}, not {mode!r}")
    return mode
