"""The languages that texts are in: which one, and what is done to its words."""
