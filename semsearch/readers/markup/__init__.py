"""Texts with markup: a file for each language of it."""
