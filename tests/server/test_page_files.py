"""The files of the page: which there are, and how they are sent."""

from __future__ import annotations

import re
from functools import cache
from pathlib import Path

import pytest
from serving import Asker, running

import semsearch.server
from semsearch.results.hits import LINELESS
from semsearch.server.open_indexes import OpenIndexes
from semsearch.server.running import ServerSettings

PAGE = Path(semsearch.server.__file__).with_name("page")
_DANGEROUS = r"innerHTML|outerHTML|insertAdjacentHTML|document\.write|\beval\(|new Function"


@cache
def page_files() -> dict[str, bytes]:
    """All files of the page by their addresses."""
    files = [path for path in PAGE.rglob("*") if path.is_file()]
    return {_address(path.relative_to(PAGE).as_posix()): path.read_bytes() for path in files}


def _address(name: str) -> str:
    return "/" if name == "index.html" else f"/page/{name}"


@pytest.mark.parametrize(("address", "kind"), [("/", "text/html"), ("/page/js/main.js", "text/javascript")])
def test_a_file_is_sent_with_its_type_and_asked_for_again(asker: Asker, address: str, kind: str) -> None:
    reply = asker.get(address)
    assert reply.status == 200
    assert reply.headers["content-type"] == f"{kind}; charset=utf-8"
    assert reply.headers["cache-control"] == "no-cache"
    assert reply.body == page_files()[address]


@pytest.mark.parametrize("address", ["/page/", "/page/../application.py", "/page/%2e%2e/application.py", "/page/js"])
def test_nothing_else_is_sent(asker: Asker, address: str) -> None:
    assert (PAGE.parent / "application.py").exists()
    assert asker.get(address).status == 404


def test_the_page_comes_without_the_token_and_its_answers_do_not(folder: Path) -> None:
    settings = ServerSettings(port=0, always_token=True)
    with running(OpenIndexes(folder=folder / "indexes"), settings) as asker:
        assert {asker.get(address).status for address in page_files()} == {200}
        assert asker.get("/v1/indexes").status == 401
        assert asker.ask("POST", "/").status == 401
        assert asker.get("/", headers={"Host": "evil.example"}).status == 421


def test_the_page_cites_without_lines_what_hits_cite_without_lines() -> None:
    names = re.search(r'LINELESS = new Set\(\s*"([a-z0-9 ]+)"', page_files()["/page/js/passages.js"].decode())
    assert names is not None
    assert {*names[1].split()} == LINELESS


def test_nothing_in_the_page_makes_markup_of_data_or_names_another_place() -> None:
    for address, file in page_files().items():
        text = file.decode()
        assert not re.search(_DANGEROUS, text), address
        assert not re.search(r"https?://(?!www\.w3\.org/)", text), address
        assert " style=" not in text, address
    assert re.search(rb"<script(?![^>]* src=)", page_files()["/"]) is None
