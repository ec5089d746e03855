"""What common languages look like: their comments and strings, and the lines that define something.

A language has one regular expression for comments and strings, and some for definitions, which are searched in a mask
of the source: the same text with spaces for all comments and strings. No grammar is needed, since a definition's extent
follows from its indentation (semsearch.readers.source_code), which people and formatters keep. That is ten times
as fast as Pygments, which knows the other languages; docs/research/measurements.md, "Source code", has the figures.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import PurePath

_LINE = r"//[^\r\n]*"
_BLOCK = r"/\*(?:[^*]|\*(?!/))*+(?:\*/|\Z)"
_DOUBLE = r'"(?:[^"\\\n]|\\.)*+"?'
_SINGLE = r"'(?:[^'\\\n]|\\.)*+'?"
_LETTER = r"'(?:\\[^\n']{1,9}|[^'\\\n])'"  # one character: Rust's lifetimes have the same mark
_TRIPLE = r'"""(?:[^"\\]|\\.|"(?!""))*+(?:"""|\Z)'
_ARGUMENTS = r"\([^;{}()]{0,600}+(?:\([^()]{0,200}+\)[^;{}()]{0,300}+){0,20}+\)"
_DESTRUCTURED = r"\((?:[^;{}()]++|\([^()]{0,200}+\)|\{[^{}]{0,400}+\}){0,30}+\)"
_MODIFIERS = (
    r"(?:(?:public|private|protected|internal|static|final|abstract|sealed|partial|open|data|inner|override|case|export"
    r"|default|declare|readonly|unsafe|async|virtual|companion|inline|value|annotation|implicit|lazy|fileprivate"
    r"|mutating|indirect|suspend|operator|extern|new|ref|native|synchronized|strictfp|non-sealed|tailrec|infix"
    r"|constexpr|explicit|friend|@\w+(?:\([^()\n]{0,200}\))?)[ \t]+)*+"
)
_KINDS = (
    r"(?:class|interface|struct|enum|record(?:[ \t]+(?:class|struct))?|object|protocol|extension|trait|namespace|union"
    r"|actor|mixin)"
)
_TYPED = (  # a return type, a name, arguments, and what may follow up to the body
    rf"^[ \t]*{_MODIFIERS}(?:template[ \t]*<[^;{{}}()\n]{{0,200}}>\s*)?"
    r"(?:[\w~@<\[][\w.:~@?<>\[\],]*+[ \t*&]++){1,6}?(?:\n[ \t]*)?[*&]*"
    r"(?P<name>(?:\w+(?:<[^<>\n]{0,80}>)?::)*~?\w++(?:<[^<>()\n]{0,80}>)?"
    rf"|(?:\w+::)*operator[^\w\s(]{{1,3}})[ \t]*{_ARGUMENTS}"
    r"[ \t\n]*(?:(?:const|noexcept|override|final)[ \t\n]*)*(?:(?:throws|where|->|:)[^;{}]{1,300})?(?:\{|=>)"
)
_UNTYPED = (  # a constructor, or a method in a script
    rf"^[ \t]+{_MODIFIERS}(?:get[ \t]+|set[ \t]+|\*[ \t]*|#)?(?P<name>[\w$]+)[ \t]*(?:<[^<>()\n]{{0,80}}>)?{_ARGUMENTS}"
    r"[ \t\n]*(?:(?:throws|:)[^;{}=]{1,200})?\{"
)
_MEMBER = (  # a constructor, a destructor or a conversion of C++, outside or inside of its class
    rf"^[ \t]*{_MODIFIERS}(?P<name>(?:\w+::)+~?\w+|~\w+)[ \t]*{_ARGUMENTS}[ \t\n]*(?:noexcept|override|const)?"
    r"[ \t\n]*(?::[^;{}]{1,600})?\{"
)
_NOT_NAMES = frozenset(
    "if for while switch catch return else new using lock foreach sizeof do try throw await yield delete case with "
    "elif elseif until unless when select synchronized fixed assert typeof defined super this base not and or "
    "in".split()
)


@dataclass(frozen=True, slots=True)
class Language:
    """The shape of a language. `tokens` has the groups `comment` and `string`; each of `definitions` has `name`.

    A definition may have the group `of` too, the type that it belongs to, and `light`, if what it names is a function
    only if it is longer than an expression.
    """

    tokens: str
    definitions: tuple[str, ...]
    flags: int = 0
    transparent: str = ""  # lines that end no definition, whatever their indentation, after white space
    by_statement: bool = False  # a definition ends with its statement
    has_docstrings: bool = False  # texts that stand alone are comments

    @property
    def token_pattern(self) -> re.Pattern[str]:
        """The pattern of comments and strings."""
        return _compiled(self.tokens, re.DOTALL | self.flags)

    def defined(self, mask: str) -> Iterator[re.Match[str]]:
        """Yield the definitions in a mask, one kind after the other."""
        for pattern in self.definitions:
            for match in _compiled(pattern, re.MULTILINE | self.flags).finditer(mask):
                is_sure = self.has_docstrings  # "def" and "class" leave no doubt
                if is_sure or (match["name"] not in _NOT_NAMES and not _STATEMENT.match(match[0])):
                    yield match


_STATEMENT = re.compile(r"\s*(?:return|else|new|throw|await|yield|delete|case|goto|using|package|import)\b")


@cache
def _compiled(pattern: str, flags: int) -> re.Pattern[str]:
    return re.compile(pattern, flags)


def _tokens(comments: str, strings: str) -> str:
    return f"(?P<comment>{comments})|(?P<string>{strings})"


_C_COMMENTS = f"{_LINE}|{_BLOCK}"
_TYPES = rf"^[ \t]*{_MODIFIERS}{_KINDS}[ \t]+(?P<name>[\w.]+)(?![\w.]*[ \t]*(?:;|=))"
_C_TYPES = (
    r"^[ \t]*(?:typedef[ \t]+|template[ \t]*<[^;{}()\n]{0,200}>\s*)*(?:class|struct|enum(?:[ \t]+class)?|union)[ \t]+"
    r"(?:[A-Z_]+(?:\([^()\n]*\))?[ \t]+)?(?P<name>[\w:]+)[^;{}()=]{0,300}\{"
)
_FUN = rf"^[ \t]*{_MODIFIERS}(?:fun|func|def|function)[ \t]+(?:<[^<>\n]{{0,80}}>[ \t]*)?&?(?P<name>[\w.?!]+|`[^`\n]+`)"
_OUTSIDE = r"#|\w+:(?!:)"  # a directive or a label
_C = Language(_tokens(_C_COMMENTS, f"{_LETTER}|{_DOUBLE}"), (_C_TYPES, _TYPED), transparent=_OUTSIDE)
_CPP = Language(
    _tokens(_C_COMMENTS, rf'R"(?P<mark>[^\s()"]{{0,16}})\(.*?\)(?P=mark)"|{_LETTER}|{_DOUBLE}'),
    (_C_TYPES, _TYPED, _UNTYPED, _MEMBER), transparent=_OUTSIDE,
)  # fmt: skip
_JAVA = Language(_tokens(_C_COMMENTS, f"{_TRIPLE}|{_LETTER}|{_DOUBLE}"), (_TYPES, _TYPED, _UNTYPED), transparent=r"@")
_CSHARP = Language(
    _tokens(_C_COMMENTS, rf'{_TRIPLE}|\$?@\$?"(?:[^"]|"")*+"?|{_LETTER}|{_DOUBLE}'),
    (_TYPES, _TYPED, _UNTYPED), transparent=r"#",
)  # fmt: skip
_GO = Language(
    _tokens(_C_COMMENTS, f"`[^`]*`?|{_LETTER}|{_DOUBLE}"),
    (
        r"^func[ \t]+(?:\([ \t]*(?:\w+[ \t]+)?\*?(?P<of>\w+)[^()]{0,80}\)[ \t]*)?(?P<name>\w+)",
        r"^type[ \t]+(?P<name>\w+)",
    ),
    transparent=r"\w+:$",
)
_RUST = Language(
    _tokens(_C_COMMENTS, rf'b?r(?P<mark>\#{{0,8}})".*?"(?P=mark)|{_LETTER}|b?"(?:[^"\\]|\\.)*+"?'),
    (
        r"^[ \t]*(?:pub(?:\([^()\n]{0,40}\))?\s+)?(?:(?:default|const|async|unsafe|extern)\s+)*"
        r"(?:fn|struct|enum|trait|union|mod|type|macro_rules!)\s+(?P<name>\w+)",
        r"^[ \t]*(?:unsafe\s+)?impl(?:<[^{;\n]{0,200}?>)?\s+(?:[^{;\n]{1,200}?\s+for\s+)?(?P<name>[\w:]+)",
    ),
    transparent=r"where\b",
)
_REGEX = r"(?<=[(,=:\[!&|?{};\n])[ \t]*/(?![/*])(?:[^/\\\n\[]|\\.|\[(?:[^\]\\\n]|\\.)*+\])++/"
_SCRIPT = Language(
    _tokens(_C_COMMENTS, rf"{_REGEX}|`(?:[^`\\]|\\.)*+`?|{_SINGLE}|{_DOUBLE}"),
    (
        rf"^[ \t]*{_MODIFIERS}(?:function[ \t]*\*?|class|interface|enum|namespace|module|type)[ \t]+(?P<name>[\w$.]+)",
        rf"^[ \t]*{_MODIFIERS}(?:(?:const|let|var)[ \t]+)?(?P<name>[\w$#]+(?:\.[\w$]+)*)[ \t]*"
        r"(?::[^=;{}()\n]{1,200})?"
        rf"(?P<light>[=:])[ \t]*(?:async\b[ \t]*)?"
        rf"(?:function\b|(?:<[^<>()\n]{{0,80}}>)?{_DESTRUCTURED}[ \t]*(?::[^=;{{}}\n]{{1,200}})?=>"
        r"|[\w$]+[ \t]*=>|class\b)",
        _UNTYPED.replace(_ARGUMENTS, _DESTRUCTURED),
    ),
    transparent=r"@",
)
_BRACED = Language(  # Kotlin, Swift, Scala, Groovy, PHP, Dart
    _tokens(f"{_LINE}|{_BLOCK}", f"{_TRIPLE}|{_SINGLE}|{_DOUBLE}"), (_TYPES, _FUN, _TYPED, _UNTYPED), transparent=r"@"
)
_SHELL = Language(
    _tokens(
        r"(?<![^\s;(|&])\#[^\r\n]*",
        r"<<-?[ \t]*(?P<quote>['\"]?)(?P<mark>\w+)(?P=quote)[^\n]*\n.{0,4000}?\n[ \t]*(?P=mark)\b"
        r"|'[^']*+'|\"(?:[^\"\\]|\\.)*+\"",
    ),
    (r"^[ \t]*(?:function[ \t]+)(?P<name>[\w:.-]+)[ \t]*(?:\([ \t]*\))?", r"^[ \t]*(?P<name>[\w:.-]+)[ \t]*\([ \t]*\)"),
)
_RUBY = Language(
    _tokens(r"\#[^\r\n]*|^=begin\b.*?^=end\b[^\n]*", f"{_SINGLE}|{_DOUBLE}"),
    (r"^[ \t]*(?:def[ \t]+(?:self\.)?|class[ \t]+|module[ \t]+)(?P<name>[\w:]+[?!=]?)",),
    re.MULTILINE,
)
_SQL = Language(
    _tokens(rf"--[^\r\n]*|{_BLOCK}", r"'(?:[^']|'')*+'?"),
    (
        r"^[ \t]*CREATE\s+(?:OR\s+(?:REPLACE|ALTER)\s+)?(?:(?:TEMP|TEMPORARY|UNIQUE|MATERIALIZED|RECURSIVE|UNLOGGED"
        r"|GLOBAL|LOCAL|CLUSTERED|CONSTRAINT)\s+)*(?:TABLE|VIEW|FUNCTION|PROCEDURE|PROC|TRIGGER|INDEX|TYPE|SEQUENCE|PACKAGE"
        r"(?:\s+BODY)?|DOMAIN|POLICY|EVENT)\s+(?:CONCURRENTLY\s+)?(?:IF\s+NOT\s+EXISTS\s+)?(?P<name>[\w.\"`\[\]]+)",
    ),
    re.IGNORECASE,
    by_statement=True,
)
_ALL_QUOTES = rf"'''(?:[^'\\]|\\.|'(?!''))*+(?:'''|\Z)|{_TRIPLE}|{_SINGLE}|{_DOUBLE}"
_PYTHON = Language(
    _tokens(r"\#[^\r\n]*", _ALL_QUOTES),
    (r"^[ \t]*(?:async[ \t]+)?(?:def|class)[ \t]+(?P<name>\w+)",),
    has_docstrings=True,
)
_LANGUAGES = (
    (_C, ".c .h"),
    (_CPP, ".cc .cpp .cxx .hh .hpp .hxx"),
    (_JAVA, ".java"),
    (_CSHARP, ".cs"),
    (_GO, ".go"),
    (_RUST, ".rs"),
    (_SCRIPT, ".js .mjs .cjs .jsx .ts .tsx"),
    (_BRACED, ".kt .kts .swift .scala .groovy .php .dart"),
    (_SHELL, ".sh .bash .zsh"),
    (_RUBY, ".rb"),
    (_SQL, ".sql"),
    (_PYTHON, ".py .pyi"),
)
_OF_SUFFIX = {suffix: language for language, suffixes in _LANGUAGES for suffix in suffixes.split()}


def language_named(name: str) -> Language | None:
    """The language of a file by its name; None for those that only Pygments knows."""
    return _OF_SUFFIX.get(PurePath(name).suffix.lower())
