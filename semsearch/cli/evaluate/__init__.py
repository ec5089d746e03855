"""`semsearch evaluate`: the experiments as commands, and what they print."""
