"""What lies on pages: PDF, pictures, and the text in them by recognition."""
