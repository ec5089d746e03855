"""The operations of the server, declared and carried out: their parameters, functions and answers."""
