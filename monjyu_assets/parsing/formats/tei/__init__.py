"""TEI as GROBID writes it."""
