"""The files of the web interface, read from the package once, and their routes: addresses are looked up, not paths."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from functools import lru_cache
from http import HTTPStatus
from pathlib import Path

from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from semsearch.frozen import dataclass

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
}  # files of other types are not served


@dataclass(frozen=True, slots=True)
class PageFile:
    """A file of the web interface."""

    content: bytes
    media_type: str
    etag: str


@lru_cache(maxsize=1)
def page_files() -> Mapping[str, PageFile]:
    """All files of the web interface by address: index.html at `/`, the others below `/page/`."""
    paths = (path for path in sorted(_STATIC.rglob("*")) if path.suffix in _TYPES)
    return {_address(path.relative_to(_STATIC).as_posix()): _read(path) for path in paths}


def _address(name: str) -> str:
    return "/" if name == _FIRST else f"/page/{name}"


def _read(path: Path) -> PageFile:
    content = path.read_bytes()
    return PageFile(content, _TYPES[path.suffix], f'"{hashlib.sha256(content).hexdigest()[:32]}"')


def page_routes() -> list[Route]:
    """The routes of all files. They answer GET and HEAD."""
    return [Route("/", _answer), Route("/page/{name:path}", _answer)]


async def _answer(request: Request) -> Response:
    """The file, or 304 if the browser has it already."""
    file = page_files().get(request.scope["path"])
    if file is None:
        raise HTTPException(HTTPStatus.NOT_FOUND)
    headers = {"ETag": file.etag, "Cache-Control": "no-cache"}  # cached, but revalidated: a new version is used at once
    if file.etag in request.headers.get("if-none-match", ""):
        return Response(status_code=HTTPStatus.NOT_MODIFIED, headers=headers)
    return Response(file.content, media_type=file.media_type, headers=headers)
