"""The routes, one module a topic."""
