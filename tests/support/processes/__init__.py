"""Processes that tests start: writers that die, readers that are slow, an agent's server."""
