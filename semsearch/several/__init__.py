"""Several indexes asked as one: their answers fused to one ranking."""
