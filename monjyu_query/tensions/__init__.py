"""Tensions: what papers of a collection say against each other, both sides with their quotes."""
