"""Who may ask what: names, origins, tokens, addresses."""

from __future__ import annotations

import socket

import pytest
from serving import TOKEN, Asker

from semsearch.server.access import LOOPBACK_NAMES, AccessRules, RequestFacts
from semsearch.server.running import ServerSettings

RULES = AccessRules(TOKEN, LOOPBACK_NAMES, reading_posts=frozenset({"/v1/search"}))
BEARER = {"authorization": f"Bearer {TOKEN}"}


def status(
    method: str = "GET",
    path: str = "/v1/search",
    client: str | None = "127.0.0.1",
    rules: AccessRules = RULES,
    **headers: str,
) -> int:
    """The status of the refusal of a request; 200 where there is none."""
    named = {"host": "localhost:8765"} | {name.replace("_", "-"): value for name, value in headers.items()}
    refusal = rules.refusal(RequestFacts(method, path, client, named))
    return 200 if refusal is None else int(refusal.status)


def test_reading_from_this_machine_needs_no_token() -> None:
    assert status() == status("HEAD") == status("POST", "/v1/search") == 200
    assert status(client="::1") == status(client="::ffff:127.0.0.1") == status(client="127.9.9.9") == 200


@pytest.mark.parametrize("client", ["192.0.2.7", "2001:db8::1", "::ffff:192.0.2.7", None, "unknown"])
def test_others_need_the_token(client: str | None) -> None:
    assert status(client=client) == 401
    assert status(client=client, **BEARER) == 200


@pytest.mark.parametrize(
    "header",
    ["forwarded", "x_forwarded_for", "x_forwarded_host", "x_forwarded_proto", "x_real_ip", "via", "cf_connecting_ip"],
)
def test_what_a_proxy_sends_on_needs_the_token(header: str) -> None:
    assert status(**{header: "192.0.2.7"}) == 401
    assert status(**{header: "192.0.2.7"}, **BEARER) == 200


def test_what_came_by_a_public_name_or_in_an_old_protocol_needs_the_token() -> None:
    rules = ServerSettings(allowed_hosts=("search.example",)).rules(TOKEN, ())
    assert status(rules=rules, host="search.example") == 401
    assert status(rules=rules, host="search.example", **BEARER) == 200
    assert status(rules=rules, host="127.0.0.1:8765") == 200
    old = RequestFacts("GET", "/v1/search", "127.0.0.1", {"host": "127.0.0.1:8765"}, http_version="1.0")
    refusal = RULES.refusal(old)
    assert refusal is not None
    assert refusal.status == 401


@pytest.mark.parametrize("method", ["PUT", "DELETE", "POST", "PATCH", "OPTIONS"])
def test_writing_needs_the_token(method: str) -> None:
    assert status(method, "/v1/sync") == 401
    assert status(method, "/v1/sync", **BEARER) == 200


def test_the_token_may_be_needed_always() -> None:
    rules = AccessRules(TOKEN, LOOPBACK_NAMES, always_token=True)
    assert status(rules=rules) == 401
    assert status(rules=rules, **BEARER) == 200


@pytest.mark.parametrize(
    "host", ["evil.example", "localhost.evil.example", "", "[::2]", "10.0.0.1", "127.0.0.1.evil", "127.0.0.1:1@evil"]
)
def test_another_name_is_refused_even_with_the_token(host: str) -> None:
    assert status(host=host, **BEARER) == 421


def test_a_server_for_others_may_be_called_by_address_and_by_the_names_it_is_given() -> None:
    rules = ServerSettings(host="0.0.0.0", allowed_hosts=("Search.Example",)).rules(TOKEN, ())
    assert status(rules=rules, host="search.example", **BEARER) == 200
    assert status(rules=rules, host="10.0.0.1:8765", **BEARER) == 200
    assert status(rules=rules, host="evil.example", **BEARER) == 421
    assert status(rules=ServerSettings(host="10.0.0.1").rules(TOKEN, ()), host="10.0.0.1", **BEARER) == 200


@pytest.mark.parametrize("origin", ["http://evil.example", "null", "http://localhost", "http://localhost:3000", ""])
def test_pages_of_other_origins_are_refused_even_with_the_token(origin: str) -> None:
    assert status(origin=origin, **BEARER) == 403
    assert status("POST", origin=origin, **BEARER) == 403


def test_pictures_and_scripts_of_other_sites_are_refused_but_links_lead_here() -> None:
    assert status(sec_fetch_site="cross-site", sec_fetch_mode="no-cors") == 403
    assert status(sec_fetch_site="same-site", sec_fetch_mode="cors") == 403
    assert status(sec_fetch_site="cross-site", sec_fetch_mode="navigate") == 200
    assert status("POST", sec_fetch_site="cross-site", sec_fetch_mode="navigate") == 403


def test_the_rules_stand_before_every_address(asker: Asker) -> None:
    for path in ("/health", "/v1/search", "/nothing"):
        assert asker.get(path, headers={"Host": "evil.example"}).status == 421
        assert asker.get(path, headers={"Origin": "http://evil.example"}).status == 403
    refused = asker.ask("DELETE", "/v1/documents/added")
    assert refused.status == 401
    assert refused.headers["www-authenticate"].startswith("Bearer")
    assert "--show-token" in refused.detail


def test_a_request_with_two_hosts_is_refused(asker: Asker) -> None:
    with socket.create_connection(("127.0.0.1", asker.port), timeout=60) as connection:
        connection.sendall(b"GET /health HTTP/1.1\r\nHost: localhost\r\nHost: 127.0.0.1\r\n\r\n")
        assert connection.recv(4096).startswith(b"HTTP/1.1 400 ")


def test_every_answer_has_the_security_headers(asker: Asker) -> None:
    for reply in (asker.get("/health"), asker.get("/nothing"), asker.get("/health", headers={"Host": "evil.example"})):
        assert reply.headers["x-content-type-options"] == "nosniff"
        assert "script-src 'self'" in reply.headers["content-security-policy"]
        assert "unsafe" not in reply.headers["content-security-policy"]
        assert "frame-ancestors 'none'" in reply.headers["content-security-policy"]
        assert reply.headers["cache-control"] == "no-store"
        assert "server" not in reply.headers
