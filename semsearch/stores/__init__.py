"""Engines that keep the vectors of an index elsewhere, a file for each, and the registry that finds them."""
