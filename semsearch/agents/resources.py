"""Documents as resources, which a user can attach to a conversation: `semsearch://notes/keys.md`.

A fragment names a line or a place: `semsearch://notes/keys.md#L12`, `semsearch://talks/a.pptx#slide%203`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from itertools import islice
from typing import TYPE_CHECKING, Any
from urllib.parse import quote, unquote, urlsplit

from semsearch.agents.citations import CitedPlace, cursor_at, harmless, offset_of, read_part
from semsearch.agents.jsonrpc import INVALID_PARAMS, Json, RpcError
from semsearch.errors import SemsearchError, UsageError

if TYPE_CHECKING:
    from semsearch.serve.open_indexes import OpenIndexes

_PAGE = 100
_MOST = 1000  # listed documents; clients fetch all pages for a menu, and any document can be read by its URI
_MOST_WORDS = 5_000  # of a resource; the rest is for the tool read
_TYPE = "text/plain"
TEMPLATE: Json = {
    "uriTemplate": "semsearch://{index}/{+document}",
    "name": "document",
    "title": "A document of an index",
    "description": "A document by its index and path; #L12 for the passages around line 12.",
    "mimeType": _TYPE,
}


def resources(method: str, indexes: Callable[[], OpenIndexes], params: Mapping[str, Any]) -> Json:
    """Answer one of the methods of resources. Raises RpcError."""
    if method == "resources/templates/list":
        return {"resourceTemplates": [TEMPLATE]}
    return (list_resources if method == "resources/list" else read_resource)(indexes(), params)


def uri_of(index: str, document: str) -> str:
    """The URI of a document."""
    return f"semsearch://{quote(index, safe='', errors='replace')}/{quote(document, errors='replace')}"


def list_resources(indexes: OpenIndexes, params: Mapping[str, Any]) -> Json:
    """List the first documents of all indexes, a page at a time. Raises RpcError for an invalid cursor."""
    cursor = params.get("cursor")
    if cursor is not None and not isinstance(cursor, str):
        raise RpcError(INVALID_PARAMS, "the cursor must be a string")
    try:
        offset = offset_of({"cursor": cursor})
    except UsageError as error:
        raise RpcError(INVALID_PARAMS, str(error)) from None
    page = list(islice(_each(indexes), offset, min(offset + _PAGE + 1, _MOST)))
    found: Json = {"resources": page[:_PAGE]}
    return found | ({"nextCursor": cursor_at(offset + _PAGE, {})} if len(page) > _PAGE else {})


def _each(indexes: OpenIndexes) -> Iterator[Json]:
    for name in indexes.names():
        try:
            for each in indexes.get(name).documents():
                title = {"title": harmless(each.title)} if each.title else {}
                yield {"uri": uri_of(name, each.document), "name": harmless(each.path), **title, "mimeType": _TYPE}
        except SemsearchError:
            continue  # the tool status reports a damaged index


def read_resource(indexes: OpenIndexes, params: Mapping[str, Any]) -> Json:
    """Read the document of a URI, or the passages around its line or place. Raises RpcError."""
    uri = params.get("uri")
    if not isinstance(uri, str):
        raise RpcError(INVALID_PARAMS, "uri must be a string")
    try:
        return {"contents": [{"uri": uri, "mimeType": _TYPE, "text": harmless(_text(indexes, uri))}]}
    except (SemsearchError, ValueError) as error:
        raise RpcError(INVALID_PARAMS, str(error), {"uri": uri}) from None


def _text(indexes: OpenIndexes, uri: str) -> str:
    parts = urlsplit(uri)
    if parts.scheme != "semsearch":
        raise UsageError("the URI of a document must start with semsearch://")
    index = indexes.get(unquote(parts.netloc))
    document, place = unquote(parts.path.removeprefix("/")), unquote(parts.fragment)
    number = place[1:10] if place.startswith("L") else ""
    is_line = number.isascii() and number.isdigit()
    cited = CitedPlace(document, int(number)) if is_line else CitedPlace(f"{document} {place}".rstrip())
    found = read_part(index, cited, around=1, start=None, max_words=_MOST_WORDS)
    texts = [text for passage in found.passages for text in (*passage.headings[-1:], passage.text)]
    return "\n\n".join([*texts, "…"] if found.next is not None else texts)
