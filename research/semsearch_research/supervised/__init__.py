"""Learn tasks by a classifier on fixed sentence vectors: the SIF and uSIF papers' supervised tables."""
