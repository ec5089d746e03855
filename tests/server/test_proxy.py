"""Behind a proxy, the real nginx: what it sends on for others needs the token, however it is configured."""

from __future__ import annotations

import re
import shutil
import socket
import subprocess
import time
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path

import pytest
from serving import TOKEN, Asker, running

from semsearch.server.open_indexes import OpenIndexes
from semsearch.server.running import ServerSettings

NGINX = shutil.which("nginx") or shutil.which("nginx", path="/usr/sbin")
GUIDE = Path(__file__).parents[2] / "docs" / "developers" / "server.md"
NAME = "search.example.org"
AUTHORIZATION = {"Authorization": f"Bearer {TOKEN}"}
WHOLE = """
daemon off; pid {folder}/pid; error_log {folder}/errors;
events {{ }}
http {{
    access_log off;
    client_body_temp_path {folder}/body; proxy_temp_path {folder}/proxy; fastcgi_temp_path {folder}/fastcgi;
    uwsgi_temp_path {folder}/uwsgi; scgi_temp_path {folder}/scgi;
    server {{ listen 127.0.0.1:{port}; {location} }}
}}
"""

pytestmark = pytest.mark.skipif(NGINX is None, reason="nginx is not installed")


def of_guide() -> str:
    """The location that the guide shows."""
    found = re.search(r"<!-- proxy: nginx -->\n```nginx\n(.*?)```", GUIDE.read_text(encoding="utf-8"), re.DOTALL)
    assert found is not None
    return found[1]


def without(directive: str) -> str:
    """The location of the guide without the lines that have a text."""
    kept = [line for line in of_guide().splitlines() if directive not in line]
    assert len(kept) < len(of_guide().splitlines())
    return "\n".join(kept)


@contextmanager
def proxied(asker: Asker, location: str, folder: Path) -> Iterator[Asker]:
    """A client of nginx, which sends on to a server."""
    with closing(socket.create_server(("127.0.0.1", 0))) as probe:
        port = probe.getsockname()[1]
    text = WHOLE.format(
        folder=folder, port=port, location=location.replace("127.0.0.1:8765", f"127.0.0.1:{asker.port}")
    )
    (folder / "nginx.conf").write_text(text, encoding="utf-8")
    command = [NGINX or "", "-e", str(folder / "errors"), "-p", str(folder), "-c", str(folder / "nginx.conf")]
    with subprocess.Popen(command) as process:
        try:
            until_listening(process, port)
            yield Asker(port)
        finally:
            process.terminate()


def until_listening(process: subprocess.Popen[bytes], port: int) -> None:
    """Wait until a process accepts connections."""
    while process.poll() is None:
        try:
            socket.create_connection(("127.0.0.1", port), timeout=60).close()
        except ConnectionRefusedError:
            time.sleep(0.01)
        else:
            return
    pytest.fail("nginx did not start")


@pytest.mark.parametrize("missing", ["", "X-Forwarded", "Host", "proxy_set_header", "proxy_"])
def test_what_nginx_sends_on_needs_the_token(folder: Path, tmp_path: Path, missing: str) -> None:
    location = without(missing) if missing else of_guide()
    if missing == "proxy_":  # as nginx is where nothing else is said
        location = "location / { proxy_pass http://127.0.0.1:8765; }"
    if missing == "proxy_set_header":
        location = location.replace("proxy_http_version 1.1;", "proxy_set_header Host $host;")
    settings = ServerSettings(port=0, allowed_hosts=(NAME,))
    with (
        running(OpenIndexes(folder=folder / "indexes"), settings) as asker,
        proxied(asker, location, tmp_path) as proxy,
    ):
        assert asker.get("/v1/indexes").status == 200
        assert proxy.get("/v1/indexes", headers={"Host": NAME}).status == 401
        assert proxy.get("/v1/indexes", headers={"Host": NAME, **AUTHORIZATION}).status == 200
