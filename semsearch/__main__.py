"""The command `semsearch`, and `python -m semsearch`."""

from semsearch.cli.main import main

if __name__ == "__main__":
    main()
