"""Office files and books, most of them zip archives of XML."""
