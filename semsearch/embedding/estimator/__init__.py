"""What programs for scikit-learn and sentence-transformers expect of `SentenceEmbedder`: parameters, texts, encode."""
