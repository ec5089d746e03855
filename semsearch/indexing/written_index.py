"""What changes an index, as `Index` has it: each method is one write of the `IndexWriter`."""

from __future__ import annotations

import logging
import threading
from collections.abc import Iterable, Iterator, Sequence
from contextlib import AbstractContextManager
from pathlib import Path
from typing import TYPE_CHECKING, Unpack

from semsearch.errors import UsageError
from semsearch.indexing.progress_reports import Reporting
from semsearch.readers.content.size_limit import MAX_BYTES
from semsearch.results.options import strings
from semsearch.settings import SettingsKeywords
from semsearch.system.uris import local_path, uri_scheme

logger = logging.getLogger(__name__)

if TYPE_CHECKING:
    from distributed import Client

    from semsearch.indexing.reading.given_texts import DataTable, Given
    from semsearch.indexing.writer import IndexWriter
    from semsearch.readers.records.columns import Columns
    from semsearch.results.state.reports import SyncReport
    from semsearch.storage.database import IndexDatabase


class WrittenIndex:
    """The methods of an index that write. Another class has its files, and makes its writer."""

    path: Path
    _database: IndexDatabase

    @property
    def roots(self) -> tuple[str, ...]:
        """The paths of the folders and files that the index is kept up to date with."""
        raise NotImplementedError

    def close(self) -> None:
        """Close the files. A closed index opens them again when it is used."""
        raise NotImplementedError

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
        cluster: str | Client | None = None,
        progress: Reporting = None,
    ) -> SyncReport:
        """Bring the index up to date with files and folders, which become its roots; without any, with all its roots.

        A path may be the URI of a folder or object in a store that fsspec reaches (the extra `remote-files`), such as
        "s3://bucket/docs?endpoint=http://localhost:9000": its objects are listed, and those that are new or have
        changed are fetched. Its options stay with it; a password is none.

        Of a path inside a root only the files there are looked at, by the root's rules and globs; the path may have
        gone. Globs given for a root stay with it until others are given; so do columns. A root that has vanished, or
        has no files any more, is reported in `warnings` and kept, unless `prune` is set. A file of more than
        `max_file_bytes`, or one that cannot be read, is skipped and reported. With more `processes` than one (0: as
        many as pay for their start), files are read in fresh interpreters, which import the calling program's main
        module: it needs an `if __name__ == "__main__"`. The resulting index is the same.

        With a `cluster`, the address of a Dask scheduler ("tcp://scheduler:8786") or a `distributed.Client`, its
        workers read, fit and embed instead of processes; so for all writes. Workers read the files that they see under
        the same paths, or URIs. The resulting index is the same, whatever the number of workers. Raises MissingExtra
        without Dask (the extra `cluster`); ClusterError if it cannot be reached or used, or has lost all its workers.

        `progress` is called with the progress; True draws a bar on the terminal or in the notebook. So for all writes.

        Of tables (.csv, .tsv) and JSON Lines, `text_columns` are those that are searched, by default all, and
        `metadata_columns` those that are kept as metadata of each record, for its hits and for filters. Each record is
        then a passage. A name leads into what is nested: "author.name". `text_columns=["*"]` takes a choice back.

        Raises SourceError for a path that does not exist, UsageError if there are no paths and no roots, or for a
        column that no file has, IndexLocked, StorageError, also for a store that does not answer while objects are
        read, MissingExtra; nothing is then changed. A root in a store that cannot be listed is kept, with a warning.
        """
        with self._writer(progress, cluster) as writer:
            return writer.sync(
                _paths(paths),
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
        from semsearch.indexing.watching import Follower, RootsOf  # start-up time: few watch
        from semsearch.sources.events import changed_paths

        elsewhere = [root for root in self.roots if uri_scheme(root)]
        if len(elsewhere) == len(self.roots):
            why = f"; stores tell of no changes, so that {', '.join(elsewhere)} can only be synced" if elsewhere else ""
            raise UsageError(f"the index {self.path} has no roots to watch; give it a file or folder with sync{why}")
        if elsewhere:
            logger.warning("%s: not watched, since stores tell of no changes; sync it", ", ".join(elsewhere))
        follower = Follower(self._database, lambda: self._writer(progress), max_file_bytes, _processes(processes))
        return follower.follow(changed_paths(RootsOf(self._database), stop or threading.Event()))

    def add(
        self,
        documents: Iterable[Given] | DataTable,
        *,
        id_key: str = "id",
        text_key: str = "text",
        cluster: str | Client | None = None,
        progress: Reporting = None,
    ) -> SyncReport:
        """Add texts that are in no file; a text whose id is known replaces the earlier one.

        A document is a `Text`, an (id, text), an (id, text, metadata), or a record: a mapping with an id, a text, and
        perhaps a title and a format; the rest of it is metadata, and what it has as `metadata`. A table of pandas,
        Polars or Arrow gives a record a row. `id_key` and `text_key` name those fields of records.

        Metadata is kept as JSON has it: dates as text, numbers that are not finite as null. Raises UsageError for an id
        that is empty or comes twice, or an unknown format; nothing is then changed.
        """
        from semsearch.indexing.reading.given_texts import as_texts  # start-up time: a search adds nothing

        with self._writer(progress, cluster) as writer:
            return writer.add(as_texts(documents, id_key=id_key, text_key=text_key))

    def load(
        self,
        *paths: str | Path,
        id_key: str = "id",
        text_key: str = "text",
        cluster: str | Client | None = None,
        progress: Reporting = None,
    ) -> SyncReport:
        """Add the documents of files that have one a row: as `Index.export` writes them, or records as `add` has them.

        JSON Lines, .csv, .parquet and .npz are read, by the files' endings; "-" is the standard input, as JSON Lines.
        Documents that were exported with their passages are divided as they were. Vectors are made anew. Raises
        SourceError for a file that cannot be read, UsageError, MissingExtra; nothing is then changed.
        """
        from semsearch.indexing.reading.exported_files import read_records  # start-up time: a search adds nothing

        records = (record for path in _paths(paths) for record in read_records(path))
        return self.add(records, id_key=id_key, text_key=text_key, cluster=cluster, progress=progress)

    def remove(self, *paths: str | Path) -> int:
        """Remove files, folders, whole roots, or added texts by their ids; returns the number of documents removed.

        A file that still lies in a root comes back with the next sync.
        """
        with self._writer() as writer:
            return writer.remove(_paths(paths))

    def remove_texts(self, ids: Iterable[str]) -> int:
        """Remove texts that a program added, by their ids; returns the number removed. Others and files stay.

        Unlike `remove`, it never takes an id for a path. Unknown ids are passed over.
        """
        with self._writer() as writer:
            return writer.remove_texts(strings(ids, "ids"))

    def refit(self, *, cluster: str | Client | None = None, progress: Reporting = None) -> SyncReport:
        """Fit weights and components to the text that the index holds today, and make all vectors anew.

        This is one new generation.
        """
        with self._writer(progress, cluster) as writer:
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
        cluster: str | Client | None = None,
        progress: Reporting = None,
        **options: Unpack[SettingsKeywords],
    ) -> SyncReport:
        """Derive everything anew from the stored text, as one new generation, with other settings if any are given.

        The options are those of `create`; an option that is not given stays as it is, but `vectors` are those the index
        names, as they are now. With a `method`, `a` and `components` not given are that method's own.
        """
        with self._writer(progress, cluster) as writer:
            done = writer.rebuild(options)
        self.close()
        return done

    def _writer(
        self, progress: Reporting = None, cluster: str | Client | None = None
    ) -> AbstractContextManager[IndexWriter]:
        """Take the writer's lock and make the writer that holds it."""
        raise NotImplementedError


def _processes(count: int) -> int:
    if isinstance(count, bool) or not isinstance(count, int) or count < 0:
        raise UsageError(f"processes must be a whole number, 0 for as many as are useful, not {count!r}")
    return count


def _globs(given: Iterable[str], name: str) -> tuple[str, ...]:
    globs = strings(given, name)
    if not all(glob.strip() for glob in globs):
        raise UsageError(f"an empty glob to {name}; give one such as '*.md'")
    return globs


def _columns(text: Iterable[str], metadata: Iterable[str]) -> Columns:
    from semsearch.readers.records.columns import Columns  # start-up time: a search chooses none

    columns = Columns(strings(text, "text_columns"), strings(metadata, "metadata_columns"))
    if not all(name.strip() for name in (*columns.text, *columns.metadata)):
        raise UsageError("the name of a column is empty; give one such as 'title'")
    return columns


def _paths(given: Sequence[object]) -> tuple[str | Path, ...]:
    for path in given:
        if not isinstance(path, str | Path):
            raise UsageError(f"a path is a string or a Path, not {path!r}; give several one by one")
        if path == "":
            raise UsageError("a path is empty; the current folder is '.'")
    return tuple(local_path(path) if isinstance(path, str) else path for path in given if isinstance(path, str | Path))
