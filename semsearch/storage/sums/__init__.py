"""Checksums of what the database holds: of each row that is large or shown, and of the small tables as a whole."""
