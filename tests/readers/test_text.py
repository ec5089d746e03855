"""Plain text: its paragraphs, and its encoding."""

from __future__ import annotations

import pytest

from semsearch.readers.document import Omission
from semsearch.readers.encoding import decode, guess, text_encoding
from semsearch.readers.read import read_bytes, read_text


def texts(source: str) -> list[str]:
    return [block.text for block in read_text(source, "notes.txt").blocks]


def test_blank_lines_part_paragraphs() -> None:
    assert texts("\n one\ntwo\n  \n\nthree  \n") == ["one\ntwo", "three"]
    assert texts("one\r\ntwo\r\n\r\nthree") == ["one\r\ntwo", "three"]
    assert texts("one\rtwo\r\rthree") == ["one\rtwo", "three"]


def test_long_lines_are_paragraphs() -> None:
    lines = ["This line is a whole paragraph, and so it is much longer than anyone would wrap a line at. " * 2] * 3
    assert texts("\n".join(lines)) == [line.strip() for line in lines]


def test_lines_that_do_not_go_on_are_entries_of_a_list() -> None:
    entries = [f"{n} Entry" for n in range(20)]
    assert texts("\n".join(entries)) == entries


def test_each_line_of_a_list_of_tasks_is_one_and_so_is_each_entry() -> None:
    tasks = ["buy milk", "call the plumber about the boiler", "(A) pay rent +home", "x 2026-01-01 water plants"]
    assert texts("\n".join(tasks)) == tasks
    short = ["Milk", "(A) call mum", "paint the fence", "water the plants on friday", "book a hotel in Lyon"]
    assert texts("\n".join(short)) == short
    assert texts("- one that\n  goes on\n- two\n- three") == ["- one that\n  goes on", "- two", "- three"]
    code = "if ready:\n    go()\nelse:\n    wait(1)\nprint('gone at last, or not')"
    assert texts(code) == [code]


def test_lines_of_a_log_that_differ_in_their_time_only_are_one_with_their_number() -> None:
    log = "".join(f"2026-01-0{n} 10:00:00 WARN disk is full\n2026-01-0{n} 10:00:01 took {n} ms\n" for n in range(1, 4))
    document = read_text(log, "a.log")
    assert [block.text for block in document.blocks] == [
        "2026-01-01 10:00:00 WARN disk is full (×3)", *(f"2026-01-0{n} 10:00:01 took {n} ms" for n in range(1, 4))
    ]  # fmt: skip
    assert document.blocks[0].source_offset(len(document.blocks[0].text) - 1) == log.index("\n")


def test_wrapped_prose_stays_together() -> None:
    prose = "\n".join(["Long ago there was a", "man who had a dog, and", "the dog had a flea."] * 10)
    assert texts(prose) == [prose]


def test_an_underlined_line_is_a_heading() -> None:
    document = read_text("My notes\n========\nOne.\n\nPart\n----\n\nTwo.\n", "notes.txt")
    assert [(b.text, b.level) for b in document.blocks] == [("My notes", 1), ("One.", 0), ("Part", 2), ("Two.", 0)]
    assert document.title == "My notes"


def test_the_title_is_else_the_name_of_the_file() -> None:
    assert read_text("One.", "some/notes.txt").title == "notes"


# -- Encodings ---------------------------------------------------------------------------------------------------------

TYPOGRAPHIC = [
    "Price: €20", "It’s fine.", "Smith’s “quoted” words – and more…", "• one\r\n• two\r\n• three", "© 2020 Acme",
    "Today’s price is £5 – or €6.", "20° C, ½ cup and 3 × 4", "The café – it’s open.",
]  # fmt: skip
TEXTS = {
    "de cp1252": "Gestern gingen wir zum Bäcker, um frisches Brot zu kaufen. Er hatte schon geschlossen, und so gingen "
    "wir müde über die Brücke nach Hause.",
    "fr cp1252": "Hier nous sommes allés à la boulangerie pour acheter du pain. Elle était déjà fermée, et nous "
    "sommes rentrés fatigués par le vieux pont.",
    "cs cp1250": "Včera jsme šli k pekaři koupit čerstvý chléb. Měl už zavřeno, a tak jsme se unavení vrátili přes "
    "starý most domů.",
    "cs iso8859-2": "Včera jsme šli k pekaři koupit čerstvý chléb. Měl už zavřeno, a tak jsme se unavení vrátili přes "
    "starý most domů, kde už byla tma, a žádné světlo nešlo rozsvítit.",
    "pl cp1250": "Wczoraj poszliśmy do piekarni, żeby kupić świeży chleb. Była już zamknięta, więc zmęczeni "
    "wróciliśmy przez stary most.",
    "pl iso8859-2": "Wczoraj poszliśmy do piekarni, żeby kupić świeży chleb. Była już zamknięta, więc zmęczeni "
    "wróciliśmy przez stary most.",
    "hu cp1250": "Tegnap elmentünk a pékségbe, hogy friss kenyeret vegyünk. Már zárva volt, így fáradtan indultunk "
    "haza az öreg hídon át, mert esőfelhők gyűltek.",
    "tr cp1254": "Dün taze ekmek almak için fırına gittik. Çoktan kapanmıştı, biz de yorgun argın eski köprüden "
    "geçip eve döndük.",
    "lt cp1257": "Vakar ėjome į kepyklą nusipirkti šviežios duonos. Ji jau buvo uždaryta, todėl pavargę grįžome namo "
    "per seną tiltą.",
    "ru cp1251": "Вчера мы пошли в булочную за свежим хлебом.", "ru koi8-r": "Вчера мы пошли в булочную за хлебом.",
    "ru cp866": "Вчера мы пошли в булочную за свежим хлебом.", "el cp1253": "Χθες πήγαμε στον φούρνο για ψωμί.",
    "he cp1255": "אתמול הלכנו למאפייה לקנות לחם טרי, אבל היא כבר הייתה סגורה.",
    "ar cp1256": "ذهبنا أمس إلى المخبز لشراء خبز طازج، لكنه كان مغلقا.", "ja cp932": "昨日、パンを買いに行きました。",
}  # fmt: skip


@pytest.mark.parametrize("text", TYPOGRAPHIC)
def test_signs_of_windows_in_english_are_read_as_such_without_doubt(text: str) -> None:
    assert decode(text.encode("cp1252"), "a.txt").text == text
    assert decode(text.encode("cp1252"), "a.txt").omissions == ()


@pytest.mark.parametrize("case", TEXTS)
def test_sentences_in_code_pages_are_read_as_they_were_written(case: str) -> None:
    assert decode(TEXTS[case].encode(case.split()[1]), "a.txt").text == TEXTS[case]


@pytest.mark.parametrize("case", ["de cp1252", "cs cp1250", "ru koi8-r", "pl iso8859-2"])
def test_a_long_text_is_guessed_without_doubt_though_only_its_telling_lines_are_looked_at(case: str) -> None:
    text = "plain words\n" * 2000 + f"{TEXTS[case]}\n" * 80
    decoded = decode(text.encode(case.split()[1]), "a.txt")
    assert (decoded.text == text, decoded.omissions) == (True, ())


def test_a_guess_with_little_to_go_by_is_doubtful_and_named() -> None:
    document = read_bytes("Łódź".encode("cp1250"), "a.txt")
    [omission] = document.omissions
    assert omission.kind == "doubtful encoding"
    assert omission.detail == f"read as {guess('Łódź'.encode('cp1250'))[0]}"


def test_broken_bytes_are_counted() -> None:
    damaged = "Gr\u00fc\u00dfe, \u00e9t\u00e9, na\u00efve".encode() + b"\xff and \xfe"
    assert read_bytes(damaged, "a.md").omissions == (Omission("broken bytes", 2),)
    assert read_bytes("\ufeffwords".encode("utf-16-le") + b"\x00\xd8", "a.txt").omissions == (Omission("broken bytes"),)
    assert read_bytes("was \ufffd before".encode(), "a.txt").omissions == ()


@pytest.mark.parametrize(
    "name", ["undefined", "idna", "punycode", "unicode_escape", "hex", "martian", "a\0b", "\ud800"]
)
def test_an_encoding_that_no_text_is_in_is_none(name: str) -> None:
    assert text_encoding(name) is None
