"""Files that have files in them: mail and archives."""
