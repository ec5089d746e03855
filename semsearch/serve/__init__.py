"""The HTTP server: the operations of an index as JSON over HTTP, with their safety. An extra: semsearch[serve]."""
