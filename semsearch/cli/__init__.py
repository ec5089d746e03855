"""The command line. The only package that knows typer and rich."""
