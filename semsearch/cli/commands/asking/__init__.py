"""Commands that ask an index."""
