"""What people correct of what was read of a paper: an input of its rows, kept beside the collection's record."""
