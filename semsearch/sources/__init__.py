"""Find the files of an index's roots, and what has changed in them."""
