"""Queries are taken apart as people mean them: quotes are phrases, a hyphen leaves out its word, others are text."""

from __future__ import annotations

import pytest

from semsearch.errors import UsageError
from semsearch.lexical.corrections import with_plain_verb
from semsearch.search.allowed_passages import QuerySyntax, parse_query


@pytest.mark.parametrize(
    ("query", "text", "must", "must_not"),
    [
        ('"key rotation"', "key rotation", ["key rotation"], []),
        ('how "key rotation" works', "how key rotation works", ["key rotation"], []),
        ('"a b" "c d"', "a b c d", ["a b", "c d"], []),
        ('is it "here"?', "is it here?", ["here"], []),
        (
            "“key rotation” „old keys“ «new keys»",
            "key rotation old keys new keys",
            ["key rotation", "old keys", "new keys"],
            [],
        ),
        ("keys -draft", "keys", [], ["draft"]),
        ("keys -draft, please", "keys  please", [], ["draft,"]),
        ('keys -"old draft" now', "keys  now", [], ["old draft"]),
        ("-aws keys", "keys", [], ["aws"]),
        ("keys -state-of-the-art", "keys", [], ["state-of-the-art"]),
        ("keys -größe", "keys", [], ["größe"]),
        ("keys -東", "keys", [], ["東"]),
        ('"a b" -c1', "a b", ["a b"], ["c1"]),
    ],
)
def test_phrases_and_words_to_leave_out_are_found(query: str, text: str, must: list[str], must_not: list[str]) -> None:
    parsed = parse_query(query, "full")
    assert (parsed.text, parsed.must, parsed.must_not) == (text, tuple(must), tuple(must_not))
    assert parse_query(query, "plain") == QuerySyntax(query)


@pytest.mark.parametrize(
    "query",
    [
        "what is -5 degrees",
        "e-mail state-of-the-art",
        "the option --rerank",
        "tar -x file",
        "ls -l, please",
        "- item",
        "a - b",
        "a -- b",
        "-",
        "a -.5 b",
        "-one item\n-two items",
        "list:\n  -one\n  -two",
        'a 5" disk and a 3" disk',
        'an "unbalanced quote',
        'an empty "" quote',
        'no word "..." here',
        'print("hello")',
        "it's 'single' quoted",
        "“unbalanced",
        "a–b –c −d",
    ],
)
def test_all_else_is_text(query: str) -> None:
    assert parse_query(query, "full") == QuerySyntax(query)


@pytest.mark.parametrize("query", ["-draft", '-"old draft"', " -draft -old ", "-draft ..."])
def test_a_query_that_only_leaves_out_is_refused(query: str) -> None:
    with pytest.raises(UsageError, match="only excludes words"):
        parse_query(query, "full")


def test_a_query_of_thousands_of_phrases_is_refused() -> None:
    with pytest.raises(UsageError, match="more than 500 phrases"):
        parse_query("ship" + " -draft" * 501, "full")
    assert len(parse_query("ship" + " -draft" * 500, "full").must_not) == 500


@pytest.mark.parametrize(
    ("question", "verb"),
    [
        ("how do I turn the search plugin off", "disable"),
        ("leave a folder out of the backup", "exclude"),
        ("Get rid of old keys", "remove"),
        ("turn the page, then go off", ""),
    ],
)
def test_a_verb_of_two_words_is_read_as_the_one_of_documents_too(question: str, verb: str) -> None:
    assert with_plain_verb(question) == f"{question} {verb}".strip()
