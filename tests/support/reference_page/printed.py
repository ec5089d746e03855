"""The JSON that each command prints: keys of its own, and the results whose keys it has.

This list is written by hand, and a test holds it against what the commands print. The keys of the results themselves
come from the code (see keys.py).
"""

from __future__ import annotations

import ast
from dataclasses import dataclass, replace

from reference_page.keys import Key, keys_of, kind_of
from reference_page.sources import ClassSource, find_class


@dataclass(frozen=True, slots=True)
class Printed:
    """An object, or a list of objects, that a command prints: its own keys, then those of a result."""

    command: str
    says: str  # as Markdown
    own: tuple[Key, ...] = ()
    result: ClassSource | None = None
    named: tuple[ClassSource, ...] = ()  # in `says`
    is_list: bool = False

    @property
    def classes(self) -> list[ClassSource]:
        """The classes of all that is in it."""
        own = [one for key in self.own for one in key.kind.classes]
        return [*own, *([self.result] if self.result else ()), *self.named]

    @property
    def keys(self) -> list[Key]:
        """All keys of the object."""
        return [*self.own, *(keys_of(self.result) if self.result else ())]


def _key(name: str, annotation: str, meaning: str = "", *, module: str = "semsearch.cli.answer_formats") -> Key:
    return Key(name, kind_of(ast.parse(annotation, mode="eval").body, module), meaning)


def _result(name_of_class: str) -> ClassSource:
    module, _, name = name_of_class.partition(":")
    found = find_class(name, module)
    if found is None:
        raise LookupError(f"there is no class {name} in {module}; reference_page.printed names it")
    return found


_QUESTION = _key("query", "str", "the question")
_MODE = _key("mode", "Mode", "how it was answered")
_HITS = _key("hits", "list[Hit]", "best first")
_DETAILS = (
    _key("source", "str", "what they were made from"),
    _key("licence", "str"),
    _key("dtype", "str", "int8, float16 or float32"),
    _key("name", "str"),
    _key("words", "int"),
    _key("pieces", "int", "parts of words that speak for unknown words"),
    _key("dimension", "int"),
    _key("folder", "str"),
    _key("bytes", "int", "on the disk"),
    _key("verified", "bool", "whether the files have the digest that the card says"),
    _key("<card>", "Any", "whatever else the card says, such as digest and scores"),
)

PRINTED = (
    Printed(
        "query",
        "With `-`, a list of such objects, one for each question. With `--explain`, each hit has `explain` too, an "
        "Explanation. `--jsonl` prints a line for each hit: `query`, `mode`, and the keys of the hit.",
        own=(
            _QUESTION,
            _MODE,
            _key("answered", "bool", "whether a hit is likely enough to answer"),
            _HITS,
            replace(_key("nearest", "list[Hit]", "the first hits, if nothing answers"), is_optional=True),
            replace(_key("weak", "int", "hits that were left out; --all has them"), is_optional=True),
            replace(_key("warnings", "list[str]", "that nothing answers well"), is_optional=True),
        ),
        named=(_result("semsearch.results.explanation:Explanation"),),
    ),
    Printed(
        "similar",
        "`--jsonl` prints a line for each hit, as for `query`.",
        own=(_key("query", "str", "the path and line, as given"), _MODE, _HITS),
    ),
    Printed("context", "", own=(_QUESTION, _MODE), result=_result("semsearch.results.hits:Context")),
    Printed(
        "ask",
        "With `--show-prompt` the body of the request for the model.",
        result=_result("semsearch.cited_answer:ModelAnswer"),
    ),
    Printed(
        "history",
        "Saved questions first.",
        own=(_key("number", "int | None", "by which it is run; of a saved one null"),),
        result=_result("semsearch.cli.history:Question"),
        is_list=True,
    ),
    Printed(
        "map",
        "",
        own=(
            _key("index", "str", "the folder of the index"),
            _key("generation", "int", "of the index"),
            _key("passages", "int"),
            _key("regions", "list[MapRegion]", module="semsearch.results.documents"),
        ),
    ),
    Printed(
        "index",
        "",
        own=(_key("index", "str", "the folder of the index"),),
        result=_result("semsearch.results.reports:SyncReport"),
    ),
    Printed(
        "watch",
        "A line for each sync.",
        own=(_key("index", "str", "the folder of the index"),),
        result=_result("semsearch.results.reports:SyncReport"),
    ),
    Printed(
        "status",
        "With `--components` also `directions`, a list of Direction. With `--problems` instead `problems`, a list of "
        "Problem; with `--coverage` instead `coverage`, a list of FileCoverage.",
        result=_result("semsearch.results.reports:Status"),
        named=(
            _result("semsearch.embedding.directions:Direction"),
            _result("semsearch.results.omissions:Problem"),
            _result("semsearch.results.omissions:FileCoverage"),
        ),
    ),
    Printed(
        "list",
        "With `--documents`, `--index` or `--filter`, a list of objects with the keys of DocumentInfo; with `--facets` "
        "an object with the keys of Facets. `--jsonl` prints one of them a line.",
        result=_result("semsearch.maintenance.listing:IndexSummary"),
        named=(
            _result("semsearch.results.documents:DocumentInfo"),
            _result("semsearch.results.documents:Facets"),
        ),
        is_list=True,
    ),
    Printed(
        "config show",
        "",
        own=(
            _key("key", "str", "with its section: search.k"),
            _key("value", "Any", "null for none"),
            _key("source", "str", "the file and line, the environment variable, or default"),
        ),
        is_list=True,
    ),
    Printed("vectors info", "", own=_DETAILS),
    Printed(
        "vectors neighbours",
        "",
        own=(
            _key("word", "str"),
            _key("from_pieces", "bool", "the word is unknown, and its pieces stand for it"),
            _key("neighbours", "list[Neighbour]", "nearest first", module="semsearch.embedding.directions"),
        ),
    ),
    Printed(
        "evaluate answers",
        "",
        own=(
            _key("file", "str", "the questions"),
            _key(
                "modes",
                "list[dict[str, Any]]",
                "for each the number of `questions`, the shares `first`, `quoted`, `quoted_of_first` and `given`, and "
                "the `misses`: right first hits with the sentence that they `quote`",
            ),
        ),
    ),
    Printed(
        "evaluate golden",
        "",
        own=(
            _key("file", "str", "the questions"),
            _key(
                "modes",
                "list[dict[str, Any]]",
                "for each its figures, those of the `last` run and what they have `gained` over the questions of both, "
                "those `better` and `worse` with `rank` and what it `was`, all `questions` with the rank of the "
                "first answer",
            ),
            _key("warnings", "list[str]", "answers of which no document has the path"),
        ),
    ),
)
OF_RESEARCH = (
    Printed("vectors evaluate", "", result=_result("semsearch_research.evaluate.vector_scores:VectorsReport")),
    Printed(
        "evaluate retrieval", "", result=_result("semsearch_research.evaluate.retrieval:RetrievalRow"), is_list=True
    ),
    Printed("evaluate sts", "", result=_result("semsearch_research.evaluate.sts_scores:StsReport")),
    Printed("evaluate released", "", result=_result("semsearch_research.released.costs:ReleasedReport")),
    Printed("evaluate sweep", "", result=_result("semsearch_research.analysis.sweep:SweepReport")),
    Printed("evaluate removal", "", result=_result("semsearch_research.analysis.removal:RemovalReport")),
    Printed("evaluate weights", "", result=_result("semsearch_research.analysis.weighing:WeightsReport")),
    Printed(
        "evaluate components", "", result=_result("semsearch_research.analysis.removed_directions:ComponentsReport")
    ),
    Printed("evaluate assumptions", "", result=_result("semsearch_research.analysis.assumptions:AssumptionsReport")),
    Printed("evaluate confound", "", result=_result("semsearch_research.analysis.confound:ConfoundReport")),
    Printed(
        "evaluate supervised", "", result=_result("semsearch_research.supervised.supervised_report:SupervisedReport")
    ),
    Printed("evaluate classify", "", result=_result("semsearch_research.paraphrase.classify_report:ClassifyReport")),
    Printed("evaluate cbos", "", result=_result("semsearch_research.cbos.word2vec_comparison:CbosReport")),
    Printed("evaluate data", "", result=_result("semsearch_research.datasets.data_report:DataReport")),
    Printed("evaluate report", "", result=_result("semsearch_research.papers_report:PapersReport")),
    Printed("bench", "", result=_result("semsearch_research.bench.measurements:BenchReport")),
)
