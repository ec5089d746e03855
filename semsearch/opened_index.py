"""What an open index holds, and how it answers what `Searchable` declares: `Index` has the methods of its users.

Searches go to the `Searcher`, writes to an `IndexWriter`, the map to the `Mapper`; contents and state to functions of
`maintenance`. What loads SciPy or the readers of files, a tenth of a second each, is imported when it is called.
"""

from __future__ import annotations

import threading
from collections.abc import Iterator, Sequence
from contextlib import closing, contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from semsearch import indexing, maintenance
from semsearch.arrays.types import Float32
from semsearch.errors import UsageError, VectorsError, VectorsMismatch
from semsearch.search.searcher import Searcher
from semsearch.searchable import SingleIndex, SoughtPassage
from semsearch.settings import Settings, VectorsInUse
from semsearch.storage.database import IndexDatabase
from semsearch.storage.schema import get_meta
from semsearch.system import plugins
from semsearch.system.locations import uri_scheme
from semsearch.system.memory import VECTOR_SEARCH, require_memory
from semsearch.trust import allowed_write, given_paths, require
from semsearch.word_vectors.table import WordVectorsLike, is_shipped

if TYPE_CHECKING:
    from semsearch.indexing.index_writer import IndexWriter, Reporting
    from semsearch.mapping.mapper import Mapper
    from semsearch.rerankers.reranker import Reranker
    from semsearch.results.documents import (
        DocumentInfo,
        DocumentPassages,
        DocumentText,
        Facets,
        MapPassage,
        MapStatus,
        PdfPage,
    )
    from semsearch.results.explanation import Explanation
    from semsearch.results.hits import Context, Hit, Hits
    from semsearch.results.options import Mode, SearchOptions
    from semsearch.results.reports import Checkup, Problem, Status
    from semsearch.system.parallel import Executor
    from semsearch.word_vectors.table import WordVectors


class OpenedIndex(SingleIndex):
    """An index in a folder, or a read-only copy of a published one, with what is opened when it is first needed."""

    def __init__(
        self, path: str | Path, *, vectors: WordVectorsLike | None = None, reranker: Reranker | None = None
    ) -> None:
        self.path: Path = Path(path)
        self._database = IndexDatabase(self.path)
        self._word_vectors = VectorsInUse(self.path, vectors)
        self._reranker = reranker
        self._opening = threading.RLock()  # guards what all threads share: what is below, and the word vectors
        self._searcher: Searcher | None = None  # this and the next two are made when they are first needed
        self._mapper: Mapper | None = None
        self._counted: maintenance.FacetCache | None = None

    def close(self) -> None:
        """Close the files. A closed index cannot be used any more: UsageError.

        A search in another thread is still answered, and closes its own files at its end.
        """
        self._database.is_closed = True
        self._release()

    def _release(self) -> None:
        """Close the files, which are opened again when they are needed."""
        with self._opening:
            searcher = self._searcher
        if searcher is not None:
            searcher.close()
        self._database.close()
        self._word_vectors.close()

    @property
    def settings(self) -> Settings:
        """The stored settings of the index."""
        with self._database.reading() as db:
            return Settings.from_json(get_meta(db, "settings"))

    # -- the primitives of `Searchable` --------------------------------------------------------------------------------

    @property
    def searcher(self) -> Searcher:
        """The searcher of this index, for modules of semsearch that need more than hits."""
        return self._asking()

    def _search(self, queries: Sequence[str], options: SearchOptions) -> list[Hits]:
        return self._asking().search(queries, options)

    def _similar(self, example: Hit | str, line: int | None, options: SearchOptions, *, same_document: bool) -> Hits:
        return self._asking().similar(example, line, options, same_document=same_document)

    def _explain(self, query: str, hit: Hit, mode: Mode | None) -> Explanation:
        return self._asking().explain(query, hit, mode)

    def _context(self, query: str, options: SearchOptions, max_words: int) -> Context:
        return self._asking().context(query, options, max_words=max_words)

    def _embed(self, texts: Sequence[str]) -> Float32:
        return self._asking().embed(texts)

    def _documents(self, filters: Sequence[str]) -> Iterator[DocumentInfo]:
        return maintenance.each_document(self._database, filters)

    def _document(self, name: str) -> DocumentText:
        with self._database.reading() as db:
            return maintenance.read_document(db, name)

    def _passages(self, name: str, offset: int, limit: int, sought: SoughtPassage) -> DocumentPassages:
        with self._database.reading() as db:
            return maintenance.read_passages(db, name, offset=offset, limit=limit, sought=sought)

    def _page(self, name: str, page: int) -> PdfPage:
        return maintenance.placed(maintenance.find_page(self._database, name, page))

    def _page_picture(self, name: str, page: int, width: int) -> bytes:
        return maintenance.picture_of(maintenance.find_page(self._database, name, page), width)

    def _file(self, name: str) -> bytes:
        return maintenance.read_file(self._database, name)

    def _facets(self, filters: Sequence[str], values: int) -> Facets:
        with self._opening:
            counted = self._counted = self._counted or maintenance.FacetCache(self._database)
        return counted.count(filters, values)

    def _status(self, *, drift: bool, stale: bool) -> Status:
        return maintenance.read_status(self._database, self._word_vectors, self._vectors, drift=drift, stale=stale)

    def _problems(self) -> tuple[Problem, ...]:
        return maintenance.read_problems(self._database)

    def _checkup(self, *, stale: bool) -> Checkup:
        with self._database.reading() as db:
            return maintenance.read_checkup(db, self.path, self.status(stale=stale))

    def _map_status(self) -> MapStatus:
        return self._mapping().status()

    def _map_passages(self, ids: Sequence[int]) -> list[MapPassage]:
        return self._mapping().shown(ids)

    # -- what it holds -------------------------------------------------------------------------------------------------

    def _asking(self) -> Searcher:
        with self._opening:
            if self._searcher is None:
                self._searcher = Searcher(self._database, self._vectors, reranker=self._reranker)
            return self._searcher

    def _mapping(self) -> Mapper:
        from semsearch.mapping.mapper import Mapper  # loads SciPy

        with self._opening:
            if self._mapper is None:
                self._mapper = Mapper(self.path, self._asking)
            return self._mapper

    def _vectors(self) -> WordVectors:
        """The index's word vectors, opened when first needed."""
        settings = self.settings
        if self._word_vectors.given is None and not is_shipped(settings.vectors):
            with self._database.reading() as db:
                require(self._database, db, ["vectors"])
        try:
            with self._opening:
                return self._word_vectors.of(settings)
        except (VectorsError, VectorsMismatch) as error:
            if not self._database.is_copy:
                raise
            raise type(error)(
                f"the index at {self._database.shown_name} was built with the word vectors {settings.vectors_name} "
                f"({settings.vectors_digest[:8]}), but this machine has others; copy them to this machine and "
                "give their folder with --vectors, or as `vectors`"
            ) from error

    @contextmanager
    def _writer(
        self, progress: Reporting = None, cluster: str | Executor | None = None, *, paths: Sequence[str | Path] = ()
    ) -> Iterator[IndexWriter]:
        """Take the writer's lock and make the writer that holds it.

        Roots at the `paths` are given by the user. Raises UsageError for a published copy; IndexNotTrusted, before
        anything is written.
        """
        require_memory(VECTOR_SEARCH, f"to write {self._database.folder}")  # before its libraries are loaded
        database = self._database
        database.check_writable()
        with (
            indexing.reporting(progress) as report,
            _opened_cluster(cluster) as executor,
            indexing.IndexWriter.open(database, vectors=self._word_vectors, report=report, executor=executor) as writer,
            allowed_write(database, given_paths(paths, vectors=self._word_vectors.given is not None)),
        ):
            yield writer


@contextmanager
def _opened_cluster(cluster: str | Executor | None) -> Iterator[Executor | None]:
    """What reads files on other machines while the block runs, if anything does."""
    if not isinstance(cluster, str):
        yield cluster
        return
    connect = plugins.load("semsearch.executors", uri_scheme(cluster), "any")
    if connect is None:
        raise UsageError(f"to read files on the cluster {cluster}, {plugins.SCALE}")
    with closing(connect(cluster)) as executor:
        yield executor
