"""Read files as documents. Each format is one file here, imported when the first file of its kind is read."""
