"""The public names. `__init__.py` imports the module that defines one when it is first used."""

__version__: str

from .embedding.embedder import SentenceEmbedder as SentenceEmbedder
from .embedding.weights import Method as Method
from .errors import MissingExtra as MissingExtra, SemsearchError as SemsearchError, UsageError as UsageError
from .index import Index as Index
from .multi_index import MultiIndex as MultiIndex
from .readers.document import Text as Text
from .remote_index import RemoteIndex as RemoteIndex
from .rerankers import Readings as Readings, Reranker as Reranker, load_reranker as load_reranker
from .results.documents import DocumentInfo as DocumentInfo, DocumentText as DocumentText, Facets as Facets
from .results.explanation import Explanation as Explanation
from .results.hits import (
    Citation as Citation,
    Context as Context,
    DuplicatePassage as DuplicatePassage,
    Hit as Hit,
    Hits as Hits,
)
from .results.options import Mode as Mode, SearchOptions as SearchOptions
from .results.reports import (
    Progress as Progress,
    SkippedFile as SkippedFile,
    Status as Status,
    SyncReport as SyncReport,
)
from .searchable import Searchable as Searchable
from .settings import Settings as Settings
from .word_vectors.table import VectorTable as VectorTable, WordVectors as WordVectors, load_vectors as load_vectors
