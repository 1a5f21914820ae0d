"""Which papers of a collection speak of something: every paper is looked at, not the best passages."""
