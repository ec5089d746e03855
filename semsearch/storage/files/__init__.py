"""Files beside the database of an index: copies, maps, caches, and the disk space they take."""
