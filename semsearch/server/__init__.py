"""The HTTP server: the operations of an index as JSON over HTTP, with access control. An extra: semsearch[serve]."""
