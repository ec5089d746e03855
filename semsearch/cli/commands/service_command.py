"""`semsearch service`: `watch` and `serve` as services of the operating system, from each login on."""

from __future__ import annotations

import os
import re
import sys
from enum import StrEnum
from hashlib import blake2b
from importlib.util import find_spec
from pathlib import Path
from typing import Annotated

import typer

from semsearch.cli.command_options import IndexesOption, complete_index
from semsearch.cli.extensible_group import ExtensibleGroup
from semsearch.cli.find_index import INDEXES, all_offered, find_asked, find_index, index_folders, nearest, none_in
from semsearch.errors import IndexNotFound, MissingExtra, UsageError
from semsearch.system import one_file
from semsearch.system.locations import log_folder
from semsearch.system.user_services import (
    PREFIX,
    Service,
    ServiceManager,
    install,
    installed,
    lasting_program,
    manager_here,
    remove,
)

_LONGEST_LOG, _KEPT_LOG = 2_000_000, 500_000  # bytes of a log: when a service starts, of a longer one so many are kept

app = typer.Typer(
    cls=ExtensibleGroup,
    rich_markup_mode=None,
    no_args_is_help=True,
    help="Run `watch` and `serve` in the background, from each login on.",
)


class Kind(StrEnum):
    """What can be a service."""

    WATCH = "watch"
    SERVE = "serve"


NamesArgument = Annotated[
    list[str] | None, typer.Argument(metavar="NAME...", help="As status prints them; default: all.")
]


@app.command("install")
def install_(
    kinds: Annotated[list[Kind], typer.Argument(metavar="watch|serve...", help="What to run.")],
    index: Annotated[
        list[str] | None,
        typer.Option(
            "--index",
            "--name",
            "-i",
            metavar="INDEX",
            help="Watch or serve this index; default: watch the only one, serve all. Repeatable.",
            autocompletion=complete_index,
        ),
    ] = None,
    port: Annotated[int, typer.Option(metavar="N", min=1, max=65535, help="Of the server.")] = 8765,
    memory: Annotated[int, typer.Option(metavar="MB", min=128, help="Memory that each may take.")] = 2000,
    nice: Annotated[int, typer.Option(metavar="N", min=0, max=19, help="How far others go first.")] = 10,
    indexes: IndexesOption = INDEXES,
) -> None:
    """Run watch, serve or both in the background, now and from each login on.

    Watching is one service for each index. They run as you, with the limits given, and are started again if they fail.
    On Linux systemd runs them, on macOS launchd, on Windows the Task Scheduler, which limits no memory. Installing
    again replaces a service; upgrades of semsearch need no change, and take effect at the next start.
    """
    manager = manager_here()
    for kind, package in ((Kind.WATCH, "watchfiles"), (Kind.SERVE, "uvicorn")):
        if kind in kinds and not is_installed(package):
            raise MissingExtra(package, kind.value)
    services = []
    if Kind.WATCH in kinds:
        named_or_only = [find_index(each, indexes) for each in index] if index else [find_index(None, indexes)]
        for folder in named_or_only:
            services.append(_service(manager, f"watch-{folder.resolve().name}", ["watch", "--index", _whole(folder)]))
    if Kind.SERVE in kinds:
        offered = [find_asked(each, indexes) for each in index or ()] or (all_offered(indexes) or {}).values()
        named = [option for place in offered for option in ("--index", _whole(place))]
        if not named and not index_folders(nearest(indexes)):
            raise IndexNotFound(none_in(indexes))
        chosen = named or ["--indexes", _whole(nearest(indexes))]
        services.append(_service(manager, "serve", ["serve", "--port", str(port), *chosen]))
    for name, arguments in services:
        log = log_folder() / f"{name}.log"
        program = lasting_program(one_file.program(), is_one_file=one_file.is_one_file())
        command = (*program, "service", "run", str(log), *arguments)
        service = Service(name, f"semsearch {' '.join(arguments)}", command, memory, nice, log)
        path = install(service, manager)
        print(f"{name}: runs `semsearch {' '.join(arguments)}`, now and from each login on")
        print(f"  {manager.state(name)}, at most {memory:,} MB, nice {nice}; log: {log}")
        print(f"  defined by {path}; `semsearch service remove {name}` stops it and deletes both files")


def is_installed(package: str) -> bool:
    """Whether a package can be imported. It is not imported."""
    return find_spec(package) is not None


def _service(manager: ServiceManager, title: str, arguments: list[str]) -> tuple[str, list[str]]:
    """The name of a service and its arguments. An index with the name of another watched one gets a longer name."""
    name = PREFIX + re.sub(r"[^A-Za-z0-9_.-]+", "-", title)
    there = installed(manager).get(name)
    if title != "serve" and there is not None and arguments[-1] not in _arguments_in(there):
        name += f"-{blake2b(arguments[-1].encode(), digest_size=3).hexdigest()}"
    return name, arguments


def _arguments_in(definition: Path) -> str:
    data = definition.read_bytes()
    return data.decode("utf-16" if data.startswith((b"\xff\xfe", b"\xfe\xff")) else "utf-8", errors="replace")


def _whole(place: Path | str) -> str:
    """The absolute path of an index: a service starts in the home folder. URIs stay."""
    return str(place.resolve()) if isinstance(place, Path) else place


@app.command("status")
def status() -> None:
    """List the services, whether they run, and their files."""
    manager = manager_here()
    found = installed(manager)
    for name, path in found.items():
        print(f"{name}: {manager.state(name)}; defined by {path}; log: {log_folder() / f'{name}.log'}")
    if not found:
        print("no service is installed; semsearch service install watch")


@app.command("logs")
def logs(
    names: NamesArgument = None,
    lines: Annotated[int, typer.Option("--lines", "-n", metavar="N", min=1, help="Of each log, the last.")] = 50,
) -> None:
    """Print the last lines of the services' logs."""
    for name in _chosen(names, manager_here()):
        log = log_folder() / f"{name}.log"
        text = log.read_text(encoding="utf-8", errors="replace") if log.exists() else ""
        for line in text.splitlines()[-lines:]:
            print(f"{name}: {line}")


@app.command("remove")
def remove_(names: NamesArgument = None) -> None:
    """Stop services and delete their files. Indexes stay."""
    manager = manager_here()
    for name in _chosen(names, manager):
        remove(name, manager)
        (log_folder() / f"{name}.log").unlink(missing_ok=True)
        print(f"{name}: stopped and removed")
    for folder in (log_folder(), manager.folder):
        _drop_empty(folder)


def _drop_empty(folder: Path) -> None:
    """Delete semsearch's own folder, and the one around it, if nothing is in them."""
    for each in (folder, folder.parent):
        if "semsearch" in (each.name, each.parent.name) and each.is_dir() and not any(each.iterdir()):
            each.rmdir()


def _chosen(names: list[str] | None, manager: ServiceManager) -> list[str]:
    """The names of installed services, in full. Raises UsageError for others, and if there is none."""
    found = installed(manager)
    chosen = [each if each.startswith(PREFIX) else PREFIX + each for each in names or found]
    if unknown := [each for each in chosen if each not in found]:
        raise UsageError(f"{', '.join(unknown)}: no such service; installed: {', '.join(found) or 'none'}")
    if not chosen:
        raise UsageError("no service is installed; semsearch service install watch")
    return chosen


@app.command("run", hidden=True, context_settings={"allow_interspersed_args": False})
def run(
    context: typer.Context,
    log: Annotated[Path, typer.Argument(metavar="LOG")],
    arguments: Annotated[list[str], typer.Argument(metavar="COMMAND...")],
) -> None:
    """Run a command of semsearch with its output in a log: what a service starts."""
    log.parent.mkdir(parents=True, exist_ok=True)
    if log.exists() and log.stat().st_size > _LONGEST_LOG:
        log.write_bytes(log.read_bytes()[-_KEPT_LOG:].partition(b"\n")[2])
    stream = log.open("a", encoding="utf-8", errors="replace", buffering=1)
    for number in (1, 2):  # libraries write there too; without a console there is neither
        os.dup2(stream.fileno(), number)
    sys.stdout = sys.stderr = stream
    context.find_root().command.main(args=arguments, prog_name="semsearch")
