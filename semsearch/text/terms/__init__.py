"""Terms of the lexical index: made of words, numbered by a lexicon, asked for by a query."""
