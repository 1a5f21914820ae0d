"""Drafts in Markdown, LaTeX, Word and plain text, and their bibliographies, to sentences with the works they cite."""
