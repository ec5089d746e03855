"""The SQLite database of an index, and the list of its segment files."""
