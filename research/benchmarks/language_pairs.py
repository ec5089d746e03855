"""Pairs of short texts, English and another language, for `semsearch vectors translations`.

    python research/benchmarks/language_pairs.py PACKAGES --to pairs/

PACKAGES is a folder with packages as their registries give them (.whl, .tgz), and folders: `chromium`, the .pak files
of Debian's chromium-l10n; `NTREX-128`, the folder of that name of NTREX; `wns`, that of the Open Multilingual Wordnet's
omw-data, and in it `wordnet`, the data files of WordNet 3.0. Each has texts in many languages, under a licence that
permits this (`SOURCES`). Writes pairs/de.tsv and so on: the English text, the other one, and how much they count, with
tabs between, each pair once.
"""

from __future__ import annotations

import argparse
import gettext
import html
import io
import json
import re
import struct
import tarfile
import zipfile
from collections.abc import Iterable, Iterator
from fnmatch import fnmatch
from itertools import pairwise
from pathlib import Path
from typing import Any

from semsearch.word_vectors.language_table import shipped_languages

SOURCES = {  # by the beginning of a package's file name
    "django-": "Django, BSD-3-Clause",
    "djangorestframework-": "Django REST framework, BSD-3-Clause",
    "django_oscar-": "Oscar, BSD-3-Clause",
    "wagtail-": "Wagtail, BSD-3-Clause",
    "spyder-": "Spyder, MIT",
    "jupyterlab_language_pack_": "JupyterLab language packs, BSD-3-Clause",
    "homeassistant-": "Home Assistant, Apache-2.0",
    "home_assistant_frontend-": "Home Assistant frontend, Apache-2.0",
    "payloadcms-translations-": "Payload, MIT",
    "openstreetmap-id-tagging-schema-": "iD tagging schema, ISC",
    "codingame-monaco-vscode-": "Visual Studio Code language packs, MIT",
    "cldr-annotations-full-": "Unicode CLDR, names and keywords of symbols, Unicode-3.0",
    "babel-": "Unicode CLDR as in Babel, names of languages, countries and currencies, Unicode-3.0",
    "chromium": "Chromium, BSD-3-Clause",
    "NTREX-128": "NTREX-128, CC BY-SA 4.0",
    "wns": "Open Multilingual Wordnet: wordnets (licences below) and Wiktionary, CC BY-SA 3.0; WordNet 3.0 Licence",
}
TESTS = {  # never trained on
    "pgadmin4-": "pgAdmin, PostgreSQL Licence",
    "apache_airflow_core-": "Airflow, Apache-2.0",
}

WEIGHTS = {"NTREX-128": 2.0, "wns": 0.3}  # others 1; see research/docs/training.md
WORDNETS = {  # besides those made of Wiktionary
    "ar": "arb/wn-data-arb",  # CC BY-SA 3.0
    "el": "ell/wn-data-ell",  # Apache-2.0
    "fa": "fas/wn-data-fas",  # free to use
    "he": "heb/wn-data-heb",  # WordNet
    "id": "msa/wn-data-ind",  # MIT
    "it": "ita/wn-data-ita",  # CC BY 3.0
    "nl": "nld/wn-data-nld",  # CC BY-SA 4.0
    "pl": "pol/wn-data-pol",  # WordNet
    "pt": "por/wn-data-por",  # CC BY-SA
    "sv": "swe/wn-data-swe",  # CC BY 3.0
    "zh": "cow/wn-data-cmn",  # WordNet
}
_THREE = {  # of each language, the code of ISO 639-3
    "ar": "arb", "cs": "ces", "de": "deu", "el": "ell", "es": "spa", "fa": "fas", "fr": "fra", "he": "heb", "hi": "hin",
    "hu": "hun", "id": "ind", "it": "ita", "ja": "jpn", "ko": "kor", "nl": "nld", "pl": "pol", "pt": "por", "ro": "ron",
    "ru": "rus", "sv": "swe", "th": "tha", "tr": "tur", "uk": "ukr", "vi": "vie", "zh": "cmn",
}  # fmt: skip

Pair = tuple[str, str, str]  # language, English, the other
_ENGLISH = ("en", "en_us", "en-us")
_TAGS = {"pt_br": "pt", "zh_hans": "zh", "zh_cn": "zh", "zh_hans_cn": "zh", "iw": "he", "es_es": "es", "in": "id"}
_MOST_WORDS = 60
_NAMED = re.compile(r"<[^>]*>|%\([^)]*\)[a-z]|\$?\{\{?[^{}]*\}?\}|%[\d$.]*[a-zA-Z]\b|\$\d|https?://\S+|@:\S+|\[\[|\]\]")
_LETTER = re.compile(r"[^\W\d_]")
_SHORTCUT = re.compile(r"\s*\(&\w\)|&&?(?=\w)")


def language_of(tag: str) -> str:
    """The code of a language by which a program names its texts: de of de_DE, zh of zh-Hans; "en"; "" for others."""
    name = tag.lower().replace("-", "_")
    if name in _ENGLISH:
        return "en"
    code = _TAGS.get(name) or (name if "_" not in name else name.split("_")[0])
    if code == "zh" and name not in _TAGS and name != "zh":
        return ""  # in traditional characters
    return code


def plain(text: str) -> str:
    """A text without marks of a program: places of values, tags, keyboard shortcuts. "" if little is left."""
    if "plural," in text or "select," in text:
        return ""
    bare = " ".join(_NAMED.sub(" ", _SHORTCUT.sub("", html.unescape(text))).split())
    return bare if _LETTER.search(bare) and len(bare.split()) <= _MOST_WORDS else ""


def flat(tree: Any, path: str = "") -> Iterator[tuple[str, str]]:
    """The texts of JSON, each with its path."""
    if isinstance(tree, dict):
        for key, inner in tree.items():
            yield from flat(inner, f"{path}/{key}")
    elif isinstance(tree, str):
        yield path, tree


class Package:
    """The files of a wheel, an npm package, or a folder."""

    def __init__(self, path: Path) -> None:
        self._path = path
        if path.is_dir():
            self.names = [str(each.relative_to(path)) for each in sorted(path.rglob("*")) if each.is_file()]
        elif path.suffix == ".whl":
            self._zip = zipfile.ZipFile(path)
            self.names = self._zip.namelist()
        else:
            with tarfile.open(path) as archive:
                files = [member for member in archive if member.isfile()]
                self._contents = {each.name: archive.extractfile(each).read() for each in files}  # type: ignore[union-attr]
            self.names = list(self._contents)

    def read(self, name: str) -> bytes:
        """The bytes of a file."""
        if self._path.is_dir():
            return (self._path / name).read_bytes()
        return self._zip.read(name) if self._path.suffix == ".whl" else self._contents[name]

    def match(self, pattern: str) -> Iterator[str]:
        """The names of files like a pattern."""
        return (name for name in self.names if fnmatch(name, pattern))


def of_catalogues(package: Package) -> Iterator[Pair]:
    """GNU gettext: English texts are the keys."""
    for name in package.match("*/LC_MESSAGES/*.mo"):
        language = language_of(name.split("/LC_MESSAGES/")[0].rpartition("/")[2])
        try:
            catalogue: dict[Any, str] = gettext.GNUTranslations(io.BytesIO(package.read(name)))._catalog  # type: ignore[attr-defined]
        except (OSError, UnicodeDecodeError):
            continue
        for key, text in catalogue.items():
            english = key[0] if isinstance(key, tuple) else key
            yield language, english.rpartition("\x04")[2], text


def of_json(package: Package, pattern: str, *, strip: str = "") -> Iterator[Pair]:
    """A folder of JSON files, each named by its language, with the same keys in all."""
    folders: dict[str, dict[str, str]] = {}
    for name in package.match(pattern):
        folder, _, file = name.rpartition("/")
        tag = re.sub(r"-[0-9a-f]{32}$", "", file.removesuffix(".json"))
        folders.setdefault(folder, {})[tag] = name
    for found in folders.values():
        if "en" in found:
            english = dict(flat(json.loads(package.read(found["en"])), strip and ""))
            for tag, name in found.items():
                language = language_of(tag)
                if language not in ("", "en"):
                    tree = json.loads(package.read(name))
                    own = dict(flat(tree.get(tag, tree) if strip else tree))
                    yield from ((language, english[key], own[key]) for key in english.keys() & own.keys())


def of_folders(package: Package, pattern: str) -> Iterator[Pair]:
    """A folder of JSON files for each language: locales/de/admin.json."""
    for name in package.match(pattern):
        folder, _, file = name.rpartition("/")
        language = language_of(folder.rpartition("/")[2])
        source = f"{folder.rpartition('/')[0]}/en/{file}"
        if language not in ("", "en") and source in package.names:
            english, own = dict(flat(json.loads(package.read(source)))), dict(flat(json.loads(package.read(name))))
            yield from ((language, english[key], own[key]) for key in english.keys() & own.keys())


def of_tagging(package: Package) -> Iterator[Pair]:
    """The iD tagging schema: names and synonyms of places and their features."""
    english = dict(flat(json.loads(package.read("package/dist/translations/en.json"))["en"]))
    for name in package.match("package/dist/translations/*.json"):
        tag = name.rpartition("/")[2].removesuffix(".json")
        language = language_of(tag)
        if (
            tag == "index"
            or tag.endswith(".min")
            or language in ("", "en")
            or ("-" in tag and tag not in ("pt-BR", "zh-CN"))
        ):
            continue
        own = dict(flat(json.loads(package.read(name))[tag]))
        for key in english.keys() & own.keys():
            if not key.endswith("/terms"):
                yield language, english[key], own[key]


def of_symbols(package: Package) -> Iterator[Pair]:
    """CLDR's names of symbols, and their keywords as one text."""
    read: dict[str, dict[str, Any]] = {}
    for name in package.match("package/annotations/*/annotations.json"):
        read[name.split("/")[2]] = json.loads(package.read(name))["annotations"].get("annotations", {})
    for tag, own in read.items():
        language = language_of(tag)
        if language in ("", "en") or "-" in tag:
            continue
        for symbol in read["en"].keys() & own.keys():
            for kind in ("tts", "default"):
                if kind in read["en"][symbol] and kind in own[symbol]:
                    yield language, " ".join(read["en"][symbol][kind]), " ".join(own[symbol][kind])


def of_names() -> Iterator[Pair]:
    """CLDR's names of languages, scripts, countries, currencies, months and days, by the installed package babel."""
    from babel import Locale

    english = Locale("en")
    for language in shipped_languages():
        locale = Locale(language)
        for kind in ("languages", "territories", "scripts", "currencies"):
            mine, own = getattr(english, kind), getattr(locale, kind)
            yield from ((language, mine[key], own[key]) for key in mine.keys() & own.keys())
        for kind in ("months", "days"):
            mine, own = getattr(english, kind)["stand-alone"]["wide"], getattr(locale, kind)["stand-alone"]["wide"]
            yield from ((language, mine[key], own[key]) for key in mine.keys() & own.keys())


_CALL = re.compile(r"localize2?\((\d+),\s*(\"(?:[^\"\\]|\\.)*\"|'(?:[^'\\]|\\.)*')")
_TEXT = re.compile(r"^\t(undefined|\"(?:[^\"\\]|\\.)*\"),?$", re.MULTILINE)


def of_editor(paths: Iterable[Path]) -> Iterator[Pair]:
    """Visual Studio Code: the packs number the texts of the program, whose calls have the English ones."""
    english: dict[int, str] = {}
    packs = []
    for path in paths:
        package = Package(path)
        if "language-pack" not in path.name:
            for name in package.match("*.js"):
                for number, quoted in _CALL.findall(package.read(name).decode("utf-8", "replace")):
                    english[int(number)] = quoted[1:-1].replace("\\'", "'").replace('\\"', '"').replace("\\n", " ")
        else:
            packs.append((language_of(re.findall(r"language-pack-([a-z-]+)-\d", path.name)[0]), package))
    for language, package in packs:
        listed = _TEXT.findall(package.read("package/translations/main.i18n.json.js").decode())
        for number, text in enumerate(listed):
            if number in english and text != "undefined":
                yield language, english[number], json.loads(text)
        for name in package.match("*/extensions/*.json"):
            for key, text in json.loads(package.read(name))["contents"].get("bundle", {}).items():
                yield language, key.partition("/")[0] if key.endswith("]") else key, text


def of_resources(package: Package) -> Iterator[Pair]:
    """Chromium's resource packs, version 5: texts by number."""
    read = {}
    for name in package.match("*.pak"):
        data = package.read(name)
        version, _, count = struct.unpack_from("<IB3xH", data)
        if version != 5:
            raise ValueError(f"{name}: version {version} of a resource pack; expected 5")
        entries = [struct.unpack_from("<HI", data, 12 + 6 * number) for number in range(count + 1)]
        read[Path(name).stem] = {
            number: data[start:end].decode("utf-8", "replace") for (number, start), (_, end) in pairwise(entries)
        }
    for tag, own in read.items():
        language = language_of(tag)
        if language and language != "en" and "_" not in tag and tag not in ("es-419", "pt-PT"):
            yield from ((language, read["en-US"][key], own[key]) for key in read["en-US"].keys() & own.keys())


def of_news(folder: Path) -> Iterator[Pair]:
    """NTREX: sentences of English news, translated."""
    english = (folder / "newstest2019-src.eng.txt").read_text("utf-8-sig").splitlines()
    for language, code in {**_THREE, "zh": "zho-CN"}.items():
        others = (folder / f"newstest2019-ref.{code}.txt").read_text("utf-8-sig").splitlines()
        yield from ((language, one, two) for one, two in zip(english, others, strict=True))


def of_wordnets(folder: Path) -> Iterator[Pair]:
    """Wordnets: the English words that have a meaning as one text, and each word of the language that has it."""
    meanings: dict[str, str] = {}
    for kind in ("noun", "verb", "adj", "adv"):
        for line in (folder / "wordnet" / f"data.{kind}").read_text("latin-1").splitlines():
            if not line.startswith(" "):
                fields = line.split(" ")
                words = fields[4 : 4 + 2 * int(fields[3], 16) : 2]
                meanings[f"{fields[0]}-{fields[2].replace('s', 'a')}"] = " ".join(
                    re.sub(r"\(\w+\)$", "", word).replace("_", " ") for word in words
                )
    for language, code in _THREE.items():
        for name in (WORDNETS.get(language), f"wikt/wn-wikt-{code}"):
            for line in (folder / f"{name}.tab").read_text("utf-8").splitlines()[1:] if name else ():
                key, kind, word, *_ = (*line.split("\t"), "", "")
                english = meanings.get(key.replace("-s", "-a"))
                if "lemma" in kind and english:
                    yield language, english, word.replace("_", " ").replace("+", "")


def pairs_of(path: Path) -> Iterator[Pair]:
    """The pairs of one package."""
    name = path.name
    if name == "chromium":
        return of_resources(Package(path))
    if name == "NTREX-128":
        return of_news(path)
    if name == "wns":
        return of_wordnets(path)
    if name.startswith("openstreetmap"):
        return of_tagging(Package(path))
    if name.startswith("cldr-annotations"):
        return of_symbols(Package(path))
    if name.startswith("babel-"):
        return of_names()
    package = Package(path)
    if name.startswith("payloadcms"):
        return of_modules(package)
    if name.startswith("homeassistant-"):
        return of_json(package, "homeassistant/components/*/translations/*.json")
    if name.startswith("home_assistant_frontend-"):
        return of_json(package, "hass_frontend/static/translations/*.json")
    if name.startswith("apache_airflow"):
        return of_folders(package, "*/i18n/locales/*/*.json")
    return of_catalogues(package)


_LINE = re.compile(r"^\s+(\w+): ('(?:[^'\\]|\\.)*'|\"(?:[^\"\\]|\\.)*\"),?$", re.MULTILINE)


def of_modules(package: Package) -> Iterator[Pair]:
    """Modules with an object of texts: `key: 'text',`."""
    read = {}
    for name in package.match("package/dist/languages/*.js"):
        found = _LINE.findall(package.read(name).decode())
        read[Path(name).stem] = {key: text[1:-1].replace("\\'", "'") for key, text in found}
    for tag, own in read.items():
        language = language_of(tag)
        if language not in ("", "en"):
            yield from ((language, read["en"][key], own[key]) for key in read["en"].keys() & own.keys())


def write_pairs(paths: Iterable[Path], folder: Path) -> dict[str, int]:
    """Write the pairs of packages, a file for each language. Returns how many each language has."""
    wanted = set(shipped_languages())
    found: dict[str, dict[tuple[str, str], float]] = {language: {} for language in sorted(wanted)}
    editor = [path for path in paths if path.name.startswith("codingame-monaco-vscode-")]
    others = [path for path in paths if path not in editor]
    for path in [*others, *editor[:1]]:
        for language, english, other in of_editor(editor) if path in editor else pairs_of(path):
            if language in wanted:
                one, two = plain(english), plain(other)
                if one and two and one.lower() != two.lower():
                    found[language].setdefault((one, two), WEIGHTS.get(path.name, 1.0))
        print(path.name, sum(map(len, found.values())), flush=True)
    folder.mkdir(parents=True, exist_ok=True)
    for language, texts in found.items():
        lines = "".join(f"{one}\t{two}\t{weight:g}\n" for (one, two), weight in texts.items())
        (folder / f"{language}.tsv").write_text(lines, encoding="utf-8")
    return {language: len(texts) for language, texts in found.items()}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("packages", type=Path)
    parser.add_argument("--to", type=Path, required=True)
    parser.add_argument("--tests", action="store_true", help="the packages that are never trained on")
    arguments = parser.parse_args()
    sources = TESTS if arguments.tests else SOURCES
    paths = [path for path in sorted(arguments.packages.iterdir()) if path.name.startswith(tuple(sources))]
    for language, number in write_pairs(paths, arguments.to).items():
        print(f"{language}: {number:,} pairs")


if __name__ == "__main__":
    main()
