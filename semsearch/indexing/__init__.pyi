"""What `Index` asks of the files here."""

from .add_texts import add_documents as add_documents, as_texts as as_texts, read_records as read_records
from .follow_files import follow as follow
from .index_writer import IndexWriter as IndexWriter
