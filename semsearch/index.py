"""An index: one folder that can be filled, kept up to date, and asked. The work is done by what is imported here."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable, Sequence
from contextlib import AbstractContextManager
from pathlib import Path
from typing import TYPE_CHECKING

from semsearch.embedding.directions import MIN_FREQUENCY, Direction
from semsearch.errors import UsageError
from semsearch.readers.document import MAX_BYTES, Text
from semsearch.results.context import Context
from semsearch.results.hits import Hit, Mode
from semsearch.results.options import SearchKeywords, SearchOptions, strings
from semsearch.results.reports import Progress, Status, SyncReport
from semsearch.settings import Settings, SettingsKeywords, VectorsInUse, WordVectorsLike, open_vectors
from semsearch.storage.database import Store, check
from semsearch.storage.meta import get_meta
from semsearch.storage.roots import get_roots
from semsearch.word_vectors.loading import DEFAULT_VECTORS
from semsearch.word_vectors.table import WordVectors

if TYPE_CHECKING:
    from typing_extensions import Unpack

    from semsearch.indexing.writer import IndexWriter
    from semsearch.results.explanation import Explanation
    from semsearch.results.reranker import Reranker
    from semsearch.search.searcher import Searcher

Report = Callable[[Progress], None]
CONTEXT_HITS = 50  # passages that a context may be made of; more for a long one, by their usual length
_CONTEXT_SHARE, _MOST_CONTEXT_HITS = 50, 1000


class Index:
    """An index folder. Made by `create` or `open`; a context manager, closed at its end.

    Threads may share one, and search at the same time. Any number of processes may search while one writes; each search
    sees one generation whole, and the newest one that was committed when it began.
    """

    def __init__(
        self, path: str | Path, *, vectors: WordVectorsLike | None = None, reranker: Reranker | None = None
    ) -> None:
        self.path = Path(path)
        self._store = Store(self.path)
        self._word_vectors = VectorsInUse(self.path, vectors)
        self._reranker = reranker
        self._searcher: Searcher | None = None
        self._opening = threading.RLock()  # of what all threads share

    @classmethod
    def create(cls, path: str | Path, **options: Unpack[SettingsKeywords]) -> Index:
        """A new index in a new or empty folder.

        The options are the fields of `Settings`, which has their defaults: `vectors`, `method`, `a`, `components`,
        `frequencies`, `prior`, `adapt`, `unknown`, `exact`, `target_recall` and `factory`. `vectors` are word vectors
        by name or path, or opened. `adapt` is whether to learn from the text which of its words go together
        (semsearch.topics.model). From some hundred thousand passages on, only those near a query are compared with it:
        as many as find `target_recall` of the ten best, or all if `exact`, or as the `factory` says, which is an index
        type of FAISS's (semsearch.dense.scan_plan). The other options are those of `SentenceEmbedder`. Raises
        IndexExists, VectorsError, UsageError, StorageError; IndexDamaged where the folder holds something else.
        """
        vectors = DEFAULT_VECTORS if (chosen := options.get("vectors")) is None else chosen
        opened = open_vectors(vectors)
        settings = Settings.of_new(opened, options)
        from semsearch.maintenance.create import create  # start-up time: an index is seldom made

        create(Path(path), settings)
        index = cls(path)
        index._word_vectors.use(opened, vectors)
        return index

    @classmethod
    def open(
        cls, path: str | Path, *, vectors: WordVectorsLike | None = None, reranker: Reranker | None = None
    ) -> Index:
        """An index that is there. Its own word vectors are found again by name or path, unless others are given.

        A `reranker` (semsearch.results.reranker) reads the first hits of every answer again, and its part is added to
        their scores (semsearch.search.reranking). Raises IndexNotFound, IndexDamaged, VectorsMismatch.
        """
        index = cls(path, vectors=vectors, reranker=reranker)
        try:
            check(index._store)
            if vectors is not None:
                index._vectors()
        except BaseException:
            index.close()
            raise
        return index

    # -- writing -------------------------------------------------------------------------------------------------

    def sync(
        self,
        *paths: str | Path,
        include: Sequence[str] = (),
        exclude: Sequence[str] = (),
        prune: bool = False,
        max_file_bytes: int = MAX_BYTES,
        processes: int = 1,
        progress: Report | None = None,
    ) -> SyncReport:
        """Bring the index up to date with files and folders, which become its roots; without any, with all its roots.

        Globs given for a root stay with it until others are given. A root that has vanished, or has no files any
        more, is reported in `warnings` and kept, unless `prune` is set. A file of more than `max_file_bytes`, or one
        that cannot be read, is skipped and reported. With more `processes` than one (0: as many as
        pay for their start), files are read in fresh interpreters, which import the calling program's main module: it
        needs an `if __name__ == "__main__"`. The index is the same. Raises SourceError for a path that is not there,
        UsageError where there is nothing to look at, IndexLocked, StorageError; nothing is then changed.
        """
        with self._writer(progress) as writer:
            return writer.sync(
                _paths(paths),
                include=_globs(include, "include"),
                exclude=_globs(exclude, "exclude"),
                prune=prune,
                max_file_bytes=max_file_bytes,
                processes=_processes(processes),
            )

    def add(self, documents: Iterable[Text], *, progress: Report | None = None) -> SyncReport:
        """Take in texts that are in no file; one whose id is known replaces the earlier one.

        Metadata is kept as JSON has it: dates as text, numbers that are not finite as null. Raises UsageError for an id
        that is empty or comes twice, or an unknown format; nothing is then changed.
        """
        with self._writer(progress) as writer:
            return writer.add(documents)

    def remove(self, *paths: str | Path) -> int:
        """Forget files, folders, whole roots, or added texts by their ids; how many documents that were.

        A file that still lies in a root comes back with the next sync.
        """
        with self._writer() as writer:
            return writer.remove(_paths(paths))

    def refit(self, *, progress: Report | None = None) -> SyncReport:
        """Fit to what the index holds today, and move all its vectors there, as one new generation."""
        with self._writer(progress) as writer:
            return writer.refit()

    def compact(self, *, progress: Report | None = None) -> bool:
        """Bring the files of vectors and words together, into as few as there need be, without anything removed.

        Nothing is embedded anew, and searches answer as before. Whether there was anything to do.
        """
        with self._writer(progress) as writer:
            return writer.compact()

    def rebuild(self, *, progress: Report | None = None, **options: Unpack[SettingsKeywords]) -> SyncReport:
        """Make all that is derived anew from the stored text, as one new generation; with other settings, if given.

        The options are those of `create`; what is not given stays as it is, but `vectors` are those the index names, as
        they are now. With a `method`, `a` and `components` not given are that method's own.
        """
        with self._writer(progress) as writer:
            done = writer.rebuild(options)
        self.close()
        return done

    # -- asking --------------------------------------------------------------------------------------------------

    def search(
        self,
        query: str,
        k: int | None = None,
        *,
        options: SearchOptions | None = None,
        **keywords: Unpack[SearchKeywords],
    ) -> list[Hit]:
        """The k passages that answer best, best first; fewer where there are fewer. By default ten.

        How to answer is said by `SearchOptions`: given whole, or its fields as keywords, or both, and then the keywords
        win. `filters` (see semsearch.search.filters) decide beforehand which documents may answer; `context` adds so
        many sentences around the quoted one. Of passages that say the same (see semsearch.text.near_duplicates) only
        the best is a hit, and the others are its `duplicates`, unless they are asked for. A query of which no word is
        known is answered by its words alone, with a logged warning; in mode "dense" by nothing. Raises UsageError for a
        query without words, options that make no sense, such as k below 1, and unknown ones; VectorsMismatch where the
        word vectors are not those the index was built with.
        """
        if not isinstance(query, str):
            raise UsageError(f"search takes one query, not {type(query).__name__}; for several use search_many")
        (hits,) = self.search_many([query], k, options=options, **keywords)
        return hits

    def search_many(
        self,
        queries: Iterable[str],
        k: int | None = None,
        *,
        options: SearchOptions | None = None,
        **keywords: Unpack[SearchKeywords],
    ) -> list[list[Hit]]:
        """The answer to each of several queries, as `search` gives it. All of them see the same generation."""
        chosen = SearchOptions.chosen(options, k, keywords)
        return self._asking().search(strings(queries, "queries"), chosen)

    def similar(
        self,
        like: Hit | str | Path,
        line: int | None = None,
        k: int | None = None,
        *,
        options: SearchOptions | None = None,
        **keywords: Unpack[SearchKeywords],
    ) -> list[Hit]:
        """The k passages that are most like one that the index has, best first; `search` explains the rest.

        Like the passage of a hit, or of a document's path (or id) and a line; without a line, like the whole document,
        for which the direction of the sum of its passages' vectors stands. Meaning is compared by these vectors, as
        they are stored; words, by the twenty that say most about the passage or document. It is no answer itself, nor
        are a passage's neighbours in its section. No reranker reads these hits: there is no question. Raises
        SourceError for a path that is not in the index, or that is several; UsageError for a line that is not there,
        and for a hit whose passage has changed.
        """
        if not isinstance(like, Hit | str | Path):
            raise UsageError(f"similar takes a hit, or a path and perhaps a line, not {like!r}")
        chosen = SearchOptions.chosen(options, k, keywords)
        return self._asking().similar(str(like) if isinstance(like, Path) else like, line, chosen)

    def explain(self, query: str, hit: Hit, *, mode: Mode | None = None) -> Explanation:
        """Why the passage of a hit has its score for a question.

        For the question that the hit answers: the very score that the hit has, with its filters and its reranker. For
        another question or mode, or where the index has changed since: the score that the passage has now, without
        filters. `mode` is by default that of the hit where it answers this question, otherwise "hybrid". Raises
        UsageError where the passage has gone or changed.
        """
        if not isinstance(hit, Hit):
            raise UsageError(f"explain takes a question and a hit, not {hit!r}")
        return self._asking().explain(query, hit, mode)

    def context(
        self, query: str, *, max_words: int = 800, mode: Mode = "hybrid", filters: Sequence[str] = ()
    ) -> Context:
        """The best passages for a question as text for a language model, numbered, with what the numbers stand for.

        All of the text has at most `max_words` words. See semsearch.search.context for what goes into it.
        """
        from semsearch.search.context import LEAST_WORDS  # start-up time: only this needs it

        if not isinstance(max_words, int) or isinstance(max_words, bool):
            raise UsageError(f"max_words must be a whole number, not {max_words!r}")
        if max_words < LEAST_WORDS:
            raise UsageError(f"max_words must be at least {LEAST_WORDS}, not {max_words}; some hundreds are usual")
        k = min(max(CONTEXT_HITS, max_words // _CONTEXT_SHARE), _MOST_CONTEXT_HITS)
        return self._asking().context(query, SearchOptions(k, mode, filters=filters), max_words=max_words)

    def _asking(self) -> Searcher:
        from semsearch.search.searcher import Searcher  # start-up time: what only writes needs none of it

        with self._opening:
            if self._searcher is None:
                self._searcher = Searcher(self._store, self._vectors, reranker=self._reranker)
            return self._searcher

    # -- looking after -------------------------------------------------------------------------------------------

    def verify(self) -> list[str]:
        """Verify the index: its problems, a line each; empty where all is well. Reads all of it."""
        from semsearch.maintenance.verify import verify  # start-up time: nothing else needs it

        with self._store.reading() as db:
            return verify(db, self.path, self._vectors)

    def status(self, *, drift: bool = True, stale: bool = True) -> Status:
        """Counts, settings, size. `stale` lists all roots' files, `drift` needs the word vectors."""
        from semsearch.maintenance.status import read_status  # start-up time: nothing else needs it

        with self._store.reading() as db:
            return read_status(db, self.path, self.settings, self._vectors, drift=drift, stale=stale)

    def directions(self, k: int = 10, *, min_frequency: float = MIN_FREQUENCY) -> tuple[Direction, ...]:
        """The common components that are taken away from every sentence, each by the k words nearest to it.

        Of words with p(w) of at least `min_frequency`. Empty while nothing is fitted. Raises UsageError.
        """
        from semsearch.maintenance.status import read_directions  # start-up time, as above

        with self._store.reading() as db:
            return read_directions(db, self._vectors(), k=k, min_frequency=min_frequency)

    @property
    def roots(self) -> tuple[str, ...]:
        """The folders and files that it is kept up to date with."""
        with self._store.reading() as db:
            return tuple(root.path for root in get_roots(db))

    @property
    def settings(self) -> Settings:
        """How it embeds."""
        with self._store.reading() as db:
            return Settings.from_json(get_meta(db, "settings"))

    def discard(self) -> None:
        """Take back its creation. An index that holds anything, or that another writes to, stays as it is."""
        from semsearch.maintenance.create import discard  # start-up time: an index is seldom made

        self.close()
        discard(self.path)

    def close(self) -> None:
        """Let go of the files. A closed index opens them again when it is used.

        A search in another thread is answered all the same, and lets go of its own files at its end.
        """
        with self._opening:
            searcher = self._searcher
        if searcher is not None:
            searcher.close()
        self._store.close()
        self._word_vectors.close()

    def __enter__(self) -> Index:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def __repr__(self) -> str:
        return f"Index({str(self.path)!r})"

    def _vectors(self) -> WordVectors:
        """The index's word vectors, opened when first needed."""
        with self._opening:
            return self._word_vectors.of(self.settings)

    def _writer(self, progress: Report | None = None) -> AbstractContextManager[IndexWriter]:
        """The writer's lock, and who may write while it is held."""
        from semsearch.indexing.writer import IndexWriter  # start-up time: a search writes nothing

        return IndexWriter.open(self._store, vectors=self._word_vectors, report=progress)


def _processes(count: int) -> int:
    if isinstance(count, bool) or not isinstance(count, int) or count < 0:
        raise UsageError(f"processes must be a whole number, 0 for as many as are useful, not {count!r}")
    return count


def _globs(given: Iterable[str], name: str) -> tuple[str, ...]:
    globs = strings(given, name)
    if not all(glob.strip() for glob in globs):
        raise UsageError(f"an empty glob to {name}; give one such as '*.md'")
    return globs


def _paths(given: Sequence[object]) -> tuple[str | Path, ...]:
    for path in given:
        if not isinstance(path, str | Path):
            raise UsageError(f"a path is a string or a Path, not {path!r}; give several one by one")
        if path == "":
            raise UsageError("a path is empty; the current folder is '.'")
    return tuple(path for path in given if isinstance(path, str | Path))
