"""A model behind the OpenAI protocol: streams in any pieces, what servers leave out, and where nothing is sent."""

from __future__ import annotations

import threading
from typing import Any

import pytest
from servers.chat_server import STREAM, ChatReply, chat_server, events, refused, streamed, whole

from semsearch.chat import ChatModels, answer_sentences, request_body
from semsearch.errors import ServerError, UsageError

TEXT = "Der Käpt'n segelt 🚢 nach Kōbe [1]. 船は港にあります[2]。"
BODY = request_body("tiny", [{"role": "user", "content": "Wohin?"}])


@pytest.fixture(autouse=True)
def _no_proxies(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("http_proxy", "HTTP_PROXY", "no_proxy", "NO_PROXY", "all_proxy", "ALL_PROXY"):
        monkeypatch.delenv(name, raising=False)


def answer_to(reply: ChatReply) -> str:
    with chat_server(reply) as server:
        return "".join(ChatModels(server.url).answer(BODY))


@pytest.mark.parametrize("size", [1, 2, 3, 5, 11, 64, 100_000])
def test_a_stream_is_the_same_wherever_it_is_divided(size: int) -> None:
    assert answer_to(streamed(TEXT, size=size)) == TEXT


@pytest.mark.parametrize(
    "body",
    [
        events(TEXT, between="\n"),  # no blank lines
        events(TEXT, between="\r\n\r\n"),
        events(TEXT, done=False),  # no [DONE]
        events(TEXT, reason=None),  # no reason to stop
        b": a comment\n\nevent: message\nid: 3\n" + events(TEXT).replace(b"data: ", b"data:"),
        b'data: {"choices": [], "usage": {"total_tokens": 9}}\n\n' + events(TEXT),
        b'data: {"choices": [{"delta": {"reasoning_content": "Hm.", "content": null}}]}\n\n' + events(TEXT),
        b'data: {"choices": [{"delta": {}}, {"delta": {"content": "another answer"}}]}\n\n' + events(TEXT),
    ],
    ids=range(8),
)
def test_what_servers_leave_out_or_add_changes_nothing(body: bytes) -> None:
    assert answer_to(ChatReply([body], kind=STREAM)) == TEXT


def test_a_server_that_does_not_stream_is_understood() -> None:
    assert answer_to(whole(TEXT)) == TEXT


def test_a_sentence_is_there_before_the_next_one_is_made() -> None:
    both = events("It sails [1]. The", " anchor is old [2].")
    first = both.index(b" anchor")
    made = threading.Event()
    with chat_server(ChatReply([both[:first], both[first:]], kind=STREAM, waits=made)) as server:
        sentences = answer_sentences(ChatModels(server.url).answer(BODY), [1, 2])
        assert next(sentences).text == "It sails [1]."
        made.set()
        assert [sentence.text for sentence in sentences] == ["The anchor is old [2]."]


def test_a_server_that_says_nothing_is_not_waited_for_without_an_end() -> None:
    for pieces in ([b""], [events("It", reason=None, done=False), b""]):
        silent = ChatReply(pieces, kind=STREAM, waits=threading.Event())
        said = r"no data for 0\.2 seconds; model\.seconds"
        with chat_server(silent) as server, pytest.raises(ServerError, match=said):
            list(ChatModels(server.url, seconds=0.2).answer(BODY))


@pytest.mark.parametrize("hangs_up", [True, False])
def test_a_connection_that_ends_before_the_answer_is_an_error(hangs_up: bool) -> None:
    reply = ChatReply([events("It sails", reason=None, done=False)], kind=STREAM, hangs_up=hangs_up)
    with chat_server(reply) as server:
        pieces = ChatModels(server.url).answer(BODY)
        assert next(pieces) == "It sails"
        with pytest.raises(ServerError, match="the connection ended before the answer did"):
            next(pieces)


@pytest.mark.parametrize(
    "error",
    [
        {"message": "This model's maximum context length is 4096 tokens. However, you requested 9000 tokens"},
        {"message": "no", "code": "context_length_exceeded"},
        {"code": 400, "message": "the request exceeds the available context size", "type": "exceed_context_size_error"},
        "prompt is too long: 9000 tokens > 4096 maximum",
    ],
)
def test_servers_say_in_their_own_words_that_there_is_no_room(error: object) -> None:
    with pytest.raises(ServerError, match=r"too long for the model.*smaller --max-words"):
        answer_to(refused(400, error))


def test_a_model_that_takes_no_temperature_is_asked_without() -> None:
    refusal = refused(400, {"message": "Unsupported value: 'temperature' does not support 0 with this model."})
    with chat_server(refusal, whole(TEXT)) as server:
        assert "".join(ChatModels(server.url).answer(BODY)) == TEXT
    assert server.bodies == [BODY, {key: value for key, value in BODY.items() if key != "temperature"}]
    assert BODY["temperature"] == 0


def test_an_endless_answer_is_not_kept() -> None:
    event = events("x" * (1 << 20), reason=None, done=False)
    with pytest.raises(ServerError, match="longer than any"):
        answer_to(ChatReply([event] * 6, kind=STREAM))
    with pytest.raises(ServerError, match="longer than any"):
        answer_to(ChatReply([event.replace(b'"content"', b'"reasoning_content"')] * 6, kind=STREAM))
    with pytest.raises(ServerError, match="a line of more than 4 MB"):
        answer_to(ChatReply([b"data: " + b"x" * (1 << 20)] * 6, kind=STREAM))
    with pytest.raises(ServerError, match="more than 4 MB"):
        answer_to(ChatReply([b"x" * (1 << 20)] * 6))


def test_a_redirection_is_not_followed_and_gets_no_key() -> None:
    with chat_server(whole(TEXT)) as other:
        moved = ChatReply([b""], 308, headers=(("Location", f"{other.url}/chat/completions"),))
        with chat_server(moved) as server, pytest.raises(ServerError, match=r"leads elsewhere \(308\)"):
            list(ChatModels(server.url, key="secret").answer(BODY))
    assert other.paths == []


def test_what_goes_to_this_machine_passes_no_proxy_and_the_rest_does(monkeypatch: pytest.MonkeyPatch) -> None:
    with chat_server(whole(TEXT)) as server, chat_server(ChatReply([b""], 404)) as proxy:
        monkeypatch.setenv("http_proxy", f"http://127.0.0.1:{proxy.port}")
        assert "".join(ChatModels(server.url).answer(BODY)) == TEXT
        assert proxy.paths == []
        with pytest.raises(ServerError):
            ChatModels("http://models.example/v1", plain_http=True).names()
        assert proxy.paths == ["http://models.example/v1/models"]


def test_tls_is_not_given_up() -> None:
    with chat_server(whole(TEXT)) as server, pytest.raises(ServerError, match="does not answer"):
        list(ChatModels(server.url.replace("http:", "https:")).answer(BODY))
    assert server.paths == []


@pytest.mark.parametrize(
    "url", ["http://127.0.0.1.example/v1", "http://10.0.0.3/v1", "http://[::2]/v1", "http://box/v1"]
)
def test_plain_http_to_another_machine_must_be_allowed(url: str) -> None:
    with pytest.raises(UsageError, match="without encryption"):
        ChatModels(url)
    assert not ChatModels(url, plain_http=True).is_local
    assert not ChatModels(url.replace("http:", "https:")).is_local


def test_an_address_that_is_no_text_is_refused() -> None:
    with pytest.raises(UsageError, match="None"):
        ChatModels(None)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("key", "seconds"),
    [("a b", 1.0), ("a\r\nHost: b", 1.0), ("", 1.0), ("ö", 1.0), (5, 1.0), (None, 0.0), (None, 1e12), (None, "soon")],
)
def test_keys_and_times_that_make_no_sense_are_refused(key: Any, seconds: Any) -> None:
    with pytest.raises(UsageError) as raised:
        ChatModels("http://127.0.0.1/v1", key=key, seconds=seconds)
    assert not key or str(key) not in str(raised.value)
