"""The bytes of a file before its format is known: their encoding, and what they are whatever the name says."""
