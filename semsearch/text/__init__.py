"""A document to passages, sentences, words and terms."""
