"""Words to unit vectors: SIF, uSIF, frequencies, common components, unknown words."""
