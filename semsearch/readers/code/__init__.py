"""Source code, by its functions and comments."""
