"""Published indexes: immutable snapshots in a shared place, which any number of readers fetch and follow."""
