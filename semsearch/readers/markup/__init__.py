"""Markup languages that are read line by line: Org, AsciiDoc, LaTeX."""
