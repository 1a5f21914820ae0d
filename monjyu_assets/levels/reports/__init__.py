"""Reports of communities (level 3)."""
