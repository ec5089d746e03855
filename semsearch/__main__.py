"""`python -m semsearch`: the same as the command `semsearch`."""

from semsearch.cli import main

if __name__ == "__main__":
    main()
