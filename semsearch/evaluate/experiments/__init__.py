"""The sub-commands of `semsearch evaluate`, a file each: options, the function that runs, and tables of results."""
