"""What a collection teaches about its own words: latent semantic analysis."""
