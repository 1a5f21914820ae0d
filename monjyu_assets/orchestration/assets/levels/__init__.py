"""The assets of levels 1 to 4."""
