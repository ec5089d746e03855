"""What an index answers: hits, contexts, explanations, reports. Plain frozen data, and the `Searchable` protocol."""
