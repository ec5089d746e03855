"""The machine: files that are whole or not there, locks, threads, folders of the user."""
