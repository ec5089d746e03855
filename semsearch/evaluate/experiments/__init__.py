"""Each sub-command of `semsearch evaluate`, a file each: its options, what it runs, and the tables of what it found."""
