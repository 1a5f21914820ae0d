"""The router: what kind of question it is, and which mode that the collection's level serves answers it."""
