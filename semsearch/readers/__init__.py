"""Read files as documents. Each format is one file here."""
