"""A small learned ranker of sentences: how probably each is evidence for the question."""
