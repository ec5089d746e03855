"""The search page of the server: files for the browser, and their routes."""
