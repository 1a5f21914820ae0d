"""Checks that do not block: drift, graph, quality of parsing."""
