"""reStructuredText to a docutils tree, whatever dialect it is in, and touching nothing outside the text.

docutils turns directives and roles that it does not know (Sphinx's, say) into error messages. Here an unknown directive
gives its argument and its parsed content, and every role gives the text that a reader would see. No file is included,
no raw output kept, no transform run, nothing is printed; and docutils' global tables stay as they are, so that a
program that uses docutils too sees no difference.
"""

from __future__ import annotations

import io
import re
from collections.abc import Sequence
from copy import copy
from functools import cache, partial
from itertools import chain
from typing import Any

from docutils import nodes, utils
from docutils.frontend import get_default_settings
from docutils.parsers.rst import Directive, Parser, directives, states
from docutils.parsers.rst.directives.tables import CSVTable

_LABELS = {
    "versionadded": "Added in version",
    "versionchanged": "Changed in version",
    "deprecated": "Deprecated since version",
    "versionremoved": "Removed in version",
}
LITERAL = (  # directives of which the content is kept as it stands
    "code code-block sourcecode math productionlist doctest testcode testoutput prompt console ipython "
    "graphviz digraph graph mermaid uml plantuml json jsonschema"
).split()
_CONTENT_ONLY = "class rst-class cssclass only ifconfig container compound"
_DROPPED = (
    "contents sectnum section-numbering raw include literalinclude role default-role highlight meta title header "
    "footer target-notes toctree index tabularcolumns currentmodule py:currentmodule"
)
_ODD_LINE_ENDS = re.compile("[\v\f\x1c-\x1e\x85\u2028\u2029]")  # docutils ends lines there; editors do not
MAIL_HEADER = re.compile(r"\s*(?:[A-Za-z][\w-]*:(?: .*)?(?:\r\n?|\n)(?:[ \t]+\S.*(?:\r\n?|\n))*){2,}(?:\s|\Z)")
_MARKUP = re.compile(r"[*`|\\\x00]|_(?!\w)")
_SHOWN = re.compile(r"(.+?)\s*<[^<>]*>", re.DOTALL)


def parse(source: str) -> nodes.document:
    """The tree of a text; a node's `line`, where it has one, counts lines as an editor does.

    A header like that of a mail ("Title: ..."), which Python's PEPs have, is a field list.
    """
    document = _new_document(len(source))
    parser = Parser(rfc2822=bool(MAIL_HEADER.match(source)), inliner=_inliner())
    parser.state_classes = _STATES
    parser.parse(_ODD_LINE_ENDS.sub(" ", source), document)
    return document


def _inliner() -> states.Inliner:
    inliner = states.Inliner()
    patched = {"interpreted": _interpreted, "implicit_inline": _plain, "parse": partial(_parse_inline, inliner)}
    vars(inliner).update(patched)  # not a subclass: docutils looks for patterns in the class itself
    return inliner


def _plain(text: str, _line: int) -> list[nodes.Node]:
    """Addresses within a text are text: in place of the method of docutils' Inliner, which makes them references."""
    return [nodes.Text(text)] if text else []


def _parse_inline(inliner: Any, text: str, lineno: int, memo: Any, parent: nodes.Element) -> Any:
    """The nodes of a paragraph's text; nearly half of all paragraphs have no markup in them."""
    if not _MARKUP.search(text):
        return [nodes.Text(text)], []
    return states.Inliner.parse(inliner, text, lineno, memo, parent)


def _new_document(length: int) -> nodes.document:
    settings = copy(_settings())
    settings.warning_stream = io.StringIO()
    settings.line_length_limit = length + 1
    return utils.new_document("<text>", settings)


@cache
def _settings() -> Any:
    settings = get_default_settings(Parser)
    settings.report_level = settings.halt_level = 6  # above "severe": nothing is printed, nothing raised
    settings.file_insertion_enabled = settings.raw_enabled = False
    settings.syntax_highlight = "none"
    return settings


def _interpreted(rawsource: str, text: str, role: str, _line: int) -> tuple[list[nodes.Node], list[nodes.Node]]:
    """Every role gives plain text; in place of the method of docutils' Inliner."""
    return [nodes.inline(rawsource, role_text(role.lower(), utils.unescape(text)))], []


def role_text(role: str, text: str) -> str:
    """The visible text of a role such as :ref:`Title <label>`; empty for raw output."""
    if role.startswith("raw"):
        return ""
    if titled := _SHOWN.fullmatch(text):
        return titled[1]
    if role in ("pep", "rfc"):
        return f"{role.upper()} {text.partition('#')[0]}"
    if text.startswith("~"):
        return text.rpartition(".")[2].lstrip("~")
    return text.removeprefix("!")


class _AnyOption(dict[str, Any]):
    """An option specification that knows every option."""

    def __contains__(self, name: object) -> bool:
        return True

    def __bool__(self) -> bool:
        return True

    def __missing__(self, name: str) -> Any:
        return directives.unchanged


class _Generic(Directive):
    """The argument as a paragraph, then the content."""

    optional_arguments = 1
    final_argument_whitespace = True
    has_content = True
    option_spec = _AnyOption()

    def run(self) -> list[nodes.Node]:
        container = nodes.container()
        if argument := self.argument():
            children, messages = self.state.inline_text(argument, self.lineno)
            paragraph = nodes.paragraph(argument, "", *children)
            paragraph.line = self.lineno
            container += [paragraph, *messages]
        self.state.nested_parse(self.content, self.content_offset, container)
        return [container]

    def argument(self) -> str:
        return " ".join([*filter(None, [_LABELS.get(self.name)]), *self.arguments])


class _ContentOnly(_Generic):
    def argument(self) -> str:
        return ""


class _Figure(_Generic):
    """The alternative text, then caption and legend."""

    def argument(self) -> str:
        return self.options.get("alt") or ""


class _Image(_Figure):
    def run(self) -> list[nodes.Node]:
        if isinstance(self.state, states.SubstitutionDef):  # which takes inline elements only
            return [nodes.inline("", self.argument())]
        return super().run()


class _Literal(_Generic):
    """The content as it stands. What follows the name is a language, except for mathematics."""

    def run(self) -> list[nodes.Node]:
        first = self.arguments if self.name == "math" else []
        block = nodes.literal_block("", "\n".join([*first, *self.content]))
        block.line = self.lineno if first else self.content_offset + 1
        return [block]


class _CsvTable(CSVTable):
    """A table without line numbers, which docutils counts from the table's first row."""

    def run(self) -> Sequence[nodes.table | nodes.system_message]:
        elements = super().run()
        for node in chain.from_iterable(element.findall() for element in elements):
            node.line = None
        return elements


class _Dropped(_Generic):
    def run(self) -> list[nodes.Node]:
        return []


_DIRECTIVES: dict[str, type[Directive]] = {
    **dict.fromkeys(LITERAL, _Literal),
    **dict.fromkeys(_CONTENT_ONLY.split(), _ContentOnly),
    **dict.fromkeys(_DROPPED.split(), _Dropped),
    "csv-table": _CsvTable,
    "figure": _Figure,
    "image": _Image,
}


class _OwnStates(states.RSTState):
    """A parser state that continues with ours, not with docutils' own, for what is nested in it."""

    def __init__(self, state_machine: Any, debug: bool = False) -> None:
        super().__init__(state_machine, debug)
        kwargs = {"state_classes": _STATES, "initial_state": "Body"}
        self.nested_sm_cache = _MACHINES
        self.nested_sm_kwargs = self.indent_sm_kwargs = self.known_indent_sm_kwargs = kwargs
        del self.transition_order, self.transitions

    def add_initial_transitions(self) -> None:
        """None, until they are asked for: each machine makes all states, and uses one or two."""

    def __getattr__(self, name: str) -> Any:
        if name not in ("transition_order", "transitions"):
            raise AttributeError(name)
        self.transition_order, self.transitions = [], {}
        super().add_initial_transitions()
        return vars(self)[name]


class _Lenient(_OwnStates, states.Body):
    """A parser state that knows every directive."""

    def run_directive(self, directive: Any, match: Any, type_name: str, option_presets: Any) -> Any:
        ours = _DIRECTIVES.get(type_name.lower(), directive)
        run: Any = super().run_directive
        return run(ours, match, type_name, option_presets)

    def unknown_directive(self, type_name: str) -> Any:
        match = re.match(rf"(?:.*?\s)?{re.escape(type_name)} ?::(?: +|$)", self.state_machine.line or "")
        return self.run_directive(_Generic, match, type_name, {})


_MACHINES: list[Any] = []  # those at rest, to be used again; docutils' own list holds machines with its own states
_STATES: list[Any] = [
    type(state.__name__, (_Lenient if issubclass(state, states.Body) else _OwnStates, state), {})
    for state in states.state_classes
]
