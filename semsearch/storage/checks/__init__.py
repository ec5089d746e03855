"""Whether the rows and segments of an index are as semsearch writes them."""
