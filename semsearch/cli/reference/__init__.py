"""The reference of the command line, written from the code: `python -m semsearch.cli.reference > docs/reference.md`."""
