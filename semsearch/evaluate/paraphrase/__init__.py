"""Groups of the same meaning told from vectors: White et al. 2015."""
