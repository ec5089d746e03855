"""Slow, literal transcriptions of papers and formats, which the fast code must agree with."""
