"""Entities and relationships (level 2): found in chunks, merged into a graph."""
