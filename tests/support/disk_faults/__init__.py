"""Faults of disks and losses of power, made at every operation on files."""
