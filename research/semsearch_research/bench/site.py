"""A site: a corpus and its index, built by the command line in a process of its own, as a user builds it."""

from __future__ import annotations

import shutil
from pathlib import Path

from semsearch import Index
from semsearch_research.bench.bench_text import TextFiles
from semsearch_research.bench.processes import ProcessRun, run_python


class Site:
    """A corpus and its index, which is built when it is first needed, and again whenever building is measured."""

    def __init__(self, corpus: TextFiles, folder: Path, vectors: str) -> None:
        self.corpus = corpus
        self.path = folder / "index"
        self._vectors = vectors
        self._opened: Index | None = None
        self._changes = 0

    @property
    def index(self) -> Index:
        """Open the index, building it if need be."""
        if self._opened is None:
            self._opened = Index.open(self.ready())
        return self._opened

    def ready(self) -> Path:
        """The folder of the index, which is built if need be."""
        if not self.path.exists():
            self.build()
        return self.path

    def build(self, *, processes: int = 1) -> ProcessRun:
        """Build the index from nothing, as a process."""
        self.close()
        shutil.rmtree(self.path, ignore_errors=True)
        return run_python(
            "-m", "semsearch", "index", str(self.corpus.folder), "--indexes", str(self.path.parent),
            "--name", self.path.name, "--vectors", self._vectors, "--quiet", "--processes", str(processes),
        )  # fmt: skip

    def ask_in_a_process(self, query: str) -> ProcessRun:
        """Run `semsearch query` as a process, from its start to its end."""
        return run_python("-m", "semsearch", "query", "--index", str(self.ready()), "--format", "plain", query)

    def change_a_file(self) -> Path:
        """Add a sentence to one of the files; its path."""
        path = next(self.corpus.paths())
        self._changes += 1
        with path.open("a", encoding="utf-8") as file:
            file.write(f"This is change number {self._changes} of the first file.\n")
        return path

    def disk(self) -> int:
        """The size of the index in bytes."""
        return sum(path.stat().st_size for path in self.path.rglob("*") if path.is_file())

    def close(self) -> None:
        """Close the index's files."""
        if self._opened is not None:
            self._opened.close()
            self._opened = None
