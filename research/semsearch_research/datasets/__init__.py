"""Lay out a folder of data for the experiments, from the releases as their owners give them."""
