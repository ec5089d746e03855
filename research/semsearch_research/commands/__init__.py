"""The commands that semsearch gets by the entry points `semsearch.commands`; see pyproject.toml."""
