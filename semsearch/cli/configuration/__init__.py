"""What the user has decided beforehand: semsearch.toml of a project, the user's own, and environment variables."""
