"""Documents that are zip archives of XML: Word, PowerPoint, Excel, OpenDocument, EPUB."""
