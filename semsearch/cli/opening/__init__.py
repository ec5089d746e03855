"""Open what a hit cites: in the user's editor at its line, in the system's viewer, or in a pager."""
