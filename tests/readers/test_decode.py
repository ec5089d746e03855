"""Bytes to text where nothing says how: what is read, and what is said of it."""

from __future__ import annotations

import pytest

from semsearch.readers.encoding import decode, guess, text_encoding
from semsearch.readers.read import read_bytes
from semsearch.results.reports import Omission

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
    assert omission.detail == f"read as {guess('Łódź'.encode('cp1250')).encoding}"


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
