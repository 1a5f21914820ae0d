"""Tensions (level 4): pairs of claims about the same thing that do not go together."""
