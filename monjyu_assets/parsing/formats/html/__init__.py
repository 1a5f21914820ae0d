"""HTML papers as arXiv, PubMed Central and publishers serve them."""
