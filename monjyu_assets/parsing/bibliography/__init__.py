"""Reference lists, their entries and citations: the home of bibliographic patterns."""
