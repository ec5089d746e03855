"""The files of the web interface, read from the package once, and their routes.

Files. The files of the search page, read from the package once. A request chooses among them by address, never by
path.

Routes. The routes of the search page: one for each of its files.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache, partial
from http import HTTPStatus
from pathlib import Path

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

# -- Files -------------------------------------------------------------------------------------------------------------

_STATIC = Path(__file__).with_name("static")
_FIRST = "index.html"
_TYPES = {
    ".html": "text/html; charset=utf-8",
    ".css": "text/css; charset=utf-8",
    ".js": "text/javascript; charset=utf-8",
    ".mjs": "text/javascript; charset=utf-8",
    ".svg": "image/svg+xml",
    ".png": "image/png",
}  # a file of another type is not part of the page


@dataclass(frozen=True, slots=True)
class PageFile:
    """A file of the page, as it is sent."""

    content: bytes
    media_type: str
    etag: str


@lru_cache(maxsize=1)
def page_files() -> Mapping[str, PageFile]:
    """All files of the page by address: index.html at `/`, the others below `/page/`."""
    paths = (path for path in sorted(_STATIC.rglob("*")) if path.suffix in _TYPES)
    return {_address(path.relative_to(_STATIC).as_posix()): _read(path) for path in paths}


def _address(name: str) -> str:
    return "/" if name == _FIRST else f"/page/{name}"


def _read(path: Path) -> PageFile:
    content = path.read_bytes()
    return PageFile(content, _TYPES[path.suffix], f'"{hashlib.sha256(content).hexdigest()[:32]}"')


# -- Routes ------------------------------------------------------------------------------------------------------------


def page_routes() -> list[Route]:
    """The routes of all files of the page. They answer GET and HEAD."""
    return [Route(address, partial(_answer, file)) for address, file in page_files().items()]


async def _answer(file: PageFile, request: Request) -> Response:
    """The file, or 304 if the browser has it already."""
    headers = {"ETag": file.etag, "Cache-Control": "no-cache"}  # kept, but asked for: a new version is seen at once
    if file.etag in request.headers.get("if-none-match", ""):
        return Response(status_code=HTTPStatus.NOT_MODIFIED, headers=headers)
    return Response(file.content, media_type=file.media_type, headers=headers)
