"""Creating, listing, inspecting and verifying indexes."""
