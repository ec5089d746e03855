"""`Writable`: what changes an index, with the signatures, checks and docstrings of all writes. `Index` is one.

A write is a method of `IndexWriter`, which holds the lock and makes one new generation; here is what users call. What
loads the readers of files is imported when it is called.
"""

from __future__ import annotations

import threading
from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Unpack

from semsearch import indexing
from semsearch.errors import UsageError
from semsearch.readers.registry import MAX_BYTES, Columns
from semsearch.results.options import strings, whole_number
from semsearch.settings import SettingsKeywords, VectorsInUse
from semsearch.storage.database import IndexDatabase
from semsearch.system.locations import local_path, usable_path
from semsearch.trust import allowed_write, requested_paths, require

if TYPE_CHECKING:
    from semsearch.indexing.add_texts import DataTable, DocumentInput
    from semsearch.indexing.index_writer import IndexWriter, ProgressOption
    from semsearch.results.reports import SyncReport
    from semsearch.system.parallel import Executor


class Writable(ABC):
    """An index that can be filled and kept up to date. Each method is one write; the index is whole before and after.

    A write raises IndexLocked while another process writes, StorageError, and UsageError for a published copy.
    """

    _database: IndexDatabase
    _word_vectors: VectorsInUse

    @abstractmethod
    def _release(self) -> None:
        """Close the files, which are opened again when they are needed."""

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
        progress: ProgressOption = None,
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
        included, excluded, text, metadata = _texts(
            include=include, exclude=exclude, text_columns=text_columns, metadata_columns=metadata_columns
        )
        processes = whole_number("processes", processes, least=0)
        with self._writer(progress, cluster, paths=local_paths, renames=bool(paths) or prune) as writer:
            return writer.sync(
                local_paths,
                include=included,
                exclude=excluded,
                columns=Columns(text, metadata),
                prune=prune,
                max_file_bytes=max_file_bytes,
                processes=processes,
            )

    def watch(
        self,
        *,
        stop: threading.Event | None = None,
        max_file_bytes: int = MAX_BYTES,
        processes: int = 1,
        progress: ProgressOption = None,
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
            processes=whole_number("processes", processes, least=0),
        )

    def add(
        self,
        documents: Iterable[DocumentInput] | DataTable,
        *,
        id_key: str = "id",
        text_key: str = "text",
        progress: ProgressOption = None,
    ) -> SyncReport:
        """Add texts that are in no file; a text whose id is known replaces the earlier one.

        A document is a `Text`, an (id, text), an (id, text, metadata), or a record: a mapping with an id, a text, and
        perhaps a title and a format; the rest of it is metadata, and what it has as `metadata`. A table of pandas,
        Polars or Arrow gives a record a row. `id_key` and `text_key` name those fields of records.

        Metadata is kept as JSON has it: dates as text, numbers that are not finite as null. Raises UsageError for an id
        that is empty or comes twice, or an unknown format; nothing is then changed.
        """
        with self._writer(progress) as writer:
            return indexing.add_documents(writer, indexing.as_texts(documents, id_key=id_key, text_key=text_key))

    def load(
        self,
        *paths: str | Path,
        id_key: str = "id",
        text_key: str = "text",
        progress: ProgressOption = None,
    ) -> SyncReport:
        """Add the documents of files that have one a row: as `Index.export` writes them, or records as `add` has them.

        They are JSON Lines; "-" is the standard input.
        Documents that were exported with their passages are divided as they were. Vectors are made anew. Raises
        SourceError for a file that cannot be read, UsageError, MissingExtra; nothing is then changed.
        """
        records = (record for path in _paths(paths) for record in indexing.read_records(path))
        return self.add(records, id_key=id_key, text_key=text_key, progress=progress)

    def remove(self, *paths: str | Path) -> int:
        """Remove files, folders, whole roots, or added texts by their ids; returns the number of documents removed.

        A file that still lies in a root comes back with the next sync.
        """
        with self._writer(renames=True) as writer:
            return writer.remove(_paths(paths))

    def remove_texts(self, ids: Iterable[str]) -> int:
        """Remove texts that a program added, by their ids; returns the number removed.

        Unlike `remove`, it never takes an id for a path. Unknown ids are skipped.
        """
        with self._writer() as writer:
            return writer.remove_texts(strings(ids, "ids"))

    def refit(self, *, progress: ProgressOption = None) -> SyncReport:
        """Fit weights and components to the present text of the index, and compute all vectors again.

        This is one new generation.
        """
        with self._writer(progress) as writer:
            return writer.refit()

    def rebuild(
        self,
        *,
        progress: ProgressOption = None,
        **options: Unpack[SettingsKeywords],
    ) -> SyncReport:
        """Derive everything again from the stored text, as one new generation, with the given settings changed.

        The options are those of `create`; an option that is not given stays as it is, but `vectors` are those the index
        names, as they are now. With a `method`, `a` and `components` not given are that method's own.
        """
        with self._writer(progress, renames=True) as writer:
            done = writer.rebuild(options)
        self._release()
        return done

    def describe(self, sentence: str) -> None:
        """Set the sentence that describes what the index holds; an empty one removes it.

        `status`, `semsearch list` and agents show it.
        Raises UsageError for more than LONGEST_DESCRIPTION characters; IndexLocked, StorageError.
        """
        with self._writer() as writer:
            writer.describe(sentence)

    @contextmanager
    def _writer(
        self,
        progress: ProgressOption = None,
        cluster: str | Executor | None = None,
        *,
        paths: Sequence[str | Path] = (),
        renames: bool = False,
    ) -> Iterator[IndexWriter]:
        """Take the writer's lock and make the writer that holds it.

        `renames`: what the index refers to outside its folder may change. The user has requested roots at `paths`.
        Raises UsageError for a published copy; IndexNotTrusted, before anything is written.
        """
        database, has_override = self._database, self._word_vectors.override is not None
        with indexing.IndexWriter.open(database, self._word_vectors, progress=progress, cluster=cluster) as writer:
            if renames or has_override:
                with allowed_write(database, requested_paths(paths, vectors=has_override)):
                    yield writer
            else:
                with database.reading() as db:
                    require(database, db)
                yield writer


def _texts(**values: Iterable[str]) -> list[tuple[str, ...]]:
    """Sequences of globs or names, checked. Raises UsageError for one that is empty."""
    checked = [strings(texts, name) for name, texts in values.items()]
    for name, texts in zip(values, checked, strict=True):
        if "" in map(str.strip, texts):
            raise UsageError(f"{name} has an empty text; give one such as '*.md' for a glob, 'title' for a column")
    return checked


def _paths(paths: Sequence[str | Path]) -> tuple[str | Path, ...]:
    local_paths = [local_path(path) if isinstance(path, str) else path for path in paths]
    for path in local_paths:
        usable_path(path)
    return tuple(local_paths)
