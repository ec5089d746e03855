"""Tables of word vectors: ship, import, write and look them up."""
