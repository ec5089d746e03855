"""Word vectors are made: from counts, from neighbouring sentences, or from a teacher, which needs the extra `train`."""
