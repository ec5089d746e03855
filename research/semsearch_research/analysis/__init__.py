"""Why SIF and uSIF work: what weights do, what is removed, what the length of a vector does."""
