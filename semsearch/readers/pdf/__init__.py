"""PDF: pages to lines with their places, lines to paragraphs and headings."""
