"""What a sync has to do: the roots, the parts of them, what has changed or moved."""
