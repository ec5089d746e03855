"""`semsearch vectors`: look at word vectors, bring others in, make them."""
