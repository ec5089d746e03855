"""Files and texts on their way into an index: read, cut and tokenised in several processes, noted, spooled."""
