"""The map of an index: passages as points by meaning, in two dimensions."""
