"""Making word vectors: count words, encode them with a teacher, store them. Needs the extra `train`."""
