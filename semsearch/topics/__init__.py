"""Topics that are learned from a collection's own words: latent semantic analysis."""
