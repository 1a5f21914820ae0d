"""Images of pages, drawn by a process of their own."""
