"""What a classifier learns from fixed sentence vectors: the SIF and uSIF papers' supervised tables."""
