"""Results as HTML for notebooks: escaped, and in the notebook's own colours, light or dark."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from html import escape
from typing import TYPE_CHECKING

from semsearch.results.location import location

if TYPE_CHECKING:
    from semsearch.results.context import Citation, Context
    from semsearch.results.explanation import Explanation, Pairs
    from semsearch.results.hits import Hit
    from semsearch.results.state.reports import Status

_MARK = "background: rgba(255, 200, 0, .35); color: inherit; padding: 0 .1em"
_FAINT = "opacity: .7; font-size: 90%"
_LEFT = "text-align: left; vertical-align: top"


def html_of_hits(hits: Sequence[Hit]) -> str:
    """The hits of an answer one below the other: score, place, headings, the passage with its best sentence marked."""
    if not hits:
        return _block("<em>no hits</em>")
    return _block(*map(_hit, hits))


def html_of_hit(hit: Hit) -> str:
    """One hit, as in the list of an answer."""
    return _block(_hit(hit))


def html_of_context(context: Context) -> str:
    """A context as it is given to a language model, and its sources."""
    if not context.citations:
        return _block("<em>nothing was found</em>")
    sources = "".join(f'<li value="{each.number}">{_source(each)}</li>' for each in context.citations)
    text = f'<div style="white-space: pre-wrap">{escape(context.text)}</div>'
    return _block(text, f'<ol style="{_FAINT}">{sources}</ol>', f'<div style="{_FAINT}">{context.words:,} words</div>')


def html_of_explanation(found: Explanation) -> str:
    """What a score is made of, part by part, and the share of each pair of words."""
    rows = [("score", f"{found.score:.3f}", "")]
    if found.lexical:
        words = ", ".join(f"{term.word} {term.score:.2f}" for term in found.lexical.terms)
        rows.append(("words", f"{found.lexical.points:.3f}", words))
    if found.dense:
        cosines = ", ".join(f"{part.of} {part.cosine:.3f}" for part in found.dense.cosines)
        rows.append(("meaning", f"{found.dense.points:.3f}", cosines))
    if found.near:
        rows.append(("nearness to the best", f"{found.near.points:.3f}", ""))
    if found.rerank:
        rows.append(("reranker", f"{found.rerank.points:.3f}", ""))
    head = f"<div>{escape(found.query)} — {_marked(found.sentence, found.sentence)}</div>"
    return _block(head, _table(rows), _pairs(found.pairs) if found.pairs else "")


def html_of_status(status: Status) -> str:
    """The state of an index as a small table."""
    rows = [
        ("index", status.path),
        ("roots", ", ".join(status.roots) or "none"),
        ("documents", f"{status.documents:,}"),
        ("passages", f"{status.passages:,}"),
        ("sentences", f"{status.sentences:,}"),
        ("size", f"{status.size_bytes / 1e6:,.1f} MB"),
        ("vectors", f"{status.vectors_name}, {status.dimension} dimensions, {status.method}"),
        ("drift", "nothing fitted yet" if status.drift is None else f"{status.drift:.1f} degrees"),
        ("changed files", "not looked at" if status.stale is None else f"{status.stale:,}"),
    ]
    return _block(_table(rows))


def _hit(hit: Hit) -> str:
    place = escape(location(hit.path, hit.format, hit.position))
    headings = escape(" › ".join(hit.headings))
    stale = " · changed since indexed" if hit.stale else ""
    head = f"<strong>{hit.rank}. {place}</strong> <span style='{_FAINT}'>{hit.score:.3f} {headings}{stale}</span>"
    around = [" ".join(map(escape, part)) for part in (hit.before, hit.after)]
    text = " ".join(filter(None, [around[0], _marked(hit.passage, hit.sentence), around[1]]))
    more = "; ".join(escape(location(each.path, each.format, each.position)) for each in hit.duplicates)
    also = f'<div style="{_FAINT}">the same in {more}</div>' if more else ""
    return (
        f'<div style="margin-bottom: .8em"><div>{head}</div><div style="white-space: pre-wrap">{text}</div>{also}</div>'
    )


def _marked(passage: str, sentence: str) -> str:
    """A passage with its sentence marked; the sentence alone where the passage has it in other words."""
    before, found, after = passage.partition(sentence)
    if not found or not sentence:
        return f'<mark style="{_MARK}">{escape(sentence)}</mark>'
    return f'{escape(before)}<mark style="{_MARK}">{escape(sentence)}</mark>{escape(after)}'


def _source(citation: Citation) -> str:
    return escape(" › ".join(filter(None, [citation.path, *citation.headings])))


def _pairs(pairs: Pairs) -> str:
    """A heat map: the words of the question by those of the sentence."""
    most = max((abs(share) for row in pairs.shares for share in row), default=0.0) or 1.0
    head = "".join(f'<th style="{_LEFT}">{escape(word)}</th>' for word in pairs.sentence)
    rows = [
        f'<tr><th style="{_LEFT}">{escape(word)}</th>{"".join(_warm(share, most) for share in shares)}</tr>'
        for word, shares in zip(pairs.question, pairs.shares, strict=True)
    ]
    return f"<table><tr><th></th>{head}</tr>{''.join(rows)}</table>"


def _warm(share: float, most: float) -> str:
    colour = "255, 160, 0" if share >= 0 else "60, 130, 255"
    return f'<td style="background: rgba({colour}, {0.6 * abs(share) / most:.2f})">{share:.2f}</td>'


def _table(rows: Iterable[tuple[str, ...]]) -> str:
    lines = (
        f'<tr><th style="{_LEFT}">{escape(name)}</th>'
        + "".join(f'<td style="{_LEFT}">{escape(value)}</td>' for value in values)
        + "</tr>"
        for name, *values in rows
    )
    return f"<table>{''.join(lines)}</table>"


def _block(*parts: str) -> str:
    return f'<div class="semsearch" style="color: inherit">{"".join(parts)}</div>'
