"""What an index holds and how it is, as `Index` has it; and the files and word vectors that it has open."""

from __future__ import annotations

import threading
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import IO, TYPE_CHECKING

from semsearch.embedding.frequencies import MIN_FREQUENCY
from semsearch.errors import SourceError, UsageError, VectorsError, VectorsMismatch
from semsearch.results.options import strings
from semsearch.settings import Settings, VectorsInUse
from semsearch.storage.database import IndexDatabase
from semsearch.storage.meta import get_meta, get_stamp
from semsearch.storage.roots import get_roots
from semsearch.system.working_folder import working_folder
from semsearch.word_vectors.loading import WordVectorsLike
from semsearch.word_vectors.table import WordVectors

if TYPE_CHECKING:
    from semsearch.embedding.directions import Direction
    from semsearch.maintenance.exporting.file_formats import ExportFormat
    from semsearch.maintenance.exporting.rows import Unit
    from semsearch.maintenance.facets.kept import KeptFacets
    from semsearch.results.contents.documents import DocumentInfo, DocumentText
    from semsearch.results.contents.facets import Facets
    from semsearch.results.contents.pages import PdfPage
    from semsearch.results.contents.passages import DocumentPassages
    from semsearch.results.state.checkup import Checkup
    from semsearch.results.state.problems import FileCoverage, Problem
    from semsearch.results.state.reports import Status


class IndexContents:
    """An index in a folder: its documents, settings, state and problems."""

    def __init__(self, path: str | Path, *, vectors: WordVectorsLike | None = None) -> None:
        self.path: Path = Path(path)
        self._database = IndexDatabase(self.path)
        self._word_vectors = VectorsInUse(self.path, vectors)
        self._opening = threading.RLock()  # guards what all threads share
        self._facets: KeptFacets | None = None  # made when they are first asked for
        self._checked: tuple[int, str] | None = None  # the stamp of what `check_all_documents` compared

    def documents(self, filters: Sequence[str] = ()) -> Iterator[DocumentInfo]:
        """List the documents of the index that pass all filters, by root and path, without their text.

        `filters` are those of a search (semsearch.search.filtering.filters): "guide/" is all below a folder. Documents
        are read some at a time, so that a long list takes little memory; a document that is added or removed meanwhile
        may be in the list or not. Raises UsageError for a filter that makes no sense.
        """
        from semsearch.maintenance.contents import each_document  # start-up time: a search needs none of it

        return each_document(self._database, strings(filters, "filters"))

    def __iter__(self) -> Iterator[DocumentInfo]:
        """List all documents, as `documents` does."""
        return self.documents()

    def __len__(self) -> int:
        """The number of documents."""
        with self._database.reading() as db:
            return int(db.execute("SELECT count(*) FROM documents").fetchone()[0])

    def __bool__(self) -> bool:
        """True: an index without documents is an index all the same."""
        return True

    def __contains__(self, name: object) -> bool:
        """Return whether a path or an id names one document of the index, as `document` finds it."""
        from semsearch.search.queries.similar import find_document  # start-up time, as above

        with self._database.reading() as db, suppress(SourceError):
            return isinstance(name, str | Path) and find_document(db, str(name)) is not None
        return False

    def document(self, name: str | Path) -> DocumentText:
        """Return a document, by its path or by the id that a program gave it: its title, metadata, format and text.

        A path may be written as hits show it, absolute, or relative to its root. `DocumentText` explains how its text
        is made. Raises SourceError for a path or an id that is not in the index, or is ambiguous.
        """
        from semsearch.maintenance.contents import read_document  # start-up time, as above

        if not isinstance(name, str | Path):
            raise UsageError(f"document takes a path or an id, not {name!r}")
        with self._database.reading() as db:
            return read_document(db, str(name))

    def texts(self, ids: Iterable[str] | None = None) -> Iterator[DocumentText]:
        """Yield the texts that a program added: those with these ids, in their order, or else all, by id.

        Unlike `document`, it never takes an id for a path. Unknown ids are passed over. Texts are read some at a time.
        """
        from semsearch.maintenance.contents import each_text  # start-up time, as above

        return each_text(self._database, None if ids is None else strings(ids, "ids"))

    def facets(self, filters: Sequence[str] = (), *, values: int = 10) -> Facets:
        """Count the documents that pass all filters by folder, format, date and each key of their metadata.

        A facet is counted as if the filters on its own key were not there, and each of its values has the filter that
        selects it. So many `values` of each, the most frequent. Reads the rows of all documents, 100,000 in two or
        three seconds; asked again before the next write, it is there at once. Raises UsageError for a filter that makes
        no sense.
        """
        from semsearch.maintenance.facets.counting import read_facets  # start-up time, as above
        from semsearch.maintenance.facets.kept import KeptFacets
        from semsearch.storage.sums.all_documents import check_all_documents

        if not isinstance(values, int) or isinstance(values, bool) or values < 0:
            raise UsageError(f"values must be a whole number, not {values!r}")
        texts = strings(filters, "filters")
        with self._opening:
            kept = self._facets = self._facets or KeptFacets()
        with self._database.reading() as db:
            asked = texts, values, working_folder()  # paths of filters may be relative to it
            stamp = get_stamp(db)
            if stamp != self._checked:
                check_all_documents(db)
                self._checked = stamp
            return kept.get(stamp, asked, lambda: read_facets(db, texts, values=values))

    def passages(
        self,
        name: str | Path,
        *,
        offset: int = 0,
        limit: int = 100,
        sentence: int | None = None,
        passage: int | None = None,
        line: int | None = None,
        page: int | None = None,
    ) -> DocumentPassages:
        """Return some passages of a document, with the places of their sentences: `limit` at most, from `offset` on.

        Where the id of a `sentence` or of a `passage`, a `line` or a `page` is given, those of its group of `limit`:
        of the first of these that the document has. `name` is as for `document`. Raises SourceError, UsageError.
        """
        from semsearch.maintenance.document_passages import SoughtPassage, read_passages  # start-up time, as above

        if offset < 0 or limit < 1:
            raise UsageError(f"give an offset from 0 on and a limit from 1 on, not {offset} and {limit}")
        sought = SoughtPassage(sentence, passage, line, page)
        with self._database.reading() as db:
            return read_passages(db, str(name), offset=offset, limit=limit, sought=sought)

    def page(self, name: str | Path, page: int) -> PdfPage:
        """Return a page of a PDF, counted from 1: its size, and where its sentences stand on it.

        Raises SourceError for a path that is not in the index, SourceChanged for a file that is no longer what was
        indexed, UsageError for another document or a page that there is not, MissingExtra.
        """
        from semsearch.maintenance.pdf_pages import find_page, placed  # start-up time, as above

        with self._database.reading() as db:
            found = find_page(db, str(name), page)
        return placed(found)

    def page_picture(self, name: str | Path, page: int, *, width: int = 1000) -> bytes:
        """Draw a page of a PDF, counted from 1, as PNG, `width` pixels wide; less wide if that is too large.

        Raises as `page`, and SourceError for a page that takes too long.
        """
        from semsearch.maintenance.pdf_pages import find_page, picture_of  # start-up time, as above

        if width < 1:
            raise UsageError(f"a picture is at least 1 pixel wide, not {width}")
        with self._database.reading() as db:
            found = find_page(db, str(name), page)
        return picture_of(found, width)

    def export(
        self,
        target: str | Path | IO[bytes],
        *,
        unit: Unit = "documents",
        format: ExportFormat | None = None,
        vectors: bool = False,
        filters: Sequence[str] = (),
    ) -> int:
        """Write documents, passages or sentences to a file, and return how many: those of one generation.

        `format` is "jsonl", "csv", "parquet" or "npz"; by default what the file's ending says, and JSON Lines for an
        open file. With `vectors`, each row has its vector as the index compares it. Documents have their text, and
        besides, except in CSV, their passages: with these another index finds the same (see `Index.load`). In CSV and
        Parquet, cells that have parts, such as metadata, are JSON. Raises UsageError, StorageError, MissingExtra.
        """
        from semsearch.maintenance.exporting.export import export  # start-up time, as above

        chosen = strings(filters, "filters")
        return export(self._database, self._vectors, target, unit=unit, format=format, vectors=vectors, filters=chosen)

    def verify(self) -> list[str]:
        """Verify the index: its problems, a line each; empty if all is well. Reads all of it."""
        from semsearch.maintenance.verify import verify  # start-up time: nothing else needs it

        with self._database.reading() as db:
            return verify(db, self._database, self._vectors)

    def rows_without_checksums(self) -> int:
        """The number of passages and documents of which damage would not be noticed: an earlier version wrote them.

        They get checksums when their files are read again, and all at once from `rebuild`.
        """
        from semsearch.storage.sums.damaged_rows import count_without_sums  # start-up time, as above

        with self._database.reading() as db:
            return count_without_sums(db)

    def status(self, *, drift: bool = True, stale: bool = True) -> Status:
        """Return counts, settings and size. `stale` lists the files of all roots, `drift` needs the word vectors.

        Of a copy that is read from a place, the files lie elsewhere, and are not listed.
        """
        from semsearch.maintenance.status import read_status  # start-up time: nothing else needs it

        stale = stale and not self._database.is_copy
        with self._database.reading() as db:
            found = read_status(db, self.path, self.settings, self._vectors, drift=drift, stale=stale)
        return replace(found, path=self._database.shown_name, published=self._database.publication())

    def problems(self) -> tuple[Problem, ...]:
        """The files below the roots that are not in the index, or not wholly: each with the reason and what to do.

        Not read are files of formats that no reader is for, damaged, encrypted and overlarge ones, and folders that
        cannot be listed. Partly read are files with scanned pages, attachments, broken bytes, and those whose encoding
        was guessed and may be another. Hidden and ignored files were asked to be left out. Lists all roots' files,
        unless this is a copy that is read from a place, which knows what there was at the last sync.
        """
        from semsearch.maintenance.problems import read_problems  # start-up time: nothing else needs it

        with self._database.reading() as db:
            return read_problems(db, is_copy=self._database.is_copy)

    def checkup(self, *, stale: bool = True) -> Checkup:
        """Return the health of the index: its status, what takes how much room, and what there is to do about it.

        `stale` lists the files of all roots. Needs the word vectors.
        """
        from semsearch.maintenance.checkup import read_checkup  # start-up time: nothing else needs it

        with self._database.reading() as db:
            return read_checkup(db, self.path, self.status(stale=stale), self._vectors())

    def coverage(self, *, offset: int = 0, limit: int | None = None) -> tuple[FileCoverage, ...]:
        """List each document with how much of it was taken in: characters, sentences, pages, words with a vector.

        By root and path; from the document at `offset` on, `limit` of them at most. Reads their text, and needs the
        word vectors.
        """
        from semsearch.maintenance.coverage import read_coverage  # start-up time, as above

        with self._database.reading() as db:
            return tuple(read_coverage(db, self._vectors(), offset=offset, limit=limit))

    def directions(self, k: int = 10, *, min_frequency: float = MIN_FREQUENCY) -> tuple[Direction, ...]:
        """The common components that are removed from every sentence, each by the k words nearest to it.

        Only words with a p(w) of at least `min_frequency` are named. Empty if nothing is fitted yet. Raises UsageError.
        """
        from semsearch.maintenance.status import read_directions  # start-up time, as above

        with self._database.reading() as db:
            return read_directions(db, self._vectors(), k=k, min_frequency=min_frequency)

    @property
    def roots(self) -> tuple[str, ...]:
        """The paths of the folders and files that the index is kept up to date with."""
        with self._database.reading() as db:
            return tuple(root.path for root in get_roots(db))

    @property
    def settings(self) -> Settings:
        """The settings of the index, as they are stored in it."""
        with self._database.reading() as db:
            return Settings.from_json(get_meta(db, "settings"))

    def close(self) -> None:
        """Close the files. A closed index opens them again when it is used."""
        self._database.close()
        self._word_vectors.close()

    def _vectors(self) -> WordVectors:
        """The index's word vectors, opened when first needed."""
        settings = self.settings
        try:
            with self._opening:
                return self._word_vectors.of(settings)
        except (VectorsError, VectorsMismatch) as error:
            if not self._database.is_copy:
                raise
            raise type(error)(
                f"the index at {self._database.shown_name} was built with the word vectors {settings.vectors_name} "
                f"({settings.vectors_digest[:8]}), which are not what is found here; copy them to this machine and "
                "give their folder with --vectors, or as `vectors`"
            ) from error
