"""Engines that keep the vectors of an index outside of its folder: PostgreSQL, Lance."""
