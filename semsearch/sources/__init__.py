"""Which files there are, and what has changed."""
