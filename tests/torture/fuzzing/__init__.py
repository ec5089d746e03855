"""What tests/torture/fuzz.py fuzzes, and how: a target for each reader, text rule, file format and door."""
