r"""LaTeX: what a reader of the printed page sees, and where it stands in the source."""

from __future__ import annotations

import pytest
from cited import check_whole

from semsearch.readers.document import Document
from semsearch.readers.read import read_text

SOURCE = r"""\documentclass[a4paper]{article}
\usepackage{graphicx} % not this
\title{Of \emph{tides}}
\author{Ann Lee}
\begin{document}
\maketitle
\section{High \textbf{water}}\label{sec:high}
The moon \emph{pulls} the sea~\cite{lee}, % a comment
as \href{https://x.org}{the guide} says.\footnote{A note, set apart.} It moves by $x^2$ metres
--- or 5\,\% more.

\begin{itemize}
  \item One item
    goes on.
  \item[b)] Another one.
\end{itemize}
\begin{equation}
  x = \text{nothing here}
\end{equation}
\begin{verbatim}
\section{no} % kept
\end{verbatim}
\begin{figure}[h]
  \includegraphics[width=3cm]{a.png}
  \caption[short]{A picture of {the} sea.}
\end{figure}
\subsection*{Gr\"o\ss e}
Schr\"{o}dinger, na\"{\i}ve, \v{C}ech, \c{c}a, ``quoted''.
\end{document}
Not this.
"""


def read(source: str) -> Document:
    return read_text(source, "tides.tex", format="latex")


def test_a_text_is_its_headings_paragraphs_items_and_captions() -> None:
    document = read(SOURCE)
    assert [(" ".join(block.text.split()), block.level) for block in document.blocks] == [
        ("High water", 2),
        ("The moon pulls the sea, as the guide says. It moves by x^2 metres — or 5 % more.", 0),
        ("A note, set apart.", 0),
        ("One item goes on.", 0),
        ("[b)] Another one.", 0),
        (r"\section{no} % kept", 0),
        ("A picture of the sea.", 0),
        ("Größe", 3),
        ("Schrödinger, naïve, Čech, ça, “quoted”.", 0),
    ]
    assert (document.title, document.format) == ("Of tides", "latex")
    assert document.metadata == {"title": "Of tides", "author": "Ann Lee"}


@pytest.mark.parametrize("end", ["\n", "\r\n"])
def test_sentences_are_cited_where_they_stand(end: str) -> None:
    document = read(SOURCE.replace("\n", end).replace('Gr\\"o\\ss e', "Size").replace("Schr\\", "Schro"))
    check_whole(document, ["A note, set apart.", "One item goes on.", "A picture of the sea."])
    block = document.blocks[1]
    assert document.source[block.source_offset(block.text.index("It moves")) :].startswith("It moves by $x^2$")


@pytest.mark.parametrize(
    ("source", "clean"),
    [
        (r"A \{brace\} and 50\% of \$3.", "A {brace} and 50% of $3."),
        (r"One.\par Two.", "One.|Two."),
        (r"\textbf{\emph{Both}} here", "Both here"),
        (r"\begin{quote}Said.\end{quote}After.", "Said.|After."),
        (r"\section{never closed", "never closed"),
        (r"Text \footnote{never closed", "Text|never closed"),
        (r"\begin{align}never closed", ""),
        (r"See Figure~\ref{f}.", "See Figure."),
    ],
)
def test_commands_give_what_they_print(source: str, clean: str) -> None:
    assert "|".join(block.text for block in read(source).blocks) == clean
