"""The URIs of what is indexed: path and options apart, nothing secret."""

import pytest

from semsearch.errors import UsageError
from semsearch_scale.objects.object_store import parse_source


def test_options_are_kept_apart_from_the_path() -> None:
    assert parse_source("S3://bucket/docs/") == ("s3://bucket/docs", "")
    given = parse_source("s3://bucket/docs/?endpoint=http://x:1&region=y")
    assert given == ("s3://bucket/docs", "?endpoint=http://x:1&region=y")


def test_a_question_mark_may_be_of_a_name() -> None:
    assert parse_source("s3://bucket/docs/what?.md") == ("s3://bucket/docs/what?.md", "")
    assert parse_source("memory://docs/a?b=c") == ("memory://docs/a?b=c", "")


@pytest.mark.parametrize(
    "uri", ["sftp://ada:secret@host/docs", "s3://bucket?endpoint=http%3A%2F%2Fada%3Asecret%40host"]
)
def test_a_password_is_refused_and_not_said(uri: str) -> None:
    with pytest.raises(UsageError, match="has a password") as error:
        parse_source(uri)
    assert "secret" not in str(error.value)


@pytest.mark.parametrize(
    "uri",
    ["s3://", "s3:///", "https://example.org/docs", "zip://a::s3://bucket/b.zip", "s3://bucket/../x", "s3://b/\0"],
)
def test_what_names_no_folder_of_a_store_is_refused(uri: str) -> None:
    with pytest.raises(UsageError):
        parse_source(uri)
