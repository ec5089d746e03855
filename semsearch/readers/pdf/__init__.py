"""PDF: pages to lines with their coordinates, lines to paragraphs and headings."""
