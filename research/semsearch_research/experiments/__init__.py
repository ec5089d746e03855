"""The declarations of the papers' experiments."""
