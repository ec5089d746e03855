"""The kind of answer that a question asks for, by its words: a number, a date, a name, a command, a default.

The rules are few, and each was measured by itself (docs/research/measurements.md, "The sentence that states the
fact"). Those with words are for the languages in which they were: a number is recognised as asked for in seven, all
else in English.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from functools import lru_cache
from math import prod
from typing import NamedTuple

from semsearch import tuning
from semsearch.search.passage_parts import Part
from semsearch.text.languages import ENGLISH, STOP_WORDS

_NUMBER_WORDS = (
    "one|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|thirteen|fourteen|fifteen|sixteen|seventeen|eighteen"
    "|nineteen|twenty|thirty|forty|fifty|sixty|seventy|eighty|ninety|hundreds?|thousands?|dozens?"
)
_COUNT = re.compile(rf"\d[\d.,]*\d|\d|\b(?:{_NUMBER_WORDS})(?:[- ](?:{_NUMBER_WORDS}))*\b")  # in lower case
_DIGITS = re.compile(r"\w+://\S+|\bv?\d+")  # not of a name: "IPv4", "S3"
_NAME = re.compile(
    r"(?<![\w-])--?[a-zA-Z][\w-]+|\b\w+_\w+\b|\b[a-z]+[A-Z]\w*|\b[A-Z]{3,}\b|\b[A-Z][a-z]+[A-Z]\w*|\w+::\w+|\w+\.[a-z]\w+"
    r"|[\w~$]*/[\w.]+|@\w+|\w+\(\)|\w+<\w+>|\b[A-Z]+\d+\b"
)
_ASKS_NUMBER: Mapping[str, str] = {
    "en": r"\b(how (many|much|big|long|large|wide|often|high|heavy|far|fast|old|hot|deep)|when|port|default|timeout"
    r"|(which|what) (version|release|year|day|date|time)|max(imum)?|min(imum)?|size|number of|date|day|width|length"
    r"|depth|level|limit|price|costs?|amount|years?|highest|largest|least|lowest|greatest|shortest|longest)\b",
    "de": r"\bwie (viele?|hoch|groß|lang|weit|alt|oft)\b|wieviel|\bwann\b|welche[mnrs]? (jahr|datum|monat|tag)|prozent",
    "es": r"cuánt[oa]s?|cuándo|qué (año|fecha|día|mes|porcentaje|siglo)",
    "ru": r"скольк|когда|как(ом|ой|ого|ая) (год|дат|ден|месяц|процент|век)",
    "tr": r"\bkaç|ne zaman|hangi (yıl|tarih|gün|ay)|ne kadar",
    "ar": r"كم |متى|أي (عام|سنة|تاريخ|يوم)|نسبة",
    "zh": r"多少|几|何时|什么时候|哪一?年|哪天|什么时间|年份|日期",
}
_MONTH = r"(?:January|February|March|April|May|June|July|August|September|October|November|December)"
_DATE = re.compile(
    rf"\b\d{{1,2}} {_MONTH},? \d{{4}}|{_MONTH} \d{{1,2}},? \d{{4}}|{_MONTH} \d{{4}}|{_MONTH} \d{{1,2}}\b"
    r"|\b\d{4}-\d\d(?:-\d\d)?\b|\b(?:1\d|20)\d\d\b(?:–\d+)?|\b\d{3,4} (?:BC|AD|CE|BCE)\b"
    r"|\b\d\d?(?:th|st|nd|rd) centur(?:y|ies)"
)
_TIMES = "milliseconds?|ms|s|seconds?|min|minutes?|h|hours?|days?|weeks?|months?|years?|decades?|centur(?:y|ies)"
_SIZES = "mm|cm|m|km|[KMGT]i?B|bytes?|bits?|characters?|columns?|pixels|met(?:er|re)s?|inch(?:es)?|feet|miles"
_MEASURES = [  # what a question asks for, and what a number of that kind looks like
    (
        r"\b(how (long|often|old)|timeout|how much (notice|time))\b",
        rf"\b(?:\d[\d.,]*|{_NUMBER_WORDS}|an?|each|every)[ -](?:and a half )?(?:full |more )?(?:{_TIMES})\b"
        r"|\b(?:annual|daily|weekly|monthly)",
    ),
    (
        r"\b(how (wide|high|tall|deep|far|big|large|long|much)|width|height|size|length|limit|up to)\b",
        rf"\d\s?(?:{_SIZES})\b",
    ),
    (
        r"\b(when|(which|what) (day|date|year|month|time)|date of|day of|on which days?)\b",
        rf"{_DATE.pattern}|\d\d?:\d\d|{_MONTH}|\b(?:Mon|Tues|Wednes|Thurs|Fri|Satur|Sun)days?\b",
    ),
    (r"\benvironment variable\b", r"(?-i:\b[A-Z][A-Z\d]*_[A-Z\d_]+\b|\$[A-Z])"),
]
_HOW_MANY = re.compile(r"\b(?:how many|number of) ((?:\w+ ?){1,3})", re.IGNORECASE)
_ASKS_NAME = re.compile(
    r"\b(variable|option|flag|switch|function|file|package|trait|keys?|table|header|operator|property|parameter|module"
    r"|decorator|method|class|cmdlet|lint|command|setting|types?|executable|syntax|path|folder|directory|exception"
    r"|attribute|field|algorithm|protocol|name|marker|prefix|where (is|are|do|does))\b",
    re.IGNORECASE,
)
_TO_DO = frozenset(
    """add allow append apply avoid build call cancel catch change check clean clear clone close combine commit compare
    compress configure connect convert copy count create debug declare define delete deploy disable display download
    enable exclude export extract fetch filter find finish fix force format generate get handle hide ignore import
    include insert install join keep kill limit list load lock log loop make mark merge mount move open parse pass
    pin prevent print publish pull push raise read rebuild redirect reload remove rename replace reset restart
    restore return revert rotate run save search see send serve set show sign skip sort split squash start stash
    stop switch sync tag test track turn undo uninstall update upgrade upload use verify view withdraw write""".split()
)
_ASKS_COMMAND = re.compile(
    r"\b(command|flag|option|switch|syntax|statement|signature|script|line for|how (to|(do|can) (i|you|we))|code)\b",
    re.IGNORECASE,
)
_ASKS_DEFAULT = re.compile(r"\b(default|nothing|out of the box|if i (set|don't|do not))\b", re.IGNORECASE)
_DEFAULT = re.compile(r"default(?!\w*(?: to| is)?[:= ]{1,3}\$\w+(?![\w/]))", re.IGNORECASE)  # not "default: $SIZE"
_ASKS_DEFINITION = re.compile(
    r"\W*(?:(?:what|who)(?: is|'s| are| was| were)|what do(?:es)?(?=.* (?:mean|do|stand for)\W*\Z)|define"
    r"|(?:definition|meaning) of) (?:an? |the )?(?P<thing>[\w-]+(?: [\w-]+){0,3}?)(?: mean| do| stand for)?\W*\Z"
)
_IS_TERM = re.compile(r"\W*(?P<thing>[a-z][a-z'-]+(?: [a-z][a-z'-]+){0,2})\W*\Z")  # a query that is nothing but a name
_IS_FULLY = (  # what a sentence says that begins with the thing
    r"(?:(?:is|are|was|were)(?= [\"“]?(?:an?|the|any|\w+['’]s) )|are(?= (?:\w+ )?\w+s\b)"
    r"|means?|refers? to|stands? for|represents?|consists? of)\b"
)
_IS = (
    r"(?:(?:is|are|was|were)(?= (?:how|what|where|one|like|similar|used|called|responsible)\b)"
    r"|lets?|allows?|defines?|describes?|provides?|(?:can|may) be (?:an?|any|used (?:to|for|as)))\b"
)
_SUBORDINATE = (
    "although|as|because|before|after|how|if|once|since|that|though|unless|until|what|when|where|whether|while"
    "|this|these|those|such|your|our|its|their"  # one of several: "this directive is a special case"
)
_YEAR = re.compile(r"(?:1\d|20)\d\d\Z")
_WHEN = re.compile(r"^(?:\w+ )?when\b|\b(?:what|which) (?:year|date|day)\b", re.IGNORECASE)


class AnswerKind(NamedTuple):
    """The kind of answer that a question asks for; a sentence that has it counts `factor` times as much."""

    question: str  # case-folded
    rules: Sequence[tuple[str, Callable[[Part], bool]]]  # a number of tuning, and whether a part has what it is for
    counted: tuple[str, ...]  # of which things a number is asked for: the words after "how many"
    is_definition: bool  # what a thing is
    is_date: bool
    asks_detail: bool  # whether a number, a name or a default is asked for
    reordered: int  # number of best hits of which one with a better answer may become the first

    @property
    def most(self) -> float:
        """The largest factor that a part may have."""
        return float(prod(getattr(tuning.TUNING, name) for name, _ in self.rules))

    def factor(self, part: Part) -> float:
        """By how much the score of a part of a passage is multiplied: 1 if it has nothing that is asked for."""
        return float(prod(getattr(tuning.TUNING, name) for name, has in self.rules if has(part)))

    def answer_in(self, text: str) -> tuple[int, int] | None:
        """Where the date or the number that answers stands in a text, if it is the only one.

        Of 1,190 English questions of XQuAD 69 are marked, 66 of them rightly: in the half on which the rule was
        chosen 36 of 39, in the other 30 of 30. "How much" is not (6 of 10), nor what was not asked there.
        """
        if self.is_date:
            dates = [date for date in _DATE.finditer(text) if date.group().casefold() not in self.question]
            return dates[0].span() if len(dates) == 1 else None
        words = self.question.split()
        new = [span for number, *span in _counts(text) if number not in words and not _YEAR.match(number)]
        return (new[0][0], new[0][1]) if len(new) == 1 and _is_of(self.counted, text, new[0][1]) else None


@lru_cache(maxsize=256)
def answer_kind(question: str, language: str) -> AnswerKind:
    """The kind of answer that a question in a language asks for."""
    folded, is_english, rules = question.casefold(), language == ENGLISH, list[tuple[str, Callable[[Part], bool]]]()
    asks_number = re.search(_ASKS_NUMBER.get(language, "(?!)"), folded) is not None
    is_in_question, definition, counted = folded.__contains__, None, tuple[str, ...]()
    if asks_number:
        rules.append(("quote_number", lambda part: _has_new_number(part.text, folded, in_words=is_english)))
    if is_english:
        if match := _HOW_MANY.search(folded):
            counted = tuple(word[:-1] if len(word) > 4 else word for word in match[1].split() if len(word) > 3)
        measures = tuple(look for asks, look in _MEASURES if re.search(asks, folded))
        first_word = next(iter(re.findall(r"\w+", folded)), "")
        definition = None if asks_number else _definition(folded)
        if measures:
            rules.append(("quote_measure", lambda part: _has_measure(part.text, measures)))
        if counted:
            rules.append(
                ("quote_measure", lambda part: any(_is_of(counted, part.text, end) for *_, end in _counts(part.text)))
            )
        if _ASKS_NAME.search(folded):
            rules.append(("quote_name", lambda part: not all(map(is_in_question, _names(part.text)))))
        if first_word in _TO_DO or _ASKS_COMMAND.search(folded):
            rules.append(("quote_command", lambda part: part.is_code))
        if _ASKS_DEFAULT.search(folded):
            rules.append(("quote_default", lambda part: _DEFAULT.search(part.text) is not None))
        if definition is not None:
            match_of = definition.match
            rules.append(("quote_definition", lambda part: match_of(part.text) is not None))
            rules.append(("quote_measure", lambda part: getattr(match_of(part.text), "lastgroup", None) is not None))
    names = {name for name, _ in rules}
    return AnswerKind(
        folded,
        rules,
        counted,
        is_definition=definition is not None,
        is_date=is_english and _WHEN.search(folded) is not None,
        asks_detail=not names.isdisjoint(("quote_number", "quote_name", "quote_default")),
        reordered=30 if definition is not None else 10 if names & {"quote_number", "quote_default"} else 0,
    )


# -- What texts have, remembered for passages that are quoted again and again ------------------------------------------

_REMEMBERED = 1 << 14


@lru_cache(_REMEMBERED)
def _has_measure(text: str, measures: tuple[str, ...]) -> bool:
    return any(re.search(measure, text, re.IGNORECASE) for measure in measures)


@lru_cache(_REMEMBERED)
def _counts(text: str) -> list[tuple[str, int, int]]:
    """The numbers, in digits or English words: each in lower case, with where it begins and ends."""
    return [(match.group(), *match.span()) for match in _COUNT.finditer(text.lower())]


@lru_cache(_REMEMBERED)
def _names(text: str) -> frozenset[str]:
    """The words that look like names of options, files or functions, case-folded."""
    words = (word for word in text.split() if not word.strip(".,:;!?").isalpha() or not word[1:].islower())
    return frozenset(name.casefold() for word in words for name in _NAME.findall(word))


def _has_new_number(text: str, question: str, *, in_words: bool) -> bool:
    """Whether a text has a number that the question does not say."""
    if not all(digits in question or "://" in digits for digits in _DIGITS.findall(text)):
        return True
    return in_words and any(not number[0].isdigit() for number, _, _ in _counts(text))


def _is_of(things: Sequence[str], text: str, end: int) -> bool:
    """Whether the number that ends there is of things that are counted, with at most two words between."""
    following = text[end : end + 60].casefold().replace("-", " ").split()[:3]
    return any(word.startswith(thing) for word in following for thing in things)


def _definition(question: str) -> re.Pattern[str] | None:
    """How a sentence begins that says what a thing is, if that is asked for, or a row of a glossary.

    The named groups are of those that say it fully: "X is a ...", "X: a ...". Of 25 such questions 22 are answered.
    """
    asked = _ASKS_DEFINITION.match(question) or _IS_TERM.match(question)
    words = asked["thing"].split() if asked is not None else []
    if asked is None or (asked.re is _IS_TERM and (words[0] in _TO_DO or not STOP_WORDS.isdisjoint(words))):
        return None
    stems = [re.escape(word.removesuffix("s") if len(word) > 3 else word) for word in words]
    thing = r"\W{1,3}".join(rf"{stem}(?:e?s)?" for stem in stems)
    between = r"[^\w:]{1,3}(?:\([^)]{0,60}\)\W{1,3}|[^.]{0,40}, )?(?:\w+ (?!(?:is|are|was|were)\b))?"
    subject = rf"(?!(?:{_SUBORDINATE})\b)(?:\w+\W{{1,3}}){{0,2}}?{thing}{between}"
    is_fully = rf"(?:{_IS_FULLY}|[a-z]+s\b)" if re.search(r"\bdo\W*\Z", question) else _IS_FULLY
    fully = rf"(?P<fully>(?:(?:an?|the)\W{{1,3}})?{thing}{between}{is_fully}(?! not\b))"
    clause = rf"(?:(?!(?:{_SUBORDINATE})\b)[^.:,]{{1,60}}, (?=an? ))?"  # "Like in Cargo, a workspace is"
    sentence = rf"(?:{clause}{fully}|{subject}(?:{_IS_FULLY}|{_IS})(?! (?:not|also|(?!used|called)\w+ed)\b))"
    text = r"(?!(?:this|these|see)\b)(?=(?:[\w'-]+ ){3})"
    entry = rf"(?:.*\n\n)?\W{{0,5}}{thing}(?: \| (?=[a-z'’-]+ [a-z])|(?P<entry>: {text}))"  # of a glossary
    called = rf"[^.]*\b(?:called|known as|termed) (?:an? )?\W?{thing}\b"
    return re.compile(rf"[^\w-]{{0,5}}{sentence}|{entry}|{called}", re.IGNORECASE | re.DOTALL)
