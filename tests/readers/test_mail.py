"""Mail, as Python's own library and common programs write it."""

from __future__ import annotations

import base64
import mailbox
import zlib
from email.message import EmailMessage
from pathlib import Path

import pytest
from cited import check_whole, places

from semsearch.errors import SourceError
from semsearch.readers.document import Document
from semsearch.readers.read import read_bytes

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


def test_attachments_that_cannot_be_read_are_named_with_the_reason_but_for_signatures() -> None:
    mail = message()
    mail.add_alternative("<p>not this</p>", subtype="html")
    assert read(mail.as_bytes()).omissions == ()
    for name in ("a.psd", "b.pdf", "c.dwg", "d.bin"):
        mail.add_attachment(b"\x00\x01", maintype="application", subtype="octet-stream", filename=name)
    mail.add_attachment(b"x", maintype="application", subtype="pgp-signature", filename="signature.asc")
    inner = message("Inner", "The sea.")
    inner.add_attachment(b"\x00\x01", maintype="image", subtype="png", filename="e.psd")
    mail.add_attachment(inner)
    binary, damaged = read(mail.as_bytes()).omissions
    assert (binary.kind, binary.count) == ("attachments", 4)
    assert binary.detail == "a.psd, c.dwg, d.bin, ...: is binary, and has no reader"
    assert (damaged.count, damaged.detail[:29]) == (1, "b.pdf: cannot be read as PDF:")


def with_attachments() -> EmailMessage:
    mail = message()
    mail.add_attachment("# Tides\n\nOne *line*.\n\nThe second paragraph.\n", subtype="markdown", filename="notes.md")
    mail.add_attachment(b"ship,sea\nAnn,calm\n", maintype="text", subtype="csv", filename="../../ships.csv")
    mail.add_attachment(b"words", maintype="text", subtype="plain")
    return mail


def test_attached_files_are_read_by_their_readers_with_their_place() -> None:
    document = read(with_attachments().as_bytes())
    assert places(document)[5:] == [
        ("attachment notes.md", "Tides"),
        ("attachment notes.md, line 3", "One line."),
        ("attachment notes.md, line 5", "The second paragraph."),
        ("attachment ships.csv", "ships"),
        ("attachment ships.csv, row 2", "ship: Ann\nsea: calm"),
        ("attachment 4.txt", "4"),
        ("attachment 4.txt, line 1", "words"),
    ]
    assert document.omissions == ()


QUOTING = "I think so.\n\n> the moon pulls the\n> sea. Größe zählt, too.\n>\n> > An older word.\n\nUntil then.\n"


def test_what_a_reply_quotes_is_a_part_of_its_own_without_marks() -> None:
    assert places(read(message("Re: Flut", QUOTING).as_bytes()))[2:] == [
        (None, "I think so."),
        ("quoted", "the moon pulls the\nsea. Größe zählt, too."),
        ("quoted", "An older word."),
        (None, "Until then."),
    ]
    below = "Yes.\n\n-----Original Message-----\nFrom: Bob\n\nShall we sail?\n"
    assert places(read(message("Re: Flut", below).as_bytes()))[-1] == ("quoted", "Shall we sail?")
    page = message()
    page.set_content("<p>Yes.</p><div class='gmail_quote'><blockquote>Shall we?</blockquote></div>", subtype="html")
    assert places(read(page.as_bytes()))[2:] == [(None, "Yes."), ("quoted", "Shall we?")]


def test_what_an_earlier_message_of_the_mailbox_says_is_not_read_again() -> None:
    both = (message(), message("Re: Flut", QUOTING))
    document = read(
        b"".join(b"From - Wed May  1 10:00:00 2024\n" + each.as_bytes() + b"\n" for each in both), "all.mbox"
    )
    assert places(document)[-3:] == [
        ("message 2", "I think so."),
        ("message 2, quoted", "An older word."),
        ("message 2", "Until then."),
    ]


@pytest.mark.parametrize(
    "name", ["cur/1700000000.M1P2.mail.example.org:2,S", "new/1700000000.M1P2.x.md", "cur/1700000000.M1!2,S"]
)
def test_a_file_of_a_maildir_is_mail_whatever_its_name_ends_with(name: str) -> None:
    assert read(b"Subject: Tide\n\nThe sea.\n", name).format == "mail"


@pytest.mark.parametrize("first", ["Received", "Delivered-To", "Message-ID"])
def test_a_message_needs_no_ending_but_a_letter_is_no_mail(first: str) -> None:
    assert read(f"{first}: x\nFrom: a@x.org\nSubject: Tide\n\nThe sea.\n".encode(), "saved").format == "mail"
    assert read(b"From: Ann\nTo: Bob\n\nThe sea.\n", "letter.txt").format == "text"


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


# -- Outlook -----------------------------------------------------------------------------------------------------------

MSG = (  # a message with a text, HTML and an attached file, packed
    "c-rk*-A^M`6hG5}X-jEgp@8x^?6;_;A3%d4$Sy)+B4)GVi_z3VN7{rfP1`jPL$dJ?FuWTRO?>cGpL}x@U-U_yP5erH@l9X!3F^7GcZRuSq32H9"
    "C7W=XGc%_%_x|qrxaXd^bNJJh-@o{J_zyTmi=e}CEeM9|KMmPu3%zxj@o}wIv;VGL(lbRz$jpB_`mO`H6Pfwkj~qY_B6lH&kh_JiBY5tqhX7nb"
    "?nCYu_b%z#qGLr43qQNr_J0(40C^C32>H1uJnMz0u%8!^UlRSr@H~wi7jhEMsmu8DME79_e^oGH1&Vks!yc&6AarVWUo1z2!u1v6asBq{liGxx"
    "13(6UMaaSfu%G}rls?3(GE`97!8-|vaX+6$w{Zos@rOX27=8sF!Ui6zuqE&^$Z@>BBhIU5wx0r@rn%NVDsC?UKLu$LzE9+BD!wM>QX~8sNK){n"
    "HJ^gd#v38v&*2Ct`gbVWUl(gzWBgeXzAn~DDn1+UI03)z{np#RljQ$pa{T)h?Qf9$&+u1B_yJL)Q1SgF|1Wb~3cjlS10?^i@C-n~H$)vq#SaP}"
    "G{&E4OZ;^a{GSl9Ptm_yG5$iLc4&-0&(Y(MJQqJK@;Mcsjdz!TpWyy)h_7saX8W-Q__Oeuz;0~+9!2~25aPd%Pg;Mph^RfO_`Rp_OIUC0;E~lG"
    "RjfNK91FD$iF>d=o2!S~34R%oHW8<E25JVbxn@KCXVWX7X?;TXQIGYHI(|aJ?-zCdq(}TLTD^+LO~@--U;*)M+uv+){a25_*3Uope#!axr1`H6"
    "ig&Hn<Ih}}{`Sh(j`inx!upeP{NFhLu>M9A>_1GXKT?kWTd)5JA^)au?OP?*Ure7D6!ae@<^NUu&9z1UF|z;L6My4``b#DLSbwI1{U<Is{>&D~"
    "-vmF?^`E@p_`6E>e|zHZn%J{FA3rVd8?QgCzZ(knzb<k>WBm5S-wjgyr>XBh+I7AUMc4l(+5YLa=zoihPn&<Y#QrQ5|F)>tTU38*V~Xz|Y_0mC"
    "h4@z$@n3E&zOw&W_5Q86ejV<?8utAr-vzdm>*qJHO%_LKVOHOP5AayUDxOIjC}+8}gYi{4qwhPYTM?gT{ive@yoIA*M;*LUmg6rW_AcLrF2Ocl"
    "$8gMLoDG-yH=-3Dr{3u<B5k1l_Yr;1L;H1M?QNGIEYv86*Cx&#X4^I1cMQUO=Sik2^5@Kt@2oz2`<GN)$7jl$rL9DA_T!|!oUcCEPU!LPG+q18"
    "_oe=)zu)(0zx(}9HsM|<sO3^~aXs;4==&KgX{O$de4`z}mbp+`++WWxS?0Ettway3(PGY63O(vP%<jbo`ahbE-q|1g+s4O-*Yov9Ez>IIDrTW*"
    "uHlml)1}3y;J;?uyZ7`p*ZHK@9Oku7pChNa9CPH-DS5ctaD5+{fN?H&Ir0RTO-I(=ljXZ0x6gsx-U9h~pVZ!`1$zzG{#*zqB8E#RpVrUskDb)g"
    "TuwT2M?}Wgxg2o5J@_N`el4RVtaEuS`1q@X&p!QGTLL5EmURfv7|vG%*8bO5nf%w0-QPc44tCh`5V*&yW3^#O-#+FfIRqn;eouS;Hk-dTIKKDz"
    "ZMJ>0`Zt?Do3)?C@xANcZ2M;Qukx?PtYV7c^)AonO6vzE-)bRenT3j(FKp#m`mL18h2mDMi_+d3YU{?|e0z(xn&zI%@)gqyVIGdldCwP@^R6D3"
    "^X~DyEdQHvx7T5yTh3$0J%;POSqGSx^BTlu`L~QLA7$kJYSR5?$<{y6r2c_Z`ui01*DgqZ9VR0(UVXfNNA66^_#rOa?<_h*(}rZv4lYL>*?&sb"
    ")3SZ*_K!O2w8rm`I`<=79)wGB)Bk}dtJD"
)


def test_a_message_of_outlook_is_read_as_the_mail_that_it_was() -> None:
    pytest.importorskip("kreuzberg")
    data = zlib.decompress(base64.b85decode(MSG))
    document = read_bytes(data, "a.msg")
    assert (document.format, document.title, document.omissions) == ("msg", "Lease of the boathouse", ())
    assert (document.metadata["from"], document.metadata["date"]) == (
        "Ann Lee <ann@example.org>",
        "2024-05-01T08:00:00+00:00",
    )
    assert [(block.text, block.place) for block in document.blocks[2:]] == [
        ("The lease ends in May.", None),
        ("tides", "attachment tides.txt"),
        ("The tide is high in spring.", "attachment tides.txt, line 1"),
    ]
    with pytest.raises(SourceError, match=r"a\.msg cannot be read as \.msg"):
        read_bytes(data[:1000], "a.msg")


def test_another_file_with_the_ending_of_outlooks_messages_is_text() -> None:
    for name in ("de.msg", "deps.dot", "messages.pot"):
        assert read_bytes(b"The tide is high.\n", name).blocks[0].text == "The tide is high."
