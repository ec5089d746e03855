"""Turn words into unit vectors: SIF, uSIF, frequencies, common components, out-of-vocabulary words."""
