"""What `Index` asks of the files here."""

from .export import export_index as export_index
from .facets import count_facets as count_facets
from .index_folders import create as create, discard as discard
from .read_documents import (
    SoughtPassage as SoughtPassage,
    each_document as each_document,
    each_text as each_text,
    read_document as read_document,
    read_passages as read_passages,
)
from .show_page import find_page as find_page, picture_of as picture_of, placed as placed, read_file as read_file
from .status import read_checkup as read_checkup, read_problems as read_problems, read_status as read_status
from .verify import verify_index as verify_index
