"""The files that a snapshot is searched by: vectors and the postings of BM25, mapped into memory by who reads them."""
