"""Commands that show what an index has and whether it is sound."""
