"""NumPy arrays without any idea of search: hash tables, ranges of ids, top k, unit rows, half precision."""
