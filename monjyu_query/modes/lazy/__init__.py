"""Lazy search: best-first and breadth-first search joined by iterative deepening under one relevance-test budget."""
