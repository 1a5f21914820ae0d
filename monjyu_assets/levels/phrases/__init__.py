"""Noun phrases of chunks: cleaned windows, phrases of each language, acronyms merged by their definitions."""
