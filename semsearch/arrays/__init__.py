"""NumPy helpers that know nothing of search: hash tables, ranges of ids, top k, unit rows, half precision, bytes."""
