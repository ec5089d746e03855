"""The socket that a server listens on, and what is said of it."""

from __future__ import annotations

import pytest

from semsearch.errors import UsageError
from semsearch.server.running import ServerSettings, is_open_to_others, listen


def test_a_port_that_is_taken_is_an_error_that_says_what_to_do() -> None:
    with listen(ServerSettings(port=0)) as listening:
        port = listening.getsockname()[1]
        with pytest.raises(UsageError, match=rf"on 127\.0\.0\.1 port {port} \([^()]*\); choose another"):
            listen(ServerSettings(port=port))
    with pytest.raises(UsageError, match="cannot listen on"):
        listen(ServerSettings(host="192.0.2.1", port=0))
    with pytest.raises(UsageError, match="from 0 to 65535, not 70000"):
        listen(ServerSettings(port=70_000))


@pytest.mark.parametrize(
    ("host", "is_open"),
    [
        ("127.0.0.1", False),
        ("::1", False),
        ("localhost", False),
        ("0.0.0.0", True),
        ("10.0.0.1", True),
        ("here.example", True),
    ],
)
def test_a_server_that_others_reach_is_known_as_such(host: str, is_open: bool) -> None:
    assert is_open_to_others(ServerSettings(host=host)) == is_open
