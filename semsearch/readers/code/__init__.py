"""Source code: what its authors say about it, by function."""
