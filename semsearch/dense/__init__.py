"""The vector store: unit vectors in segments, written, searched and fetched by their ids."""
