"""Facets: how many documents there are by folder, format, date and metadata."""
