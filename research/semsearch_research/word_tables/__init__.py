"""Tables of word vectors: written row by row, converted from files of other formats, and inspected."""
