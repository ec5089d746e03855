"""Source code of many languages: comments as prose, and code by functions and classes."""

from __future__ import annotations

from pathlib import Path

import pytest
from cited import Passage, check_places, check_whole, passages, sentences

import semsearch
from semsearch.errors import SourceError
from semsearch.readers.document import Document
from semsearch.readers.read import read_bytes, read_file

C = """/*
 * The moon pulls the sea.
 *
 * It moves.
 */
#include <stdio.h>

/** How high the tide is. */
int tide(int day) {
    return day; // in metres, as
                // everyone knows
}
"""
SNIPPETS = {
    "a.js": "// How high.\nfunction tide(day) {\n  /* a remark */ return 'no prose here';\n}\n",
    "a.ts": "/** How high. */\nfunction tide(day: number) {\n  return day; // a remark\n}\n",
    "a.rs": "/// How high.\nfn tide(day: u8) -> u8 {\n    day // a remark\n}\n",
    "a.go": "// How high.\nfunc tide(day int) int {\n\treturn day // a remark\n}\n",
    "A.java": "class A {\n  /** How high. */\n  int tide(int day) {\n    return day; // a remark\n  }\n}\n",
    "a.rb": "# How high.\ndef tide(day)\n  day # a remark\nend\n",
    "a.sh": "# How high.\ntide() {\n  echo $1 # a remark\n}\n",
    "a.hs": "-- How high.\ntide :: Int -> Int\ntide day = day -- a remark\n",
    "a.sql": "-- How high.\nSELECT tide FROM days; -- a remark\n",
    "a.php": "<?php\n// How high.\nfunction tide($day) {\n  return $day; // a remark\n}\n",
    "a.kt": "/** How high. */\nfun tide(day: Int): Int {\n  return day // a remark\n}\n",
    "a.swift": "/// How high.\nfunc tide(day: Int) -> Int {\n  return day // a remark\n}\n",
    "a.scala": "// How high.\ndef tide(day: Int): Int = {\n  day // a remark\n}\n",
    "a.lua": "-- How high.\nfunction tide(day)\n  return day --[[ a remark ]]\nend\n",
}


def read(source: str, name: str) -> Document:
    return read_bytes(source.encode(), name)


@pytest.mark.parametrize("end", ["\n", "\r\n"])
def test_comments_are_words_without_their_signs_by_function(end: str) -> None:
    document = read(C.replace("\n", end), "tide.c")
    assert [(block.place, block.text.replace(end, "\n")) for block in document.blocks] == [
        (None, "The moon pulls the sea."),
        (None, "It moves."),
        (None, "#include <stdio.h>"),
        ("tide", "tide"),
        ("tide", "How high the tide is."),
        ("tide", "int tide(int day) {\n    return day; // in metres, as"),
        ("tide", "everyone knows"),
        ("tide", "}"),
    ]
    check_places(document)


@pytest.mark.parametrize("name", SNIPPETS)
def test_the_usual_languages_are_read(name: str) -> None:
    document = read(SNIPPETS[name], name)
    assert [block.text for block in document.blocks].count("How high.") == 1
    assert any("a remark" in sentence for sentence in sentences(document))
    check_whole(document, ["How high."])


@pytest.mark.parametrize("name", [name for name in SNIPPETS if name not in ("a.sql", "a.sh", "a.hs")])
def test_functions_are_named(name: str) -> None:
    blocks = read(SNIPPETS[name], name).blocks
    assert next(block for block in blocks if block.text == "How high.").place == ("A.tide" if "A" in name else "tide")


def test_a_language_without_a_grammar_has_comments_and_no_sections() -> None:
    document = read("-- How high.\n-- The moon.\nCREATE TABLE tides (\n  day integer\n);\n\nSELECT 1;\n", "a.sql")
    assert [(block.text, block.level) for block in document.blocks] == [
        ("How high.\nThe moon.", 0),
        ("CREATE TABLE tides (\n  day integer\n);\n\nSELECT 1;", 0),
    ]
    assert len(sentences(document)) == 4
    check_places(document)


def test_a_name_says_what_it_is_within() -> None:
    source = (
        "class Sea {\n\tint tide() {\n\t\treturn 1; // It rises.\n\t}\n\tint wave() { return 2; }\n}\nclass Moon {\n}\n"
    )
    places = [(block.place, block.text) for block in read(source, "Sea.java").blocks if block.level and block.text]
    assert places == [("Sea", "Sea"), ("Sea.tide", "tide"), ("Sea.wave", "wave"), ("Moon", "Moon")]
    found = {passage.headings: passage.text for passage in passages(read(source, "Sea.java"))}
    assert found["Sea", "tide"] == "int tide() {\n\treturn 1; // It rises.\n}"
    assert found["Sea", "wave"] == "int wave() { return 2; }"


# A definition of each kind, by language: the source, and the qualified name and lines of each definition in it.
DEFINITIONS = {
    "a.py": (
        """\
LIMIT = 3

@cached
def tide(
    day,
):
    return day

class Sea:
    async def rise(self):
        pass
""",
        {"tide": (3, 7), "Sea": (9, 11), "Sea.rise": (10, 11)},
    ),
    "a.js": (
        """\
export default function tide(day) {
  return `}` + day;
}
class Sea {
  static async rise(a = {}) {
    go(/[/}]/);
  }
}
const wave = async (day) => {
  return 1;
};
Moon.prototype.fall = function () {
  return 2;
};
if (x) {
  y();
}
""",
        {"tide": (1, 3), "Sea": (4, 8), "Sea.rise": (5, 7), "wave": (9, 11), "Moon.prototype.fall": (12, 14)},
    ),
    "a.ts": (
        """\
export interface Tide<T> {
  day: T;
}
export const rise = <T>(a: T): Tide<T> => {
  return { day: a };
};
abstract class Sea {
  constructor(private day: number) {
    this.day = day;
  }
  get level(): number {
    return 1;
  }
}
type Level = number;
""",
        {
            "Tide": (1, 3),
            "rise": (4, 6),
            "Sea": (7, 14),
            "Sea.constructor": (8, 10),
            "Sea.level": (11, 13),
            "Level": (15, 15),
        },
    ),
    "a.go": (
        """\
type Tide struct {
\tday int
}

// Rise rises.
func (t *Tide) Rise(by int) (int, error) {
\tx := `}
{`
\treturn by, nil
}

func fall() {
again:
\tgoto again
}
""",
        {"Tide": (1, 10), "Tide.Rise": (5, 10), "fall": (12, 15)},
    ),
    "a.rs": (
        """\
#[derive(Debug)]
pub struct Tide<'a> {
    day: &'a str,
}

impl<'a> Rise for Tide<'a> {
    pub(crate) async fn rise(&self) -> u8
    where
        u8: Copy,
    {
        let s = r#"}"#;
        1
    }
}

macro_rules! wave {
    () => {};
}
""",
        {"Tide": (1, 14), "Tide.rise": (7, 13), "wave": (16, 18)},
    ),
    "A.java": (
        """\
@Entity
public final class A<T> extends B {
    private static final int LIMIT = 3;

    public A(int day) {
        super(day);
    }

    @Override
    public <T> List<T> tide(int day)
            throws IOException {
        if (day > 1) {
            return null;
        }
        return of();
    }

    interface Sea {
        void rise();
    }
}
""",
        {"A": (1, 21), "A.A": (5, 7), "A.tide": (9, 16), "A.Sea": (18, 20)},
    ),
    "a.c": (
        """\
#define LIMIT 3
struct tide {
    int day;
};

static inline struct tide *
rise(const char *by, int (*of)(int))
{
#ifdef SEA
    if (by) {
        goto out;
    }
#endif
    fall();
out:
    return NULL;
}

int fall(void);

int fall(void) { return '{'; }
""",
        {"tide": (2, 4), "rise": (6, 17), "fall": (21, 21)},
    ),
    "a.cpp": (
        """\
namespace sea {

template <typename T>
class Tide final : public Moon<T> {
 public:
  explicit Tide(int day) : day_(day) {}
  ~Tide() override {
    fall();
  }
 private:
  int day_;
};

Tide::Tide(int day)
    : day_(day) {
  rise();
}

auto Tide::rise(int by) const noexcept -> int {
  return by;
}

}
""",
        {"Tide": (3, 12), "Tide.Tide": (6, 6), "Tide.~Tide": (7, 9), "Tide::Tide": (14, 17), "Tide::rise": (19, 21)},
    ),
    "A.cs": (
        """\
namespace Sea
{
    public record struct Tide(int Day);

    [Serializable]
    public partial class A : B
    {
        /// <summary>High.</summary>
        public async Task<int> RiseAsync(int by = 1)
        {
            var s = @"C:\\";
            return by;
        }

        public int Fall(int by) => by;
    }
}
""",
        {"Sea": (1, 17), "Sea.Tide": (3, 3), "Sea.A": (5, 16), "Sea.A.RiseAsync": (8, 13), "Sea.A.Fall": (15, 15)},
    ),
    "a.sh": (
        """\
LIMIT=3
function rise {
  cat <<EOF
fall() {
EOF
  echo "${#x} }"
}

set-tide() {
  rise $# 'it # is'
}
rise
""",
        {"rise": (2, 7), "set-tide": (9, 11)},
    ),
}


@pytest.mark.parametrize("name", DEFINITIONS)
def test_definitions_have_their_lines(name: str) -> None:
    source, expected = DEFINITIONS[name]
    document, lines = read(source, name), dict[str, list[int]]()
    for passage in passages(document):
        for sentence, place in zip(passage.sentences, _places(passage), strict=True):
            last = sentence.line + passage.text[sentence.start : sentence.end].count("\n")
            lines.setdefault(place or "", []).extend((sentence.line, last))
    found = {
        place: [each for other, own in lines.items() if other == place or other.startswith(f"{place}.") for each in own]
        for place in lines
        if place
    }
    assert {place: (min(own), max(own)) for place, own in found.items()} == expected
    check_places(document)


def _places(passage: Passage) -> list[str | None]:
    changes, found, place = dict(passage.places), list[str | None](), None
    for number in range(len(passage.sentences)):
        place = changes.get(number, place)
        found.append(place)
    return found


@pytest.mark.parametrize("source", ["x();" * 10_000, "x();\n" * 500_000])
def test_what_a_program_has_written_is_refused(source: str) -> None:
    with pytest.raises(SourceError, match=r"a\.js looks (?:generated|minified)"):
        read(source, "a.js")


def test_marks_for_tools_and_rulers_are_no_text() -> None:
    source = "#!/bin/sh\n# -*- mode: sh -*-\n# ------------\n# Said.\n############\n"
    assert [block.text for block in read(source, "a.sh").blocks] == ["Said."]


def test_lines_of_code_are_sentences_that_end_where_brackets_do() -> None:
    source = (
        "def f(\n    day,\n    by=(1, 2),\n):\n    x = 1\n    y = 2\n\n    return [\n        day,\n        by,\n    ]\n"
    )
    assert sentences(read(source, "a.py")) == [
        "def f(\n    day,\n    by=(1, 2),\n):",
        "x = 1\n    y = 2",
        "return [\n        day,\n        by,\n    ]",
    ]
    long = f"x = [\n{'    1234567890,' * 200}\n]\n"
    assert all(len(sentence) <= 1000 for sentence in sentences(read(long, "a.py")))


@pytest.mark.parametrize("name", DEFINITIONS)
def test_source_code_that_ends_anywhere_is_read(name: str) -> None:
    for cut in range(0, 300, 7):
        check_places(read(DEFINITIONS[name][0][:cut], name))


# -- Python ------------------------------------------------------------------------------------------------------------

PYTHON = '''#!/usr/bin/env python
"""Tides and their tables.

They move. Größe zählt."""
import os  # noqa: F401

# The moon pulls
# the sea.
LIMIT = "no sentence of prose"  # metres above the sea


class Tide(Base):
    """A tide of one day."""

    height = 3
    """Its height, in metres."""

    async def rise(self, moon: str = "é:") -> None:
        """Rise
        slowly.

        Then stop."""

        def inner():
            # A remark inside.
            return 1
        return 2  # Back in rise.
'''


def read_python(source: str) -> Document:
    return read_bytes(source.encode(), "tides.py")


def test_docstrings_comments_and_signatures_come_by_function() -> None:
    document = read_python(PYTHON)
    assert [(block.place, block.text, block.level) for block in document.blocks] == [
        (None, "Tides and their tables.", 0),
        (None, "They move. Größe zählt.", 0),
        (None, "import os  # noqa: F401", 0),
        (None, "The moon pulls\nthe sea.", 0),
        (None, 'LIMIT = "no sentence of prose"  # metres above the sea', 0),
        ("Tide", "Tide", 1),
        ("Tide", "class Tide(Base):", 0),
        ("Tide", "A tide of one day.", 0),
        ("Tide", "    height = 3", 0),
        ("Tide", "Its height, in metres.", 0),
        ("Tide.rise", "rise", 2),
        ("Tide.rise", 'async def rise(self, moon: str = "é:") -> None:', 0),
        ("Tide.rise", "Rise\nslowly.", 0),
        ("Tide.rise", "Then stop.", 0),
        ("Tide.rise.inner", "inner", 3),
        ("Tide.rise.inner", "def inner():", 0),
        ("Tide.rise.inner", "A remark inside.", 0),
        ("Tide.rise.inner", "    return 1", 0),
        (None, "", 3),  # its section ends
        ("Tide.rise", "    return 2  # Back in rise.", 0),
    ]
    assert (document.title, document.format) == ("tides.py", "python")


def test_what_follows_a_function_does_not_stand_under_it() -> None:
    found = {passage.text: passage.headings for passage in passages(read_python(PYTHON + "\n# At the end.\n"))}
    assert found["    return 2  # Back in rise."] == ("Tide", "rise")
    assert found["At the end."] == ()


def test_every_docstring_of_a_package_is_found_in_its_file() -> None:
    for path in sorted((Path(semsearch.__file__).parent / "readers").rglob("*.py")):
        document = read_file(path).document
        check_whole(document, [])
        assert document.blocks[0].text in document.source or path.stat().st_size == 0
