"""Lists of sources and contents are recognised by their form; prose that cites is none."""

from __future__ import annotations

import pytest

from semsearch.text.listings import asks_for_sources, is_listing

SOURCES = """\
Ada Stone, Ben Rivers, and Cleo Marsh. Sailing by the stars. In Proceedings of the Third Conference on Navigation, 2004.
Dora Hill and Emil Wood. A survey of harbours. Journal of Coasts, 12(3):45-67, 2011.
Fay Lake. Storms and how to meet them. arXiv preprint arXiv:1903.00001, 2019."""

GERMAN = """\
Stein, A., Fluss, B. (2004): Segeln nach den Sternen. In: Zeitschrift für Seefahrt 12(3), S. 45–67.
Berg, D., Wald, E. (2011): Häfen im Überblick. Springer, Berlin.
See, F. (2019): Stürme. Bd. 4, S. 12–19, hrsg. von G. Moor, https://example.org/stuerme."""

CITING = """\
Ships were first modelled as random walks (Stone et al., 2004; Hill and Wood, 2011), and later as graphs (Lake et al.,
2019). Marsh et al. (2015) compared both, and found that in storms graphs do better, as Rivers et al. (2016) had
thought. We follow them, and use the same ships as (Moor & Field, 2017)."""

HISTORY = """\
The harbour was built in 1901, burned down in 1923 and was built anew in 1925. In 1950 the first ferry came, in 1961 the
railway, and since 1987 there has been a museum on the old quay."""

CONTENTS = """\
1 Ships ............ 3
1.1 Sails . . . . . . . . 5
1.2 Ropes ............ 9
2 Harbours ........... 14"""

INDEX = """\
anchor, 12, 34-36
bowsprit, 17
captain, 3, 5, 81
deck, 44"""

RELEASES = """\
Actual:
3.1.1: Tuesday, 2024-12-03
3.1.2: Tuesday, 2025-02-04
3.1.3: Tuesday, 2025-04-08
3.1.4: Tuesday, 2025-06-03"""

THREADS = """\
Several people did not like it, see https://mail.example.org/list/2002-December/001.html and
https://mail.example.org/list/2003-January/002.html, but https://mail.example.org/list/2006-July/003.html shows
that most have come round to it since then, and the harbour master is one of them."""


@pytest.mark.parametrize("text", [SOURCES, GERMAN, CONTENTS, INDEX])
def test_a_list_of_sources_or_contents_is_recognised(text: str) -> None:
    assert is_listing(text)


@pytest.mark.parametrize("text", ["", "A ship.", CITING, HISTORY, RELEASES, THREADS])
def test_prose_that_cites_or_has_years_and_pages_is_none(text: str) -> None:
    assert not is_listing(text)


@pytest.mark.parametrize(
    "text", ["(" * 20_000, "(et al " * 3000, ". " * 20_000, "A. " * 20_000, "a, 1" * 5000 + "1\n" * 5]
)
def test_a_text_of_signs_takes_milliseconds(text: str) -> None:
    assert not is_listing(text + " .... 1990 1991 1992" + text)  # minutes, where a pattern starts anew at each sign


@pytest.mark.parametrize(
    "query", ["Stone et al. on stars", "ships 2004", "literature about storms", "what does it cite"]
)
def test_a_query_may_ask_for_sources(query: str) -> None:
    assert asks_for_sources(query)
    assert not asks_for_sources("sailing by the stars")
