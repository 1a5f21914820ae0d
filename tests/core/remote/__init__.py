"""Collections in an object store."""
