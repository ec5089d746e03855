"""The command line: `semsearch`."""
