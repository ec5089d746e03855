"""Files in object stores, as roots of an index: listed and fetched through fsspec."""
