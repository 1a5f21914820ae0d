"""A package held against itself, against the collection, and against an answer made anew."""
