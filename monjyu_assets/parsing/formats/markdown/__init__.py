"""Markdown with pandoc citations and front matter."""
