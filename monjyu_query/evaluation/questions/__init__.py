"""Question sets made from a collection's own structure, to measure search on it."""
