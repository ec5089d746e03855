"""The front: `Index`, a folder that is filled, kept up to date and searched. The imported modules do the work."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import closing, contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Unpack, cast

from semsearch.errors import IndexExists, IndexNotFound, UsageError
from semsearch.indexing.progress_reports import Report, Reporting, reporting
from semsearch.indexing.written_index import WrittenIndex
from semsearch.maintenance.index_contents import IndexContents
from semsearch.mapping.mapped_index import MappedIndex
from semsearch.published.naming import LOOK_EVERY, place_named
from semsearch.published.publishing_index import PublishingIndex, publish_newest
from semsearch.search.asked_index import AskedIndex
from semsearch.settings import Settings, SettingsKeywords
from semsearch.storage.database import IndexDatabase
from semsearch.storage.opening import check, check_given
from semsearch.word_vectors.loading import DEFAULT_VECTORS, WordVectorsLike, open_vectors

if TYPE_CHECKING:
    from distributed import Client

    from semsearch.indexing.writer import IndexWriter
    from semsearch.remote.remote_index import RemoteIndex
    from semsearch.results.reranker import Reranker
    from semsearch.search.searcher import Searcher
    from semsearch.system.threads import Spread

__all__ = ["Index", "Report"]


class Index(IndexContents, AskedIndex, MappedIndex, WrittenIndex, PublishingIndex):
    """An index in a folder, made by `create` or `open`; a context manager, closed at its end.

    Threads may share an index, and search at the same time. Any number of processes may search while one writes; each
    search sees one generation whole, the newest that was committed when it began.
    """

    def __init__(
        self, path: str | Path, *, vectors: WordVectorsLike | None = None, reranker: Reranker | None = None
    ) -> None:
        super().__init__(path, vectors=vectors)
        self._reranker = reranker
        self._searcher: Searcher | None = None

    @classmethod
    def create(cls, path: str | Path, **options: Unpack[SettingsKeywords]) -> Index:
        """Create an index in a new or empty folder.

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
        cls,
        path: str | Path,
        *,
        vectors: WordVectorsLike | None = None,
        reranker: Reranker | str | None = None,
        create: bool = False,
        look_every: float = LOOK_EVERY,
        timeout: float = 30.0,
    ) -> Index:
        """Open an existing index. Its own word vectors are found again by name or path, unless others are given.

        The URI of a place where an index is published (`publish`), as s3://bucket/docs, opens a copy to be read: it is
        fetched into the user's cache folder and answers as the index itself does. While it is asked, it is looked every
        `look_every` seconds for what was published since, which is fetched beside the questions. `timeout` is the
        seconds that the place may take for an answer. While it cannot be reached, what was fetched goes on answering.

        With `create`, an index is made where there is none, with these word vectors and default settings.

        A `reranker` (semsearch.results.reranker) scores the first hits of every answer again, and its part is added to
        their scores (semsearch.search.ranking.reranking); a text is the model that does that, as `load_reranker`
        opens it. Raises IndexNotFound, IndexDamaged, VectorsMismatch; MissingExtra and ModelError for a model;
        StorageError for a place that cannot be reached, and of which nothing was fetched before.
        """
        place = place_named(path)
        if place is not None:
            return cls._follow(place, vectors, reranker, _seconds(look_every), _seconds(timeout))
        try:
            return cls._open(path, vectors, reranker)
        except IndexNotFound:
            if not create:
                raise
        with suppress(IndexExists):  # another process may be faster
            cls.create(path, vectors=vectors).close()
        return cls._open(path, vectors, reranker)

    @classmethod
    def _open(cls, path: str | Path, vectors: WordVectorsLike | None, reranker: Reranker | str | None) -> Index:
        index = cls(path, vectors=vectors)
        try:
            check(index._database)
            check_given(index._database)
        except BaseException:
            index.close()
            raise
        return index._with(vectors, reranker)

    @classmethod
    def _follow(
        cls,
        place: str,
        vectors: WordVectorsLike | None,
        reranker: Reranker | str | None,
        look_every: float,
        timeout: float,
    ) -> Index:
        """Open a copy of what is published at a place."""
        from semsearch.published.followed_database import follow  # start-up time: an index here needs none of it

        database = follow(place, every=look_every, seconds=timeout)
        index = cls(database.folder, vectors=vectors)
        index._database = database
        return index._with(vectors, reranker)

    def _with(self, vectors: WordVectorsLike | None, reranker: Reranker | str | None) -> Index:
        """This index with a reranker; its word vectors are checked, if any are given. Closed if that fails."""
        try:
            if reranker is not None:
                self._reranker = _for_index(reranker, self.path)
            if vectors is not None:
                self._vectors()
        except BaseException:
            self.close()
            raise
        return self

    @classmethod
    def merge(
        cls,
        path: str | Path,
        *indexes: str | Path,
        progress: Reporting = None,
        **options: Unpack[SettingsKeywords],
    ) -> Index:
        """Create an index of the documents and roots of other indexes, with one fit. No file is read again.

        What several of them have, a file or a text with one id, is taken from the first that is given; a root in a root
        of another becomes a part of it. The options are those of `create`, by default the settings of the first. Raises
        UsageError without indexes, IndexNotFound, IndexDamaged, and what `create` raises; nothing is left then.
        """
        if not indexes:
            raise UsageError("there are no indexes to merge; give their folders")
        others = [IndexDatabase(Path(other)) for other in indexes]
        for other in others:
            check(other)
        with cls(indexes[0]) as first:
            chosen: SettingsKeywords = {**first.settings.keywords(), **options}
        merged = cls.create(path, **chosen)
        try:
            with merged._writer(progress) as writer:
                writer.join(others)
        except BaseException:
            merged.discard()
            raise
        return merged

    @staticmethod
    def connect(
        url: str, *, index: str | Sequence[str] | None = None, token: str | None = None, timeout: float = 60.0
    ) -> RemoteIndex:
        """Connect to an index that `semsearch serve` serves, which can be asked as one here can; no extra is needed.

        `index` is its name, needed where the server has several, or a list of names to search several as one (see
        `SeveralIndexes`); `timeout` the seconds to wait for an answer. Nothing is sent before something is asked.
        Raises UsageError for what is no address of a server; asking raises ServerError where the server does not answer
        or refuses, and otherwise what the index raises there.
        """
        from semsearch.remote.remote_index import RemoteIndex  # start-up time: an index here needs none of it

        return RemoteIndex(url, index=index, token=token, timeout=timeout)

    def discard(self) -> None:
        """Undo the creation of the index; if it holds anything, or another process writes to it, it stays as it is."""
        from semsearch.maintenance.create import discard  # start-up time: an index is seldom made

        self.close()
        discard(self.path)

    def close(self) -> None:
        """Close the files. A closed index opens them again when it is used.

        A search in another thread is still answered, and closes its own files at its end.
        """
        with self._opening:
            searcher = self._searcher
        if searcher is not None:
            searcher.close()
        super().close()

    def __enter__(self) -> Index:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def __repr__(self) -> str:
        return f"Index({self._database.shown_name!r})"

    def _asking(self) -> Searcher:
        from semsearch.search.searcher import Searcher  # start-up time: a program that only writes needs none of it

        with self._opening:
            if self._searcher is None:
                self._searcher = Searcher(self._database, self._vectors, reranker=self._reranker)
            return self._searcher

    @contextmanager
    def _writer(self, progress: Reporting = None, cluster: str | Client | None = None) -> Iterator[IndexWriter]:
        """Take the writer's lock and make the writer that holds it; then publish, if the index has a place.

        Raises PublicationFailed if only that fails.
        """
        from semsearch.indexing.writer import IndexWriter  # start-up time: a search writes nothing

        self._database.check_writable()
        with (
            reporting(progress) as report,
            _spread_over(cluster) as spread,
            IndexWriter.open(self._database, vectors=self._word_vectors, report=report, spread=spread) as writer,
        ):
            place = writer.place
            yield writer
        if place is not None:
            publish_newest(self._database, place)  # after the commit, which it cannot undo


def _seconds(given: float) -> float:
    if isinstance(given, bool) or not isinstance(given, int | float) or not 0 <= given < float("inf"):
        raise UsageError(f"give a number of seconds, not {given!r}")
    return given


@contextmanager
def _spread_over(cluster: str | Client | None) -> Iterator[Spread | None]:
    """Spread work over a cluster while the block runs, if one is given."""
    if cluster is None:
        yield None
        return
    from semsearch.cluster.dask_cluster import DaskCluster  # start-up time: few have one

    with closing(DaskCluster(cluster)) as spread:
        yield spread


def _for_index(reranker: Reranker | str, folder: Path) -> Reranker:
    """The reranker of an index: a model that is named is opened, and what a model makes of passages is kept there."""
    if isinstance(reranker, str):
        from semsearch.rerankers.loading import load_reranker  # start-up time, and an optional dependency

        reranker = load_reranker(reranker)
    cached_in = getattr(reranker, "cached_in", None)
    return reranker if cached_in is None else cast("Reranker", cached_in(folder))
