"""The front: `Index`, a folder that is filled, kept up to date and searched.

    with Index.open("indexes/notes", create=True) as index:
        index.sync("notes/")
        for hit in index.search("how do I rotate the keys?", k=5):
            print(hit.path, hit.line, hit.sentence)

What can be asked of it is in `Searchable`, how it is carried out in `OpenedIndex`.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import suppress
from pathlib import Path
from typing import IO, TYPE_CHECKING, Unpack, cast

from semsearch import indexing, maintenance
from semsearch.errors import IndexExists, IndexNotFound, SourceError, UsageError
from semsearch.opened_index import OpenedIndex
from semsearch.readers.records import Columns
from semsearch.readers.registry import MAX_BYTES
from semsearch.results.options import strings
from semsearch.settings import Settings, SettingsKeywords
from semsearch.storage.database import IndexDatabase, check, check_given, has_database
from semsearch.storage.document_rows import count_contents
from semsearch.storage.find_document import find_document
from semsearch.storage.known_files import get_roots
from semsearch.storage.published import open_published, published_at
from semsearch.system.locations import local_path
from semsearch.system.memory import WRITING, require_memory
from semsearch.trust import forget, named_outside, record, require
from semsearch.word_vectors.table import DEFAULT_VECTORS, WordVectorsLike, open_vectors

if TYPE_CHECKING:
    from semsearch.indexing.add_texts import DataTable, Given
    from semsearch.indexing.index_writer import Reporting
    from semsearch.maintenance.export import Unit
    from semsearch.mapping.mapper import ColouredMap
    from semsearch.mapping.passage_map import PassageMap
    from semsearch.remote_index import RemoteIndex
    from semsearch.rerankers.reranker import Reranker
    from semsearch.results.documents import DocumentText, MapProgress
    from semsearch.results.reports import SyncReport
    from semsearch.system.parallel import Executor


__all__ = ["Index"]


class Index(OpenedIndex):
    """An index in a folder, made by `create` or `open`; a context manager, closed at its end.

    Threads may share an index, and search at the same time. Any number of processes may search while one writes; each
    search sees one generation whole, the newest that was committed when it began.
    """

    # -- making, opening, closing --------------------------------------------------------------------------------------

    @classmethod
    def create(cls, path: str | Path, **options: Unpack[SettingsKeywords]) -> Index:
        """Create an index in a new or empty folder.

        The options, with their defaults, are the fields of `Settings`: word vectors by name or path, or opened, how to
        embed, and how to scan. Without `sentence_vectors` the index is about half as large, and makes those of the
        passages that it scores from their text. Raises IndexExists, VectorsError, UsageError, StorageError;
        IndexDamaged where the folder holds something else.
        """
        require_memory(WRITING, f"to write {path}")
        vectors = DEFAULT_VECTORS if (chosen := options.get("vectors")) is None else chosen
        opened = open_vectors(vectors)
        settings = Settings.of_new(opened, options)
        maintenance.create(Path(path), settings)
        index = cls(path)
        index._word_vectors.use(opened, vectors)
        with index._database.written() as db:
            record(index._database, db, named_outside(index._database, db))
        return index

    @classmethod
    def open(
        cls,
        path: str | Path,
        *,
        vectors: WordVectorsLike | None = None,
        reranker: Reranker | str | None = None,
        create: bool = False,
        trust: bool = False,
    ) -> Index:
        """Open an existing index. Its own word vectors are found again by name or path, unless others are given.

        The URI at which an index is published, such as s3://bucket/docs, opens a read-only copy, which answers like the
        index itself and follows it; that needs the distribution semsearch-scale.

        With `create`, a missing index is created, with these word vectors and default settings.

        An index may come from someone else. What it names outside of its folder (folders to read, an engine
        or word vectors) is used once this user has put it there, or has run `semsearch trust`; until then the
        index is only read, and what needs the rest raises IndexNotTrusted. With `trust`, the calling program allows all
        of it while the index is open.

        A `reranker` (semsearch.rerankers.reranker) scores the first hits of every answer again, and its component is
        added to their scores (semsearch.search.searcher); a string names a model, as `load_reranker` opens it.
        Raises IndexNotFound, IndexDamaged, VectorsMismatch; MissingExtra and ModelError for a model; StorageError for a
        store that cannot be reached, and from which nothing was fetched before.
        """
        if (uri := published_at(path)) is not None:
            return cls.over(open_published(uri), vectors, reranker, trust=trust)
        folder = Path(path)
        try:
            return cls.over(IndexDatabase(folder), vectors, reranker, trust=trust)
        except IndexNotFound:
            if not create:
                raise
        with suppress(IndexExists):  # another process may be faster
            cls.create(folder, vectors=vectors).close()
        return cls.over(IndexDatabase(folder), vectors, reranker, trust=trust)

    @classmethod
    def over(
        cls,
        database: IndexDatabase,
        vectors: WordVectorsLike | None = None,
        reranker: Reranker | str | None = None,
        *,
        trust: bool = False,
    ) -> Index:
        """The index of a database, as `open` gives it: perhaps a read-only copy of a published one."""
        index = cls(database.folder, vectors=vectors)
        index._database = database
        database.is_trusted = trust
        try:
            if not database.is_copy:
                check(database)
                check_given(database)
            if reranker is not None:
                index._reranker = _for_index(reranker, index.path)
            if vectors is not None:
                index._vectors()
        except BaseException:
            index.close()
            raise
        return index

    @staticmethod
    def connect(
        url: str, *, index: str | Sequence[str] | None = None, token: str | None = None, timeout: float = 60.0
    ) -> RemoteIndex:
        """Connect to an index that `semsearch serve` serves, and search it like a local one; no extra is needed.

        `index` is its name, or a list of names to search several as one (see `MultiIndex`); without it, all of the
        server are searched, but what is asked of one index needs its name. `timeout` are the seconds to wait for an
        answer. No request is sent until the index is used. Raises UsageError for what is no address of a server; asking
        raises ServerError where the server does not answer or refuses, and otherwise what the index raises there.
        """
        from semsearch.remote_index import RemoteIndex  # loads HTTP and TLS

        return RemoteIndex(url, index=index, token=token, timeout=timeout)

    def discard(self) -> None:
        """Undo the creation of the index, unless it has contents or another process writes to it."""
        self._database.check_writable()
        if has_database(self.path):
            with self._database.reading() as db:
                require(self._database, db, ["store"])
        self._release()
        maintenance.discard(self.path)
        if not self.path.exists():
            forget(self._database)

    def __repr__(self) -> str:
        return f"Index({self._database.shown_name!r})"

    # -- writing -------------------------------------------------------------------------------------------------------

    def sync(
        self,
        *paths: str | Path,
        include: Sequence[str] = (),
        exclude: Sequence[str] = (),
        text_columns: Sequence[str] = (),
        metadata_columns: Sequence[str] = (),
        prune: bool = False,
        max_file_bytes: int = MAX_BYTES,
        processes: int = 1,
        cluster: str | Executor | None = None,
        progress: Reporting = None,
    ) -> SyncReport:
        """Bring the index up to date with files and folders, which become its roots; without any, with all its roots.

        A path may be the URI of a folder or object in a store, such as "s3://bucket/docs": its objects are listed, and
        those that are new or have changed are fetched. That needs the distribution semsearch-scale.

        Of a path inside a root only the files there are compared, by the root's rules and globs; the path need not
        exist any more. Globs given for a root are kept until others are given; so are columns. A root that is missing,
        or has no files any more, is reported in `warnings` and kept, unless `prune` is set. A file of more than
        `max_file_bytes`, or one that cannot be read, is skipped and reported. With more `processes` than one (0: as
        many as pay for their start), files are read in fresh interpreters, which import the calling program's main
        module: it needs an `if __name__ == "__main__"`. The resulting index is the same.

        With a `cluster`, by its address ("tcp://scheduler:8786") or as an `Executor`, its workers read the files
        instead of processes, where they see them under the same paths or URIs. The resulting index is the same. That
        needs the distribution semsearch-scale, whose errors it raises.

        `progress` is called with the progress; True draws a bar on the terminal or in the notebook. So do all writes.

        Of tables (.csv, .tsv) and JSON Lines, `text_columns` are those that are searched, by default all, and
        `metadata_columns` those that are kept as metadata of each record, for its hits and for filters. Each record is
        then a passage. A name leads into what is nested: "author.name". `text_columns=["*"]` resets the choice.

        Raises SourceError for a path that does not exist, UsageError if there are no paths and no roots, or for a
        column that no file has, IndexLocked, StorageError, also for a store that does not answer while objects are
        read, MissingExtra; nothing is then changed. A root in a store that cannot be listed is kept, with a warning.
        """
        local_paths = _paths(paths)
        with self._writer(progress, cluster, paths=local_paths) as writer:
            return writer.sync(
                local_paths,
                include=_globs(include, "include"),
                exclude=_globs(exclude, "exclude"),
                columns=_columns(text_columns, metadata_columns),
                prune=prune,
                max_file_bytes=max_file_bytes,
                processes=_processes(processes),
            )

    def watch(
        self,
        *,
        stop: threading.Event | None = None,
        max_file_bytes: int = MAX_BYTES,
        processes: int = 1,
        progress: Reporting = None,
    ) -> Iterator[SyncReport]:
        """Keep the index up to date as files change: sync all roots, then each path at which something changes.

        Roots in stores are synced once, at the beginning.

        Yields the report of the first sync, and of each later one that did something; between them it waits, without
        polling the files. Ends when `stop` is set, by another thread or between two reports. While another process
        writes, what has changed waits. `max_file_bytes` and `processes` as for `sync`. Raises MissingExtra without
        watchfiles (the extra `watch`), UsageError for an index without roots, and later what `sync` raises.
        """
        self._database.check_writable()
        with self._database.reading() as db:
            require(self._database, db)
        return indexing.follow(
            self._database,
            lambda: self._writer(progress),
            stop or threading.Event(),
            max_file_bytes=max_file_bytes,
            processes=_processes(processes),
        )

    def add(
        self,
        documents: Iterable[Given] | DataTable,
        *,
        id_key: str = "id",
        text_key: str = "text",
        progress: Reporting = None,
    ) -> SyncReport:
        """Add texts that are in no file; a text whose id is known replaces the earlier one.

        A document is a `Text`, an (id, text), an (id, text, metadata), or a record: a mapping with an id, a text, and
        perhaps a title and a format; the rest of it is metadata, and what it has as `metadata`. A table of pandas,
        Polars or Arrow gives a record a row. `id_key` and `text_key` name those fields of records.

        Metadata is kept as JSON has it: dates as text, numbers that are not finite as null. Raises UsageError for an id
        that is empty or comes twice, or an unknown format; nothing is then changed.
        """
        with self._writer(progress) as writer:
            return writer.add(indexing.as_texts(documents, id_key=id_key, text_key=text_key))

    def load(
        self,
        *paths: str | Path,
        id_key: str = "id",
        text_key: str = "text",
        progress: Reporting = None,
    ) -> SyncReport:
        """Add the documents of files that have one a row: as `Index.export` writes them, or records as `add` has them.

        JSON Lines, .csv and .parquet are read, by the files' endings; "-" is the standard input, as JSON Lines.
        Documents that were exported with their passages are divided as they were. Vectors are made anew. Raises
        SourceError for a file that cannot be read, UsageError, MissingExtra; nothing is then changed.
        """
        records = (record for path in _paths(paths) for record in indexing.read_records(path))
        return self.add(records, id_key=id_key, text_key=text_key, progress=progress)

    def remove(self, *paths: str | Path) -> int:
        """Remove files, folders, whole roots, or added texts by their ids; returns the number of documents removed.

        A file that still lies in a root comes back with the next sync.
        """
        with self._writer() as writer:
            return writer.remove(_paths(paths))

    def remove_texts(self, ids: Iterable[str]) -> int:
        """Remove texts that a program added, by their ids; returns the number removed.

        Unlike `remove`, it never takes an id for a path. Unknown ids are skipped.
        """
        with self._writer() as writer:
            return writer.remove_texts(strings(ids, "ids"))

    def refit(self, *, progress: Reporting = None) -> SyncReport:
        """Fit weights and components to the present text of the index, and compute all vectors again.

        This is one new generation.
        """
        with self._writer(progress) as writer:
            return writer.refit()

    def compact(self, *, progress: Reporting = None) -> bool:
        """Merge the files of vectors and words into as few as possible, without what was removed.

        Nothing is embedded again, and searches answer as before. Returns whether there was anything to do.
        """
        with self._writer(progress) as writer:
            return writer.compact()

    def rebuild(
        self,
        *,
        progress: Reporting = None,
        **options: Unpack[SettingsKeywords],
    ) -> SyncReport:
        """Derive everything again from the stored text, as one new generation, with the given settings changed.

        The options are those of `create`; an option that is not given stays as it is, but `vectors` are those the index
        names, as they are now. With a `method`, `a` and `components` not given are that method's own.
        """
        with self._writer(progress) as writer:
            done = writer.rebuild(options)
        self._release()
        return done

    def describe(self, sentence: str) -> None:
        """Say in a sentence what the index holds; an empty one removes what was said.

        `status`, `semsearch list` and agents show it.
        Raises UsageError for more than LONGEST_DESCRIPTION characters; IndexLocked, StorageError.
        """
        with self._writer() as writer:
            writer.describe(sentence)

    # -- the map -------------------------------------------------------------------------------------------------------

    def map(self, *, anew: bool = False, progress: Callable[[MapProgress], None] | None = None) -> PassageMap:
        """Return the map of the index: its passages as points in two dimensions, similar ones near each other.

        Made at the first call, which takes a minute or two for 100,000 passages, and kept in the index's folder, where
        it can be deleted. After a write, new passages are placed beside similar ones; `anew` arranges all of them
        again. The same index has the same map. A search may be restricted to a part of it, by the `passages` there:
        `map.ids[map.points[:, 0] < 0]` is its left half.
        """
        return self._mapping().make(anew=anew, report=progress)

    def map_there(self) -> PassageMap | None:
        """Return the map as it was last made, without removed passages; None if there is none. Makes no map."""
        return self._mapping().there()

    def map_coloured(self) -> ColouredMap | None:
        """Return the map as it was last made, with colours by folder, type and document; None if there is none."""
        return self._mapping().coloured()

    # -- contents and state --------------------------------------------------------------------------------------------

    @property
    def roots(self) -> tuple[str, ...]:
        """The paths of the indexed folders and files."""
        with self._database.reading() as db:
            return tuple(root.path for root in get_roots(db))

    def __len__(self) -> int:
        """The number of documents."""
        with self._database.reading() as db:
            return count_contents(db).documents

    def __bool__(self) -> bool:
        """True, also for an index without documents."""
        return True

    def __contains__(self, name: object) -> bool:
        """Return whether a path or an id names one document of the index, as `document` finds it."""
        with self._database.reading() as db, suppress(SourceError):
            return isinstance(name, str | Path) and find_document(db, str(name)) is not None
        return False

    def texts(self, ids: Iterable[str] | None = None) -> Iterator[DocumentText]:
        """Yield the texts that a program added: those with the given ids, in their order, or all, by id.

        Unlike `document`, it never takes an id for a path. Unknown ids are skipped. Texts are read some at a time.
        """
        return maintenance.each_text(self._database, None if ids is None else strings(ids, "ids"))

    def export(
        self,
        target: str | Path | IO[bytes],
        *,
        unit: Unit = "documents",
        vectors: bool = False,
        filters: Sequence[str] = (),
    ) -> int:
        """Write documents, passages or sentences to a file as JSON Lines, and return how many: those of one generation.

        With `vectors`, each row has its vector as the index compares it. Documents have their text and their passages:
        with these another index finds the same (see `Index.load`). Raises UsageError, StorageError.
        """
        chosen = strings(filters, "filters")
        return maintenance.export_index(
            self._database, self._vectors, target, unit=unit, vectors=vectors, filters=chosen
        )

    def verify(self) -> list[str]:
        """Verify the whole index; its problems, a line each."""
        with self._database.reading() as db:
            return maintenance.verify_index(db, self._database, self._vectors)


def _for_index(reranker: Reranker | str, folder: Path) -> Reranker:
    """The reranker of an index: a named model is opened, and its passage encodings are cached in the folder."""
    if isinstance(reranker, str):
        from semsearch.rerankers.load_reranker import load_reranker  # heavy, and few searches rerank

        reranker = load_reranker(reranker)
    cached_in = getattr(reranker, "cached_in", None)
    return reranker if cached_in is None else cast("Reranker", cached_in(folder))


def _processes(count: int) -> int:
    if isinstance(count, bool) or not isinstance(count, int) or count < 0:
        raise UsageError(f"processes must be a whole number (0: as many as are useful), not {count!r}")
    return count


def _globs(patterns: Iterable[str], name: str) -> tuple[str, ...]:
    globs = strings(patterns, name)
    if not all(glob.strip() for glob in globs):
        raise UsageError(f"{name} has an empty glob; give one such as '*.md'")
    return globs


def _columns(text: Iterable[str], metadata: Iterable[str]) -> Columns:
    columns = Columns(strings(text, "text_columns"), strings(metadata, "metadata_columns"))
    if not all(name.strip() for name in (*columns.text, *columns.metadata)):
        raise UsageError("the name of a column is empty; give one such as 'title'")
    return columns


def _paths(paths: Sequence[object]) -> tuple[str | Path, ...]:
    for path in paths:
        if not isinstance(path, str | Path):
            raise UsageError(
                f"a path must be a string or a Path, not {path!r}; give each path as an argument of its own"
            )
        if path == "":
            raise UsageError("a path is empty; the current folder is '.'")
    return tuple(local_path(path) if isinstance(path, str) else path for path in paths if isinstance(path, str | Path))
