"""The English names of languages, by their ISO 639-1 codes."""

from __future__ import annotations

_NAMES = dict(
    line.split(maxsplit=1)
    for line in """
    ar Arabic
    be Belarusian
    bg Bulgarian
    bn Bengali
    ca Catalan
    cs Czech
    da Danish
    de German
    el Greek
    en English
    es Spanish
    et Estonian
    fa Persian
    fi Finnish
    fr French
    ga Irish
    gu Gujarati
    he Hebrew
    hi Hindi
    hr Croatian
    hu Hungarian
    hy Armenian
    id Indonesian
    is Icelandic
    it Italian
    ja Japanese
    ka Georgian
    km Khmer
    ko Korean
    lo Lao
    lt Lithuanian
    lv Latvian
    mk Macedonian
    ms Malay
    my Burmese
    ne Nepali
    nl Dutch
    no Norwegian
    pl Polish
    pt Portuguese
    ro Romanian
    ru Russian
    sk Slovak
    sl Slovenian
    sr Serbian
    sv Swedish
    ta Tamil
    te Telugu
    th Thai
    tr Turkish
    uk Ukrainian
    ur Urdu
    vi Vietnamese
    zh Chinese
    """.strip().splitlines()
)


def name_of(language: str) -> str:
    """The name of a language, by its code."""
    return _NAMES[language]
