"""The commands, and the groups of commands."""

from .ask_command import ask as ask
from .evaluate_command import evaluate_group as evaluate_group
from .index_command import index as index
from .list_commands import delete as delete, describe as describe, list_ as list_
from .query_command import context as context, query as query, similar as similar
from .server_commands import mcp as mcp, serve as serve
from .setup_commands import config as config, doctor as doctor, vectors_group as vectors_group
from .status_commands import status as status, trust as trust, verify as verify
from .upkeep_commands import (
    export as export,
    import_ as import_,
    refit as refit,
    remove as remove,
    watch as watch,
)
