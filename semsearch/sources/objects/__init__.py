"""Folders in object stores and other file systems, as fsspec reaches them: listed, compared and fetched."""
