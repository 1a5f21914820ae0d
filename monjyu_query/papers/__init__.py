"""Papers of a collection: names, labels, records and tables."""
