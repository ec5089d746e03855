"""Addresses of stores of vectors: URIs of PostgreSQL, and their options, parsed, checked and completed."""

from __future__ import annotations

import re
from dataclasses import dataclass
from urllib.parse import parse_qsl, quote, unquote, urlencode

from semsearch.errors import UsageError
from semsearch.system.locations import shown_uri, split_uri

SECONDS = 10.0  # that a query may take
_SSL_MODES = ("disable", "allow", "prefer", "require", "verify-ca", "verify-full")
_LONGEST_SCHEMA = 63  # bytes of a name in PostgreSQL, which cuts longer ones
_POSTGRES = "postgres://[user@]host[:port]/database[?schema=NAME&timeout=SECONDS&sslmode=MODE]"


@dataclass(frozen=True, slots=True)
class PostgresAddress:
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
        sslmode = {} if self.sslmode is None else {"sslmode": self.sslmode}
        options = urlencode({"schema": self.schema, **_timeout(self.seconds), **sslmode})
        return f"postgres://{user}{_bracketed(self.host)}:{self.port}/{quote(self.database, safe='')}?{options}"


def postgres_address(uri: str, *, default: str = "semsearch") -> PostgresAddress:
    """Parse a URI; `default` is the schema if it names none. Raises UsageError."""
    parts = split_uri(uri)
    if parts.password is not None:
        raise UsageError(
            "the address of a PostgreSQL database must not contain a password, which the index would store; set it in "
            "PGPASSWORD or ~/.pgpass"
        )
    database = unquote(parts.path.removeprefix("/"))
    if not parts.hostname or not database or "/" in database or parts.fragment:
        raise UsageError(f"{shown_uri(uri)!r} is not the address of a PostgreSQL database; give {_POSTGRES}")
    options = options_of(parts.query, {"schema", "timeout", "sslmode"}, _POSTGRES)
    schema, sslmode = options.get("schema", default), options.get("sslmode")
    if not schema or "\0" in schema or len(schema.encode()) > _LONGEST_SCHEMA or schema.startswith("pg_"):
        raise UsageError(
            f"{schema!r} cannot be the name of a schema; give 1 to {_LONGEST_SCHEMA} letters that do not begin with pg_"
        )
    if sslmode is not None and sslmode not in _SSL_MODES:
        raise UsageError(f"sslmode must be one of {', '.join(_SSL_MODES)}, not {sslmode!r}")
    user = unquote(parts.username) if parts.username else None
    return PostgresAddress(parts.hostname, parts.port or 5432, user, database, schema, seconds_of(options), sslmode)


def located_in_postgres(uri: str, name: str) -> str:
    """Complete the URI of a store for an index of some name. Raises UsageError if it is invalid."""
    words = re.sub(r"[^a-z0-9]+", "_", name.lower()).strip("_") or "index"
    return postgres_address(uri, default=f"semsearch_{words}"[:_LONGEST_SCHEMA]).uri


def options_of(query: str, known: set[str], form: str) -> dict[str, str]:
    """The options of an address. Raises UsageError for one that is not known."""
    options = dict(parse_qsl(query, keep_blank_values=True))
    if unknown := sorted(options.keys() - known):
        raise UsageError(f"the address of a store has the unknown option {unknown[0]!r}; give {form}")
    return options


def seconds_of(options: dict[str, str]) -> float:
    """The seconds that a query may take. Raises UsageError."""
    text = options.get("timeout", f"{SECONDS:g}")
    try:
        seconds = float(text)
    except ValueError:
        seconds = 0.0
    if not 0.001 <= seconds <= 86_400:
        raise UsageError(f"timeout must be a number of seconds above 0, such as {SECONDS:g}, not {text!r}")
    return seconds


def _timeout(seconds: float) -> dict[str, str]:
    return {} if seconds == SECONDS else {"timeout": f"{seconds:g}"}


def _bracketed(host: str) -> str:
    return f"[{host}]" if ":" in host else host
