"""An index on a server, which answers as one here does."""
