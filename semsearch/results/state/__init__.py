"""The state of an index and the reports of its work: status, syncs, problems, checkups, scans."""
