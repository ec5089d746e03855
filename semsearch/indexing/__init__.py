"""The write path: from changed files to a new generation."""
