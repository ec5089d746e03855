"""The command `semsearch`, and `python -m semsearch`."""

import gc

gc.set_threshold(
    100_000
)  # objects between two garbage collections: imported modules are no garbage (semsearch.cli.messages)


def main() -> None:
    """The console script. Ends the process; also by Ctrl-C while it still imports what a command needs."""
    try:
        from semsearch.cli.start import main as start

        start()
    except KeyboardInterrupt as interrupt:
        from semsearch.cli.messages import end_interrupted

        end_interrupted(interrupt)


if __name__ == "__main__":
    main()
