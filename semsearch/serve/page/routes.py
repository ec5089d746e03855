"""The routes of the search page: one for each of its files."""

from __future__ import annotations

from functools import partial
from http import HTTPStatus

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from semsearch.serve.page.files import PageFile, page_files


def page_routes() -> list[Route]:
    """The routes of all files of the page. They answer GET and HEAD."""
    return [Route(address, partial(_answer, file)) for address, file in page_files().items()]


async def _answer(file: PageFile, request: Request) -> Response:
    """The file, or 304 if the browser has it already."""
    headers = {"ETag": file.etag, "Cache-Control": "no-cache"}  # kept, but asked for: a new version is seen at once
    if file.etag in request.headers.get("if-none-match", ""):
        return Response(status_code=HTTPStatus.NOT_MODIFIED, headers=headers)
    return Response(file.content, media_type=file.media_type, headers=headers)
