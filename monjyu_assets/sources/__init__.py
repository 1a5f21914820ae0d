"""The folders and files that a collection is indexed from."""
