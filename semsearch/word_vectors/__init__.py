"""Tables of word vectors: shipped, imported, written, looked up."""
