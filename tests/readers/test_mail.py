"""Mail, as Python's own library and common programs write it."""

from __future__ import annotations

import mailbox
from email.message import EmailMessage
from pathlib import Path

import pytest
from cited import check_whole, places

from semsearch.errors import SourceError
from semsearch.readers.document import Document
from semsearch.readers.read import read_bytes
from semsearch.results.omissions import Omission
from semsearch.text.passages import passages

TEXT = "Dear Bob,\n\nthe moon pulls the sea. Größe zählt, too.\n\nFrom here it moves.\n"


def message(subject: str = "Höhe der Flut", text: str = TEXT, **others: str) -> EmailMessage:
    made = EmailMessage()
    made["Subject"], made["From"], made["To"] = subject, "Ann Lee <ann@x.org>", "bob@y.org"
    made["Date"] = "Wed, 01 May 2024 10:00:00 +0200"
    made.set_content(text, **others)
    return made


def read(data: bytes, name: str = "note.eml") -> Document:
    return read_bytes(data, name)


HEAD = "From: Ann Lee <ann@x.org>\nTo: bob@y.org\nDate: Wed, 01 May 2024 10:00:00 +0200"
PARAGRAPHS = ["Dear Bob,", "the moon pulls the sea. Größe zählt, too.", "From here it moves."]


@pytest.mark.parametrize("coding", ["base64", "quoted-printable", "8bit"])
@pytest.mark.parametrize("charset", ["utf-8", "iso-8859-1"])
def test_a_message_is_its_subject_its_people_and_its_text(coding: str, charset: str) -> None:
    document = read(message(cte=coding, charset=charset).as_bytes())
    assert [(block.text, block.level) for block in document.blocks] == [
        ("Höhe der Flut", 1),
        (HEAD, 0),
        *((text, 0) for text in PARAGRAPHS),
    ]
    assert (document.title, document.format) == ("Höhe der Flut", "mail")
    assert document.metadata["from"] == "Ann Lee <ann@x.org>"
    check_whole(document, ["Größe zählt, too.", "From here it moves."])


def test_of_two_forms_the_plain_one_is_read_and_html_where_it_is_alone() -> None:
    both = message()
    both.add_alternative("<p>not this</p>", subtype="html")
    both.add_attachment(b"\x00\x01", maintype="image", subtype="png", filename="a.png")
    assert [block.text for block in read(both.as_bytes()).blocks[2:]] == PARAGRAPHS
    only = message("Hi")
    only.set_content("<p>One <b>bold</b>.</p><p>Two.</p>", subtype="html")
    assert [block.text for block in read(only.as_bytes()).blocks[2:]] == ["One bold.", "Two."]


def test_attachments_are_counted_and_named_but_for_signatures_and_messages() -> None:
    mail = message()
    mail.add_alternative("<p>not this</p>", subtype="html")
    assert read(mail.as_bytes()).omissions == ()
    for name in ("a.png", "b.pdf", "c.doc", "d.bin"):
        mail.add_attachment(b"\x00\x01", maintype="application", subtype="octet-stream", filename=name)
    mail.add_attachment(b"x", maintype="application", subtype="pgp-signature", filename="signature.asc")
    inner = message("Inner", "The sea.")
    inner.add_attachment(b"\x00\x01", maintype="image", subtype="png", filename="e.png")
    mail.add_attachment(inner)
    assert read(mail.as_bytes()).omissions == (Omission("attachments", 5, "a.png, b.pdf, c.doc, ..."),)


def test_what_is_encrypted_and_what_was_guessed_is_said() -> None:
    secret = b"Subject: Tides\nContent-Type: multipart/encrypted; boundary=x\n\n--x\n\nab\n--x--\n"
    assert read(secret).omissions == (Omission("encrypted parts"),)
    old = b"Subject: Tides\nContent-Transfer-Encoding: 8bit\n\n" + "Łódź".encode("cp1250")
    assert [omission.kind for omission in read(old).omissions] == ["doubtful encoding"]


def test_a_forwarded_message_is_read_once() -> None:
    outer = message("Outer", "See below.")
    outer.add_attachment(message("Inner", "The sea."))
    assert [block.text for block in read(outer.as_bytes()).blocks] == [
        "Outer", HEAD, "See below.", "Inner", HEAD, "The sea."
    ]  # fmt: skip
    assert [block.place for block in read(outer.as_bytes()).blocks] == [None] * 3 + ["attached message 1"] * 3


def test_a_message_without_a_subject_does_not_stand_under_the_one_before() -> None:
    bare = EmailMessage()
    bare.set_content("It moves.\n")
    mailbox_ = b"".join(b"From - Wed May  1 10:00:00 2024\n" + each.as_bytes() + b"\n" for each in (message(), bare))
    assert [(passage.headings, passage.places) for passage in passages(read(mailbox_, "all.mbox"))] == [
        (("Höhe der Flut",), ((0, "message 1"),)),
        ((), ((0, "message 2"),)),
    ]


def test_a_mailbox_is_its_messages(tmp_path: Path) -> None:
    box = mailbox.mbox(tmp_path / "all.mbox")
    for number in range(50):
        box.add(message(f"Number {number}", f"Text {number} here.\n\nFrom here on.\n>From old.\n"))
    box.flush()
    box.close()
    document = read((tmp_path / "all.mbox").read_bytes(), "all.mbox")
    wanted = [(f"message {n + 1}", f"Number {n}") for n in range(50)]
    assert [(place, text) for place, text in places(document) if text.startswith("Number")] == wanted
    assert document.title == "all"
    assert "From here on.\nFrom old." in document.blocks[3].text
    check_whole(document, [f"Text {number} here." for number in range(50)])


def test_headers_and_encodings_that_are_broken_cost_nothing_else() -> None:
    data = (
        b"Subject: =?nothing?q?x?=\nFrom: <<>>,;\nDate: never\nContent-Type: text/plain; charset=martian\n\nThe sea.\n"
    )
    assert read(data).blocks[-1].text == "The sea."
    assert read(data.replace(b"martian", b"a\0b")).blocks[-1].text == "The sea."
    assert read(data.replace(b"martian", b"undefined")).blocks[-1].text == "The sea."
    assert read(b"Subject: x\nContent-Type: multipart/mixed; boundary=b\n\n--b\n\nThe sea").blocks[0].text == "x"


def test_what_is_no_mail_is_an_error_and_an_empty_file_is_empty() -> None:
    for name in ("note.eml", "all.mbox"):
        with pytest.raises(SourceError, match="is not mail"):
            read(b"Some words, nothing else.", name)
        assert read(b"", name).blocks == []


def test_a_header_without_an_end_takes_no_time() -> None:
    data = (
        b"Subject: Tide\nContent-Type: text/plain; " + b"a=b; " * 100_000 + b"\n\nThe sea.\n"
    )  # in full, a minute and more
    document = read_bytes(data, "a.eml")
    assert document.title == "Tide"
    assert document.blocks[-1].text == "The sea."
