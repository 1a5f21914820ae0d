"""A PDF's pages as characters: pypdfium2, links, outline, OCR."""
