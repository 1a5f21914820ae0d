"""An answer as a document: Markdown, Word and PDF."""
