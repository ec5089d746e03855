"""Answers and reports as text: for pipes, for terminals, as tables, with progress."""
