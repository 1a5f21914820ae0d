"""The body: headings and their levels, sections, paragraphs, the reference list."""
