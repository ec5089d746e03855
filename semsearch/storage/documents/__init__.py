"""The rows of documents: added, kept, listed, counted for facets, with their records' metadata."""
