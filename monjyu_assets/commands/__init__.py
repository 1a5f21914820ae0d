"""Commands of the writer."""
