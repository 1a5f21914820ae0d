"""Text: token counts, sentence boundaries, language."""
