"""The language of a text."""

from __future__ import annotations

import pytest

from semsearch.text.languages import language_of, language_of_parts

TEXTS = {
    "en": "The captain sails the ship across the storm, and the sailors are afraid of the waves.",
    "de": "Der Kapitän segelt mit dem Schiff durch den Sturm, und die Matrosen haben Angst vor den hohen Wellen.",
    "es": "El capitán navega con el barco por la tormenta y los marineros tienen miedo de las olas que no cesan.",
    "fr": "Le capitaine navigue dans la tempête avec son navire, et les marins ont peur des vagues qui les entourent.",
    "it": "Il capitano naviga con la nave nella tempesta e i marinai hanno paura delle onde che non si fermano mai.",
    "ru": "Капитан ведёт корабль через шторм, и матросы боятся волн, которые поднимаются всё выше.",
    "uk": "Капітан веде корабель крізь шторм, і матроси бояться хвиль, які піднімаються все вище, бо це не жарт.",
    "el": "Ο καπετάνιος οδηγεί το πλοίο μέσα από την καταιγίδα.",
    "ar": "يقود القبطان السفينة عبر العاصفة، ويخاف البحارة من الأمواج التي ترتفع.",
    "he": "הקברניט מוביל את הספינה דרך הסערה, והמלחים מפחדים מהגלים.",
    "hi": "कप्तान तूफान में जहाज चलाता है और नाविक लहरों से डरते हैं।",
    "th": "กัปตันแล่นเรือผ่านพายุ และลูกเรือกลัวคลื่น",
    "zh": "船长驾船穿过暴风雨，水手们害怕海浪。",
    "ja": "船長は嵐の中で船を進め、船員たちは波を恐れている。",
    "ko": "선장은 폭풍 속에서 배를 몰고 선원들은 파도를 두려워한다.",
}


@pytest.mark.parametrize("language", TEXTS)
def test_the_language_of_a_text_is_found(language: str) -> None:
    assert language_of(TEXTS[language]) == language


@pytest.mark.parametrize(
    ("language", "note"),
    [
        ("de", "Die grundlegende Einheit der Verwaltung wird in Polen Gmina genannt."),
        ("de", "Der Termin beim Zahnarzt ist am Dienstag um neun."),
        ("es", "La llave del sótano cuelga detrás de la puerta."),
        ("fr", "Le code du portail est écrit au dos de la carte."),
        ("it", "Le bollette si pagano entro la fine del mese."),
        ("nl", "De sleutel van de schuur ligt onder de bloempot."),
        ("pl", "Klucz do piwnicy wisi na haku za drzwiami do ogrodu."),
        ("tr", "Bodrumun anahtarı kapının arkasında asılı."),
        ("uk", "Ключ від підвалу висить за дверима."),
    ],
)
def test_a_note_of_one_sentence_is_in_its_language(language: str, note: str) -> None:
    assert language_of(note) == language


@pytest.mark.parametrize(
    "text",
    [
        "",
        "def fetch(url: str, *, timeout: float = 5.0) -> bytes:",
        "$ tar -xzf archive.tar.gz -C /opt && ./configure --prefix=/usr",
        "Rationale\n=========",
        "???",
        "x = [f(a, b) for a in c if d]",
        "rotate keys",
        "Kubernetes, nginx, PostgreSQL",
        "1 2 3 4 5",
        "Exact Probabilities for R x C Contingency Tables (Algorithm A434)",
        "The word Schadenfreude is German, as are und, der, die and das.",
    ],
)
def test_what_is_not_clearly_another_language_counts_as_english(text: str) -> None:
    assert language_of(text) == "en"


def test_a_document_is_in_the_language_of_its_first_parts() -> None:
    assert language_of_parts([TEXTS["de"]] * 20 + [TEXTS["en"]] * 100) == "de"
    assert language_of_parts([]) == "en"
