"""The machine: durable files, locks, threads, folders of the user."""
