"""Who may ask the server, and what every answer forbids a browser."""
