"""Turn words into unit vectors: SIF, uSIF, frequencies, common components, unknown words."""
