"""A package of a stranger, compared with the one that the collection gives."""
