"""The front: `Index`, a folder that is filled, kept up to date and searched.

    with Index.open("indexes/notes", create=True) as index:
        index.sync("notes/")
        for hit in index.search("how do I rotate the keys?", k=5):
            print(hit.path, hit.line, hit.sentence)

How it is searched is documented in `Searchable`, how it is filled in `Writable`; here it is made and opened, and says
what is in it. Searches go to the `Searcher`, the map to the `Mapper`, contents and state to functions of `maintenance`.
What loads SciPy, a tenth of a second, is imported when it is called.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import suppress
from pathlib import Path
from typing import IO, TYPE_CHECKING, Unpack

from semsearch import maintenance
from semsearch.arrays.types import Float32
from semsearch.context import candidates_for, context_of
from semsearch.errors import IndexExists, IndexNotFound, SourceError, UsageError, VectorsError, VectorsMismatch
from semsearch.rerankers import Reranker, opened_reranker, options_for, rerank
from semsearch.results.options import passage_ids, strings, whole_number
from semsearch.search.searcher import Searcher
from semsearch.searchable import Searchable, path_or_id
from semsearch.settings import Settings, SettingsKeywords, VectorsInUse
from semsearch.storage.database import IndexDatabase, check, check_primary_tables, has_database
from semsearch.storage.document_rows import count_contents
from semsearch.storage.find_document import find_document
from semsearch.storage.known_files import get_roots
from semsearch.storage.published import open_published, published_at
from semsearch.storage.schema import get_meta
from semsearch.system.locations import usable_path
from semsearch.system.parallel import while_wanted
from semsearch.trust import external_references, forget, record, require
from semsearch.word_vectors.table import DEFAULT_VECTORS, WordVectors, WordVectorsLike, is_shipped, open_vectors
from semsearch.writable import Writable

if TYPE_CHECKING:
    from semsearch.maintenance.export import Unit
    from semsearch.mapping.mapper import ColouredMap, Mapper, PassageMap
    from semsearch.remote_index import RemoteIndex
    from semsearch.results.documents import (
        DocumentInfo,
        DocumentPassages,
        DocumentText,
        Facets,
        MapPassage,
        MapProgress,
        MapStatus,
        PdfPage,
    )
    from semsearch.results.explanation import Explanation
    from semsearch.results.hits import Context, Hit, Hits
    from semsearch.results.options import Mode, SearchOptions
    from semsearch.results.reports import Checkup, Problem, Status


__all__ = ["Index"]


class Index(Writable, Searchable):
    """An index in a folder, made by `create` or `open`; a context manager, closed at its end.

    Threads may share an index, and search at the same time. Any number of processes may search while one writes; each
    search sees one generation whole, the newest that was committed when it began.
    """

    def __init__(
        self, path: str | Path, *, vectors: WordVectorsLike | None = None, reranker: Reranker | None = None
    ) -> None:
        self.path: Path = usable_path(path)
        self._database = IndexDatabase(self.path)
        self._word_vectors = VectorsInUse(self.path, vectors)
        self._reranker = reranker
        self._opening = threading.RLock()  # guards what all threads share: what is below, and the word vectors
        self._searcher: Searcher | None = None  # this and the next one are made when they are first needed
        self._mapper: Mapper | None = None

    # -- making, opening, closing --------------------------------------------------------------------------------------

    @classmethod
    def create(cls, path: str | Path, **options: Unpack[SettingsKeywords]) -> Index:
        """Create an index in a new or empty folder.

        The options, with their defaults, are the fields of `Settings`: word vectors by name or path, or opened, how to
        embed, and how to scan. Without `sentence_vectors` the index is about half as large, and makes those of the
        passages that it scores from their text. Raises IndexExists, VectorsError, UsageError, StorageError;
        IndexDamaged where the folder holds something else.
        """
        folder = usable_path(path)
        vectors = DEFAULT_VECTORS if (chosen := options.get("vectors")) is None else chosen
        opened = open_vectors(vectors)
        settings = Settings.of_new(opened, options)
        maintenance.create(folder, settings)
        index = cls(folder)
        index._word_vectors.use(opened, vectors)
        with index._database.reading_after_write() as db:
            record(index._database, external_references(index._database, db))
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

        A `reranker` (semsearch.rerankers) scores the first hits of every answer again, and its component is
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
                check_primary_tables(database)
            index._reranker = opened_reranker(reranker)
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

    # -- asking: the primitives of `Searchable` ------------------------------------------------------------------------

    @property
    def searcher(self) -> Searcher:
        """The searcher of this index, for modules of semsearch that need more than hits."""
        with self._opening:
            if self._searcher is None:
                self._searcher = Searcher(self._database, self._vectors)
            return self._searcher

    def _search(self, queries: Sequence[str], options: SearchOptions) -> list[Hits]:
        if self._reranker is None:
            return self.searcher.search(queries, options)
        answers = self.searcher.search(queries, options_for(self._reranker, options))
        answered = while_wanted(zip(queries, answers, strict=True))
        return [rerank(self._reranker, query, hits) for query, hits in answered]

    def _similar(self, example: Hit | str, line: int | None, options: SearchOptions, *, same_document: bool) -> Hits:
        return self.searcher.similar(example, line, options, same_document=same_document)

    def _explain(self, query: str, hit: Hit, mode: Mode | None) -> Explanation:
        return self.searcher.explain(query, hit, mode)

    def _context(self, query: str, options: SearchOptions, max_words: int) -> Context:
        candidates = candidates_for(options, max_words)
        hits, passages = self.searcher.with_passages(query, options_for(self._reranker, candidates))
        return context_of(rerank(self._reranker, query, hits), passages, candidates, max_words=max_words)

    def embed(self, texts: Iterable[str]) -> Float32:
        """Embed texts as the index embeds its sentences: unit vectors, float32. (n) -> (n, d)

        A text without a known word has a zero vector. Raises UsageError while the index has no text.
        """
        return self.searcher.embed(strings(texts, "texts"))

    # -- contents ------------------------------------------------------------------------------------------------------

    def documents(self, filters: Sequence[str] = ()) -> Iterator[DocumentInfo]:
        """List the documents of the index that pass all filters, by root and path, without their text.

        `filters` are those of a search (semsearch.filters): "guide/" is all below a folder. Documents
        are read some at a time, so that a long list takes little memory; a document that is added or removed meanwhile
        may be in the list or not. Raises UsageError for a filter that makes no sense.
        """
        return maintenance.each_document(self._database, strings(filters, "filters"))

    def __iter__(self) -> Iterator[DocumentInfo]:
        """List all documents, as `documents` does."""
        return self.documents()

    def document(self, name: str | Path) -> DocumentText:
        """Return a document, by its path or by the id that a program gave it: its title, metadata, format and text.

        A path may be written as hits show it, absolute, or relative to its root. `DocumentText` explains how its text
        is made. Raises SourceError for a path or an id that is not in the index, or is ambiguous.
        """
        with self._database.reading() as db:
            return maintenance.read_document(db, path_or_id("document", name))

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
        places = {"sentence": sentence, "passage": passage, "line": line, "page": page}
        given = {what: number for what, number in places.items() if number is not None}
        for what, number in {"offset": offset, "limit": limit, **given}.items():
            if whole_number(what, number, least=int(what == "limit")) >= 1 << 53:
                raise UsageError(f"{what} must be less than 2^53, not {number}")
        sought, name = maintenance.SoughtPassage(sentence, passage, line, page), path_or_id("passages", name)
        with self._database.reading() as db:
            return maintenance.read_passages(db, name, offset=offset, limit=limit, sought=sought)

    def page(self, name: str | Path, page: int) -> PdfPage:
        """Return a page of a PDF, counted from 1: its size, and where its sentences stand on it.

        Raises SourceError for a path that is not in the index, SourceChanged for a file that is no longer what was
        indexed, UsageError for another document or a missing page, MissingExtra.
        """
        return maintenance.placed(maintenance.find_page(self._database, path_or_id("page", name), page))

    def page_picture(self, name: str | Path, page: int, *, width: int = 1000) -> bytes:
        """Draw a page of a PDF, counted from 1, as PNG, `width` pixels wide; less wide if that is too large.

        Raises as `page`, and SourceError for a page that takes too long.
        """
        width = whole_number("width", width, least=1)
        place = maintenance.find_page(self._database, path_or_id("page_picture", name), page)
        return maintenance.picture_of(place, width)

    def file(self, name: str | Path) -> bytes:
        """Read the file of a document, such as a PDF, if it is still the one that was indexed.

        Raises SourceError for a path that is not in the index, or is ambiguous; UsageError for a text that a program
        added, which is in no file; SourceChanged for a file that has changed, or is in an object store.
        """
        return maintenance.read_file(self._database, path_or_id("file", name))

    def facets(self, filters: Sequence[str] = (), *, values: int = 10) -> Facets:
        """Count the documents that pass all filters by folder, format, date and each key of their metadata.

        A facet is counted as if the filters on its own key were not there, and each of its values has the filter that
        selects it. So many `values` of each, the most frequent. Reads the rows of all documents, 100,000 in two or
        three seconds; asked again before the next write, it is there at once. Raises UsageError for a filter that makes
        no sense.
        """
        chosen, values = strings(filters, "filters"), whole_number("values", values, least=0)
        return self.searcher.in_one_generation(lambda index: maintenance.count_facets(chosen, values, index))

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

    # -- state ---------------------------------------------------------------------------------------------------------

    @property
    def settings(self) -> Settings:
        """The stored settings of the index."""
        with self._database.reading() as db:
            return Settings.from_json(get_meta(db, "settings"))

    def status(self, *, known_words: bool = True, stale: bool = True) -> Status:
        """Return counts, settings and size. `stale` lists the files of all roots, `known_words` needs the word vectors.

        Of a published snapshot, the files lie elsewhere, and are not listed.
        """
        return maintenance.read_status(
            self._database, self._word_vectors, self._vectors, known_words=known_words, stale=stale
        )

    def problems(self) -> tuple[Problem, ...]:
        """The files below the roots that are not in the index, or not wholly: each with the reason and what to do.

        Unread are files of unknown formats, damaged, encrypted and overlarge ones, and folders that cannot be listed.
        Partly read are files with scanned pages, attachments, broken bytes, and those whose encoding was detected with
        doubt. Hidden and ignored files are not listed. Lists all roots' files; a published snapshot knows those of the
        last sync.
        """
        return maintenance.read_problems(self._database)

    def checkup(self, *, stale: bool = True) -> Checkup:
        """Return the health of the index: its status, what takes how much space, and recommended commands.

        `stale` lists the files of all roots. Needs the word vectors. The commands are for the machine of the index.
        """
        with self._database.reading() as db:
            return maintenance.read_checkup(db, self.path, self.status(stale=stale))

    # -- the map -------------------------------------------------------------------------------------------------------

    def map(self, *, progress: Callable[[MapProgress], None] | None = None) -> PassageMap:
        """Return the map of the index: its passages as points in two dimensions, similar ones near each other.

        Made at the first call, which takes a minute or two for 100,000 passages, and kept in the index's folder, where
        it can be deleted. After a write, the next call makes another. Of more passages an even sample of 100,000 is on
        it. The same index has the same map. A search may be restricted to a part of it, by the `passages` there:
        `map.ids[map.points[:, 0] < 0]` is its left half.
        """
        return self._mapping().make(progress)

    def map_coloured(self) -> ColouredMap | None:
        """Return the map as it was last made, with colours by folder, type and document; None if there is none."""
        return self._mapping().coloured()

    def map_status(self) -> MapStatus:
        """Return whether there is a map, whether it is up to date, and the progress of one in the making."""
        return self._mapping().status()

    def map_passages(self, ids: Sequence[int]) -> list[MapPassage]:
        """Return the passages behind points of the map, by their ids; those that have gone are left out."""
        return self._mapping().shown(passage_ids(ids))

    # -- what it has opened --------------------------------------------------------------------------------------------

    def _mapping(self) -> Mapper:
        from semsearch.mapping.mapper import Mapper  # loads SciPy

        with self._opening:
            if self._mapper is None:
                self._mapper = Mapper(self.path, lambda: self.searcher)
            return self._mapper

    def _vectors(self) -> WordVectors:
        """The index's word vectors, opened when first needed."""
        settings = self.settings
        if self._word_vectors.override is None and not is_shipped(settings.vectors):
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
