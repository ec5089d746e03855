"""Split documents into passages, sentences, words and terms."""
