"""Build the guide as a site: every page, a reference of the Python API, links checked, nothing fetched from elsewhere.

    python tests/supply/guide_site.py              # into build/site
    python tests/supply/guide_site.py --serve      # and shows it at http://127.0.0.1:8000, to look at

The pages are those of the repository, at their paths, so that their links stay as they are; a link to a source file
leads to the repository, or is left out where none is set (hatch_build.py). The navigation is the tables of
docs/README.md, in their order. The search is ours, and runs in the page (guide_search.js). The generator is installed
into build/site-tools, for which it needs the network once. A link, an anchor or a passage of the search that leads
nowhere, and anything that a page would load from elsewhere, makes the build fail. tests/supply/by_hand.json says when
it last passed.
"""

from __future__ import annotations

import argparse
import functools
import http.server
import json
import re
import shutil
import sys
import tempfile
import venv
from collections.abc import Iterator
from dataclasses import dataclass, field
from html.parser import HTMLParser
from pathlib import Path, PurePosixPath
from urllib.parse import unquote, urlsplit

sys.path[:0] = [str(Path(__file__).parents[1] / "support"), str(Path(__file__).parents[2])]

import guide_search  # noqa: E402  # after the line above
from guide import PAGES, links, read  # noqa: E402
from reference_page.api import api_page  # noqa: E402
from release import ROOT, Refused, note, programs, repository, run  # noqa: E402

GENERATOR = "zensical==0.0.73"  # MIT, 9 MB, by the authors of mkdocs-material, which ends in May 2027
TOOLS, SOURCE, SITE = (ROOT / "build" / name for name in ("site-tools", "site-source", "site"))
API = "api.md"
_ELSEWHERE = {"semsearch/__init__.py": API}  # a page that says what a file says
_LINK = re.compile(r"(?<!!)\[(?P<text>(?:[^\[\]]|\[[^\]]*\])*)\]\((?P<path>[^()\s#:]+)(?P<anchor>#[^()\s]*)?\)")
_SETTINGS = """\
site_name: semsearch
site_description: Search your own documents by meaning, offline
docs_dir: {source}
site_dir: {site}
use_directory_urls: false
theme:
  name: material
  font: false
  features: [navigation.tabs, navigation.footer, navigation.top, navigation.indexes, content.code.copy, toc.follow]
  palette:
    - {{media: "(prefers-color-scheme: light)", scheme: default}}
    - {{media: "(prefers-color-scheme: dark)", scheme: slate}}
markdown_extensions:
  - tables
  - toc:
      permalink: true
      toc_depth: 3
      slugify: !!python/object/apply:pymdownx.slugs.slugify {{kwds: {{case: lower}}}}
  - pymdownx.highlight
  - pymdownx.superfences
plugins: [search: {{enabled: false}}]
extra_javascript: [guide_search.js]
nav: {nav}
"""
_LOADED = {"script": "src", "img": "src", "link": "href", "iframe": "src", "source": "src", "video": "src"}


# -- The pages ---------------------------------------------------------------------------------------------------------


def navigation() -> list[dict[str, object]]:
    """The pages in the order of reading: each table of docs/README.md is a part, whose heading says for whom."""
    parts: list[dict[str, object]] = [{"semsearch": "README.md"}]
    for section in re.split(r"(?m)^## ", read("docs/README.md"))[1:]:
        heading, _, text = section.partition("\n")
        rows = [row for row in text.splitlines() if row.startswith("| [")]
        pages: list[object] = [] if len(parts) > 1 else [{"The guide": "docs/README.md"}]
        for row in rows:
            name, target = re.findall(r"\[([^\]]*)\]\(([^)]*)\)", row)[0]
            pages.append({name: f"docs/{target}"})
            if target == "developers/python.md":
                pages.append({"Python reference": API})
        if heading.startswith("Understand"):
            pages += [{_title(page): page} for page in PAGES if page.startswith("research/")]
        parts.append({heading: pages})
    parts.append({"Project": [{_title(page): page} for page in PAGES if "/" not in page and page != "README.md"]})
    return parts


def _title(page: str) -> str:
    return re.findall(r"(?m)^# (.*)$", read(page))[0].replace("`", "")


def for_the_site(page: str, address: str) -> str:
    """A page whose links lead to what the site has, and otherwise into the repository; without one they are text."""

    def led(link: re.Match[str]) -> str:
        place = (ROOT / page).parent / unquote(link["path"])
        if not place.exists():
            return link[0]
        path = place.resolve().relative_to(ROOT).as_posix()
        if path in _ELSEWHERE:
            up = "../" * page.count("/")
            return f"[{link['text']}]({up}{_ELSEWHERE[path]})"
        if path in PAGES:
            return link[0]
        return f"[{link['text']}]({address}/blob/main/{path}{link['anchor'] or ''})" if address else link["text"]

    pieces = re.split(r"(?ms)(^```.*?^```$)", read(page))
    return "".join(piece if number % 2 else _LINK.sub(led, piece) for number, piece in enumerate(pieces))


def stage(address: str) -> None:
    """Write the pages and pictures from which the site is built."""
    shutil.rmtree(SOURCE, ignore_errors=True)
    written = {page: for_the_site(page, address) for page in PAGES} | {API: api_page()}
    for page, text in written.items():
        (SOURCE / page).parent.mkdir(parents=True, exist_ok=True)
        (SOURCE / page).write_text(text, encoding="utf-8")
    for page in PAGES:
        for target in links(read(page)):
            if target.endswith((".png", ".svg")):
                path = ((ROOT / page).parent / target).resolve().relative_to(ROOT)
                (SOURCE / path).parent.mkdir(parents=True, exist_ok=True)
                shutil.copyfile(ROOT / path, SOURCE / path)
    shutil.copyfile(Path(__file__).with_name("guide_search.js"), SOURCE / "guide_search.js")
    settings = _SETTINGS.format(source=SOURCE.name, site=SITE.name, nav=json.dumps(navigation()))
    (SOURCE.parent / "mkdocs.yml").write_text(settings, encoding="utf-8")


# -- The check ---------------------------------------------------------------------------------------------------------


@dataclass
class Seen(HTMLParser):
    """What a page of the site links to, what it loads, and the anchors it has."""

    text: str
    targets: list[str] = field(default_factory=list)
    loaded: list[str] = field(default_factory=list)
    anchors: set[str] = field(default_factory=set)

    def __post_init__(self) -> None:
        super().__init__()
        self.feed(self.text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Note the links of a tag."""
        has = dict(attrs)
        if identity := has.get("id") or (has.get("name") if tag == "a" else None):
            self.anchors.add(identity)
        if tag == "a" and has.get("href"):
            self.targets.append(str(has["href"]))
        elif value := has.get(_LOADED.get(tag, "")):
            self.loaded.append(value)


def problems(site: Path) -> Iterator[str]:
    """Each link and anchor of a site that leads nowhere, and what it loads from elsewhere."""
    pages = {path.relative_to(site).as_posix(): Seen(path.read_text("utf-8")) for path in sorted(site.rglob("*.html"))}
    for name, seen in pages.items():
        for target in seen.targets + seen.loaded:
            parts = urlsplit(target)
            if parts.scheme or parts.netloc:
                if target in seen.loaded and parts.scheme != "data":
                    yield f"{name} loads {target}"
                continue
            place = (site / name).parent / unquote(parts.path) if parts.path else site / name
            place = place / "index.html" if place.is_dir() else place
            if not place.exists() and name != "404.html":  # whose links are for whatever address was asked
                yield f"{name} links to {target}"
            elif parts.fragment and name != "404.html":
                there = pages[place.resolve().relative_to(site.resolve()).as_posix()]
                if unquote(parts.fragment) not in there.anchors:
                    yield f"{name} links to {target}: no such anchor"
    for path in site.rglob("*.css"):
        for found in re.findall(r"url\(['\"]?(https?:[^)'\"]+)|@import ['\"](https?:[^'\"]+)", path.read_text("utf-8")):
            yield f"{path.name} loads {''.join(found)}"


# -- Building ----------------------------------------------------------------------------------------------------------


def build() -> Path:
    """Build the site and check it. Returns its folder; raises Refused with every problem."""
    if not TOOLS.exists():
        venv.create(TOOLS, with_pip=True)
        run([programs(TOOLS) / "python", "-m", "pip", "install", "-q", GENERATOR])
    try:
        address = repository()
    except Refused:
        address = ""
    stage(address)
    shutil.rmtree(SITE, ignore_errors=True)
    run([programs(TOOLS) / "zensical", "build", "--strict", "-f", "mkdocs.yml"], cwd=SOURCE.parent)
    (SITE / "search.json").unlink(missing_ok=True)  # of the generator's own search
    with tempfile.TemporaryDirectory() as folder:
        file = guide_search.export(ROOT / "docs", Path(folder))
    (SITE / "search.bin").write_bytes(file)
    wrong = [f"{page} is not in the site" for page in [*PAGES, API] if not _built(page).exists()]
    wrong += problems(SITE)
    anchors = {page: Seen(_built(page).read_text("utf-8")).anchors for page in PAGES}
    found = guide_search.header_of(file)["passages"]
    wrong += [f"the search leads to {page}#{at}" for page, _, _, at, _ in found if at and at not in anchors[page]]
    if wrong:
        raise Refused("\n".join(wrong))
    return SITE


def _built(page: str) -> Path:
    path = PurePosixPath(page)
    return SITE / (path.with_name("index.html") if path.name == "README.md" else path.with_suffix(".html"))


def main() -> None:
    """Build the site, and show it if that is wanted."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--serve", action="store_true")
    arguments = parser.parse_args()
    try:
        site = build()
    except Refused as refused:
        sys.exit(f"guide_site: {refused}")
    files = [path for path in site.rglob("*") if path.is_file()]
    size = f"{len(files)} files, {sum(path.stat().st_size for path in files) / 1e6:.1f} MB"
    note(ROOT, "site", {"generator": GENERATOR, "size": size})
    print(f"{site}: {size}; all links lead somewhere")
    if arguments.serve:
        handler = functools.partial(http.server.SimpleHTTPRequestHandler, directory=str(site))
        http.server.ThreadingHTTPServer(("127.0.0.1", 8000), handler).serve_forever()


if __name__ == "__main__":
    main()
