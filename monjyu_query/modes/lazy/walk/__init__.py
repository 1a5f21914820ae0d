"""The walk of lazy search: which chunks are tested next, under one budget."""
