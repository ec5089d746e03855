"""New vectors: fitting, embedding and merging the segments of a generation."""
