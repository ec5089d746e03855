"""The read path: from a query to hits."""
