"""What an index contains: its documents, their passages and pages, facets, the map."""
