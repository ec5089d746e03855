"""How messages come and go: over pipes or HTTP, several calls at once."""
