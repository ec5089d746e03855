"""Markdown: what a reader sees of it, and where it stands."""

from __future__ import annotations

import datetime
import json
from decimal import Decimal
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from cited import check_whole, passages, sentences

from semsearch import Index
from semsearch.readers.document import Document
from semsearch.readers.metadata import json_values
from semsearch.readers.read import read_bytes, read_text
from semsearch.word_vectors.table import VectorTable


def read(source: str) -> Document:
    return read_text(source, "page.md", format="markdown")


def texts(source: str) -> list[str]:
    return [block.text for block in read(source).blocks]


def metadata(yaml: str) -> dict[str, Any]:
    return dict(read(f"---\n{yaml}\n---\nText.\n").metadata)


@pytest.mark.parametrize(
    ("source", "clean"),
    [
        ("Some **bold**, *soft*, `code` and ~~old~~ text.", "Some bold, soft, code and old text."),
        ("See [the guide](http://x.org/a 'Title') or [that][1].\n\n[1]: http://y.org", "See the guide or that."),
        ("An ![old map](map.png) here.", "An old map here."),
        ("A &amp; B \\* C<br>D <b>E</b>", "A & B * C\nD E"),
        ("A note[^1].", "A note."),
        ("> [!NOTE]\n> Mind this.", "Mind this."),
        ("## Title {#anchor}", "Title"),
        ("## Title { #an-anchor }", "Title"),
        ("## Title {: .class #anchor }", "Title"),
        ("- one\n- two", "one|two"),
        ("| A | B |\n|---|---|\n| one. | `x` |\n| y | |", "A | B|one. x|y"),
        ("```rust\nfn main() {\n    go();\n}\n```", "fn main() {\n    go();\n}"),
        ("```\n{{#include ../a.rs}}\nlet a = 1;\n```", "let a = 1;"),
        ("    indented\n      code", "indented\n  code"),
        ("<div>\n<p>Inside &lt;html&gt;</p>\n<!-- not this -->\n<script>nor this</script>\n</div>", "Inside <html>"),
        ("<!-- a comment -->\n\nText.", "Text."),
        ("!!! note\n\n    See **it**.\n\n    - x", "Note|See it.|x"),
        ('??? tip "Try `it`"\n    At *once*.', "Try it\nAt once."),
        ('=== "On Linux"\n\n    ```\n    !!! x\n        y\n    ```', "On Linux|!!! x\n    y"),
        (
            "Size\n: So **big**.\n\n    At [most](x.md).\n\n    !!! note\n\n         Or less.",
            "Size|So big.|At most.|Note|Or less.",
        ),
        ("/// note | Hear\n\nText.\n\n///", "Hear|Text."),
        ('See [it](a){:target="_blank"}.\n{: .note }', "See it."),
        ("Text.\n\n{* a.py hl[3] *}\n\n{! b.md !}", "Text."),
    ],
)
def test_clean_text_has_no_markup(source: str, clean: str) -> None:
    assert "|".join(texts(source)) == clean


def test_sentences_are_found_again_in_the_source() -> None:
    source = (
        "# A *title*\n\nSome **bold** words. See\nthe [guide](http://guide.org/see) now! And `union`s.\n\n"
        "- x\n- **One**. Two.\n"
    )
    [passage] = passages(read(source))
    assert [(source[s.source_start : s.source_end], s.line) for s in passage.sentences] == [
        ("Some **bold** words.", 3),
        ("See\nthe [guide](http://guide.org/see) now!", 3),
        ("And `union`s.", 4),
        ("x", 6),
        ("One**.", 7),
        ("Two.", 7),
    ]
    assert passage.headings == ("A title",)


@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"])
def test_lines_are_exact_after_front_matter_and_in_code(end: str) -> None:
    lines = "---|title: T|---||# H||One|two. Three.||1. Item||   ```|   code here|   ```||> quoted|"
    source = lines.replace("|", end)
    found = [(p.text[s.start : s.end].split()[0], s.line) for p in passages(read(source)) for s in p.sentences]
    assert found == [("One", 7), ("Three.", 8), ("Item", 10), ("code", 13), ("quoted", 16)]


def test_front_matter_becomes_json_values() -> None:
    assert metadata(
        "title: A page\ntags: [a, b]\ndate: 2024-05-01\nn: 1.5\nwhen: 2024-05-01 10:00:00\n1: x\nbad: .nan"
    ) == {
        "title": "A page",
        "tags": ["a", "b"],
        "date": "2024-05-01",
        "n": 1.5,
        "when": "2024-05-01T10:00:00",
        "1": "x",
        "bad": None,
    }


@pytest.mark.parametrize("yaml", ["a: [", "a: b: c", "!!timestamp x", "!!python/object/apply:os.system [ls]", "\t- x"])
def test_front_matter_that_cannot_be_read_stays_in_the_text(yaml: str) -> None:
    document = read(f"---\n{yaml}\n---\n# H\n\nText.\n")
    assert document.metadata == {}
    assert [block.text for block in document.blocks] == [yaml.strip(), "H", "Text."]
    assert document.title == "H"


def test_front_matter_that_explodes_is_not_followed() -> None:
    bomb = "a0: &a0 [x, x, x, x, x, x, x, x]\n" + "".join(
        f"a{n}: &a{n} [{', '.join([f'*a{n - 1}'] * 8)}]\n" for n in range(1, 12)
    )
    assert metadata(bomb) == metadata("a: &a [*a]") == {}


def test_the_title_is_that_of_the_front_matter_else_the_first_heading_else_the_name() -> None:
    assert read("---\ntitle: T\n---\n# H").title == "T"
    assert read("## B\n\n# H").title == "H"
    assert read("Text.").title == "page"


def test_places_are_characters_whatever_stands_before() -> None:
    source = "---\ntitle: Größe\n---\n# „Größe“ 📏\n\nÜber *alles* – *so* 📏 *weit*.\n"
    for block in read(source).blocks:
        for word in ("Größe", "Über", "alles", "so", "weit"):
            if word in block.text:
                assert source.startswith(word, block.source_offset(block.text.index(word)))


def test_each_mark_of_a_cleaned_text_is_where_it_stands() -> None:
    table = '| `**` bold[^1] | *all* &amp; |\n|--|--|\n| x | [y](z "t"). |\n\n'
    source = f"{table}#  A   *b*  [^2] {{#c}}\n\n> [!NOTE]\n> *See* `it`!\n"
    found = [
        (block.text, [source[block.source_offset(place)] for place in range(len(block.text))])
        for block in read(source).blocks
    ]
    assert [text for text, _ in found] == ["** bold | all &", "x | y.", "A b", "See it!"]
    for text, standing in found:
        assert [(a, b) for a, b in zip(text, standing, strict=True) if a not in (" ", "|") and a != b] == []


def test_the_templates_of_site_generators_are_no_text_but_what_they_show_is() -> None:
    source = (
        "{{< note >}}\n"
        'A {{< glossary_tooltip text="Service" term_id="service" >}} finds a '
        '{{% term id="pod" text="Pod" %}} [here]({{< ref "a.md" >}}).\n'
        "{{< /note >}}\n\n"
        "{% note %}\n\n{* ../app.py hl[3] *}\n\n{/* a comment */}\n\n"
        "import Tabs from '@theme/Tabs';\nimport A from \"./a\"\n\nexport const B = () => (\n<b/>\n);\n\n"
        '{{% alert title="Careful" %}}\nIt deletes "all".\n{{% /alert %}}\n\n'
        "Write `{{ .Values.name }}` or {% if x %} as they stand.\n"
    )
    found = read(source).blocks
    assert [block.text for block in found] == [
        "A Service finds a Pod [here].",
        'It deletes "all".',
        "Write {{ .Values.name }} or {% if x %} as they stand.",
    ]
    for word in ("Service", "Pod", "here"):
        place = found[0].source_offset(found[0].text.index(word))
        assert source[place:].startswith(word)


def test_a_programs_metadata_becomes_json_values_too() -> None:
    given = {
        1: float("nan"), "huge": 10**400, "set": {"b", "a"}, "day": datetime.date(2024, 5, 1), "half": np.float32(0.5),
        "array": np.arange(3), "tuple": (1, True, None), "half a character": "\ud800", "price": Decimal("1.5"),
    }  # fmt: skip
    made = json_values(given)
    assert made == {
        "1": None, "huge": None, "set": ["a", "b"], "day": "2024-05-01", "half": 0.5,
        "array": [0, 1, 2], "tuple": [1, True, None], "half a character": "?", "price": "1.5",
    }  # fmt: skip
    assert json.loads(json.dumps(made, allow_nan=False)) == made


# -- Notes of Obsidian --------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("note", "shown"),
    [
        ("See [[Rhine#Depth|the depth]] and [[Ships]].", "See the depth and Ships."),
        ("See [[Rhine#Depth]], [[Rhine#^a1]], [[#Here]].", "See Rhine > Depth, Rhine, Here."),
        ("Before ![[map.png]] and ![[Tides]] and ![[map.png|300]].", "Before  and Tides and ."),
        ("Press ![[pen.svg#icon]] to draw.", "Press  to draw."),
        ("The #harbour is #deep/water here.", "The harbour is deep/water here."),
        ("#todo It is late. #ships #sea", "It is late."),
        ("It ends. #tag And goes on.", "It ends. And goes on."),
        ("Issue #12, C#, a#b and &#35; stay.", "Issue #12, C#, a#b and # stay."),
        ("A ==bright== word%% not this %%. ^ref-1", "A bright word."),
        ("> [!warning]- Careful\n> It is deep.", "Careful|It is deep."),
        ("- [ ] Mend the ship #later", "[ ] Mend the ship"),
        ("a == b and c[[1]] and x^2", "a == b and c1 and x^2"),
    ],
)
def test_what_is_shown_is_read(note: str, shown: str) -> None:
    document = read_bytes(note.encode(), "note.md")
    assert "|".join(block.text for block in document.blocks) == shown


def test_a_line_of_tags_is_metadata_with_those_of_the_front_matter() -> None:
    document = read_bytes(b"---\ntags: sea, ships\n---\n#harbour #sea\n\nThe #tide rises.\n", "note.md")
    assert [block.text for block in document.blocks] == ["The tide rises."]
    assert document.metadata["tags"] == ["sea", "ships", "harbour", "tide"]


@pytest.mark.parametrize(
    ("name", "date"), [("2024-05-01.md", "2024-05-01"), ("2024_05_01.md", "2024-05-01"), ("2024.md", None)]
)
def test_a_daily_note_has_its_date(name: str, date: str | None) -> None:
    assert read_bytes(b"Words.", f"Daily/{name}").metadata.get("date") == date
    assert read_bytes(b"---\ndate: 2020-01-01\n---\nWords.", name).metadata["date"] == "2020-01-01"


def test_sentences_stand_where_they_are_cited() -> None:
    note = "#a See [[Rhine|the Rhine]] now. The #deep sea. ^x\n\nOne ==two== three.\n"
    document = read_bytes(note.encode(), "note.md")
    check_whole(document, ["See the Rhine now.", "The deep sea.", "One two three."])
    assert sentences(document) == ["See the Rhine now.", "The deep sea.", "One two three."]


def test_a_note_is_found_and_filtered_by_its_other_names(tmp_path: Path, small_vectors: VectorTable) -> None:
    (tmp_path / "notes").mkdir()
    note = "---\naliases: [Rhinehaven, Old Dock]\n---\n# Harbour\n\nThe ship waits for the storm.\n"
    (tmp_path / "notes" / "harbour.md").write_text(note, encoding="utf-8")
    (tmp_path / "notes" / "other.md").write_text("The ship waits for the sea.", encoding="utf-8")
    with Index.create(tmp_path / "index", vectors=small_vectors) as index:
        index.sync(tmp_path / "notes")
        [hit] = index.search("rhinehaven", mode="lexical")
        assert (hit.title, hit.line) == ("Harbour", 2)
        assert {each.title for each in index.search("ship", filters=["aliases=old dock"])} == {"Harbour"}


def test_addresses_among_the_other_names_are_not_read() -> None:
    document = read_bytes(b"---\naliases: [/content/harbour/, TCP/IP]\n---\nThe ship waits.\n", "harbour.md")
    assert sentences(document) == ["TCP/IP", "The ship waits."]


def test_a_rule_at_the_beginning_of_a_windows_file_is_no_front_matter_without_an_end() -> None:
    document = read("---\r\n" + "The tide rises.\r\n" * 1_000)
    assert document.metadata == {}
    assert document.blocks[0].text.startswith("The tide rises.")


def test_directives_and_roles_of_myst_are_read_as_what_they_show() -> None:
    source = """(sails)=

# Sails

See {ref}`the mast <mast>` and {file}`sail.txt`, or `a {b}`.

```{note}
:class: big

Mind *this*.
```

````{tab} Linux
Set it.

```{code-block} console
$ sail x
```
````

```{toctree}
one
```

```{versionadded} 23.1
```

(a)= is text, `x` {b}.
"""
    assert [(block.text, block.level) for block in read(source).blocks] == [
        ("Sails", 1),
        ("See the mast and sail.txt, or a {b}.", 0),
        ("Mind this.", 0),
        ("Set it.", 0),
        ("$ sail x", 0),
        ("versionadded 23.1", 0),
        ("(a)= is text, x {b}.", 0),
    ]
